/** What `sluice look` and `sluice infer` show of a CSV file or a workbook is what a load with a proposed mapping makes of it. */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { CsvOptions } from '../../../src/pipeline/format/formats.js'
import { connect, inferMapping, ingest } from '../../../src/index.js'
import { lookAtInputs } from '../../../src/ingest.js'
import { workbookOf } from '../../support/facts/workbooks.js'
import { index, lab, otherIndex, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

interface Case {
  readonly content: string | Buffer
  readonly csv: CsvOptions
}

/** Cells of one column each. */
const columns: readonly (readonly string[])[] = [
  ['1.5', 'NA', '2.5'],
  ['2026-01-01', 'NA', '2026-01-03'],
  ['1', 'NULL', '3'],
  ['true', 'N/A', 'false'],
  ['1', '', '3'],
  ['1', 'NA', '', 'NULL', '1e5'],
  ['NA', 'NULL', 'NA'],
  ['DE', 'NA', 'FR'],
  ['1', 'NA', 'many'],
  ['1', '2026-01-01', 'true'],
  ['31.12.2026', '', 'NA'],
  ['03/04/2026', 'NA', '05/06/2026'],
  ['1,5', 'NA', '12,25'],
  ['1.234,50', '', '12,00'],
  ['1.234', 'NA', '5.678'],
  ['ja', 'nein', 'NA'],
  ['0042', 'NA', '0043'],
  ['12345678901234567890', 'NULL', '1'],
  ['{"a":1}', 'NA', '[1,2]'],
  [' 7 ', ' NA ', ' 8 '],
  ['€ 1,00', 'NA', '€ 2,00'],
  ['-', '1', '2'],
]

const optionsOf: readonly CsvOptions[] = [
  {},
  { inferTypes: true },
  { inferTypes: false },
  { nullValues: ['-', 'NA'] },
  { nullValues: [] },
  { types: { x: 'keyword' } },
  { empty: 'null' },
]

const quoted = (cell: string) => (cell === '' ? '' : `"${cell.replaceAll('"', '""')}"`)

/** Returns a file of a column with each delimiter, and a workbook, whose cells are text. */
function filesOf(cells: readonly string[]): (string | Buffer)[] {
  const tables = [',', ';'].map(delimiter =>
    ['id', 'x'].join(delimiter).concat('\n', ...cells.map((cell, at) => `${at}${delimiter}${quoted(cell)}\n`)),
  )
  return [
    ...tables,
    workbookOf({ sheets: [{ name: 'a', rows: [['id', 'x'], ...cells.map((cell, at) => [at, cell])] }] }),
  ]
}

/** Each file with each options would take long. */
function casesOf(cells: readonly string[], number: number): Case[] {
  const others = optionsOf.slice(1)
  return filesOf(cells).flatMap((content, at) =>
    [{}, others[(number + at) % others.length] ?? {}].map(csv => ({ content, csv })),
  )
}

test('look, infer and a load with a mapping to infer show and make the same of a file', async () => {
  const [first, second] = columns
  await compare([...casesOf(first ?? [], 0), ...casesOf(second ?? [], 1)])
})

test.each(columns.slice(2).map((cells, at) => ({ cells, number: at + 2 })))(
  'so they do of a column of $cells',
  { tags: 'long' },
  async ({ cells, number }) => {
    await compare(casesOf(cells, number))
  },
)

async function compare(all: readonly Case[]): Promise<void> {
  await using connected = await connect(way())
  for (const [at, { content, csv }] of all.entries()) {
    otherIndex()
    const source = path(`${at}.${typeof content === 'string' ? 'csv' : 'xlsx'}`)
    await writeFile(source, content)
    const { inputs, mapping: looked } = await lookAtInputs({ source, csv })
    const which = `${JSON.stringify(typeof content === 'string' ? content : inputs[0]?.documents)} ${JSON.stringify(csv)}`
    const inferred = await inferMapping({ source, csv })
    const before = { look: looked.mappings, infer: inferred.mappings }
    const said: string[] = []
    const receipt = await ingest({
      ...smallBatches(),
      source,
      csv,
      mapping: 'infer',
      onEvent: event => void (event.type === 'format' && said.push(event.found)),
    })
    const answer = await connected.client.indices.getMapping({ index })
    const made = answer[index]?.mappings
    expect(before, which).toEqual({ look: made, infer: made })
    expect(receipt.rejected, which).toBe(0)
    const stored = lab.control.ids(index).map(id => JSON.parse(String(lab.control.source(index, id))) as unknown)
    const [input] = inputs
    expect(input?.documents.map(document => JSON.parse(document) as unknown)).toEqual(stored.slice(0, 3))
    // A load names no cell.
    expect(input?.found.replaceAll(/, such as .*?(?=\.|$)/g, '')).toContain(said[0]?.split('. ')[0])
  }
}

test('a load as sluice infer says takes its mapping: it reads the words for missing values in the same way', async () => {
  const source = path('r3.csv')
  await writeFile(source, '"","x","d","c"\n"1",1.5,"2026-01-01",NA\n"2",NA,NULL,NA\n"3",2.5,"2026-01-03","DE"\n')
  const { mappings, notes } = await inferMapping({ source })
  expect(mappings['properties']).toMatchObject({ x: { type: 'double' }, d: { type: 'date' }, c: { type: 'keyword' } })
  expect(notes).toEqual([
    'x, d have NA, NULL in place of missing values. Pass --infer-types to the load too. Without it, the index rejects these rows',
  ])
  expect((await inferMapping({ source, csv: { inferTypes: true } })).notes).toEqual([])
  const load = async (csv: CsvOptions) => await ingest({ ...smallBatches(), source, csv, mapping: { mappings } })
  expect(await load({ inferTypes: true })).toMatchObject({ created: 3, rejected: 0 })
  otherIndex()
  expect(await load({})).toMatchObject({ created: 2, rejected: 1 })
})
