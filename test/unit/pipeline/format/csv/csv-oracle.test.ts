/** Compares the reader of CSV with csv-parse, and with a set of files that others wrote. */
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../support/rounds.js'
import { readCsv } from '../../../../support/facts/read-csv.js'
import {
  MOST_CELLS,
  parsedRows,
  randomChaos,
  randomTable,
  type Written,
} from '../../../../support/random/csv-tables.js'
import { seeded } from '../../../../support/random/seeded.js'

const names = (count: number) => Array.from({ length: count }, (_, at) => `c${at}`)

/** Reads rows without a header, each with all of its cells, however many they are. Undefined: a row was refused, or its end is missing. */
async function read(text: string, { delimiter, quote }: Written, size: number): Promise<string[][] | undefined> {
  const columns = names(MOST_CELLS)
  const { rows, failure } = await readCsv(text, { size, delimiter, quote, columns, empty: 'null', encoding: 'utf-8' })
  if (failure !== undefined) return undefined
  const read: string[][] = []
  for (const row of rows) {
    if (row === '') continue
    if (!Array.isArray(row)) read.push(columns.map(name => (row as Record<string, string | null>)[name] ?? ''))
    else if (/ cells? for /.test(String(row[0]))) read.push((row[1] as string[]).map(utf8))
    else return undefined
  }
  return read.filter(row => row.some(cell => cell !== ''))
}

/** The cells of a refused row may not be UTF-8, so they are read as Latin-1. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString()
}

describe('csv-parse reads the same', () => {
  const seeds = Array.from({ length: rounds(20, 400) }, (_, seed) => seed)

  test.each(seeds)('tables, and text that may be broken (seed %d)', async seed => {
    const random = seeded(seed)
    for (let round = 0; round < 20; round += 1) {
      const form = { delimiter: random.pick([',', ';', '\t', '|']), quote: random.pick(['"', "'"]) }
      for (const make of [randomTable, randomChaos]) {
        const text = make(random, form)
        if (text === '') continue
        const strict = parsedRows(text, form, false)
        if (make === randomTable) expect(strict).toBeDefined()
        const size = 1 + random.below(text.length)
        const rows = await read(text, form, size)
        // To csv-parse, a quote inside a cell is wrong as well, unless it is told to relax. Then it takes other wrong quotes, too.
        const expected = strict ?? (rows === undefined ? undefined : parsedRows(text, form, true))
        expect({ text, form, rows }).toEqual({ text, form, rows: expected })
      }
    }
  })
})

describe('files that others wrote (csv-spectrum)', () => {
  const folder = dirname(createRequire(import.meta.url).resolve('csv-spectrum/package.json'))
  const files = readdirSync(join(folder, 'csvs'))

  test('are twelve', () => {
    expect(files).toHaveLength(12)
  })

  test.each(files)('%s', async file => {
    const documents: unknown = JSON.parse(readFileSync(join(folder, 'json', file.replace('csv', 'json')), 'utf8'))
    // A cell that is empty has no field.
    const expected = (Array.isArray(documents) ? (documents as object[]) : [documents as object]).map(row =>
      Object.fromEntries(Object.entries(row).filter(([name, cell]) => cell !== '' && !isOutdated(file, name))),
    )
    const { rows, failure } = await readCsv(readFileSync(join(folder, 'csvs', file)))
    expect(rows.filter(row => row !== '')).toMatchObject(expected)
    expect({ rows: rows.filter(row => row !== '').length, failure }).toEqual({
      rows: expected.length,
      failure: undefined,
    })
  })

  /** The number in this file is not the one in its JSON. */
  function isOutdated(file: string, name: string): boolean {
    return file === 'location_coordinates.csv' && name === 'Contact Phone Number'
  }
})
