import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), ...more })
}

const stored = () =>
  lab.control
    .ids(index)
    .map(id => JSON.parse(String(lab.control.source(index, id))) as Record<string, unknown>)
    .toSorted((a, b) => Number(a['id']) - Number(b['id']))

/** Rows of which some do not fit: every seventh has a cell less, and blank lines follow. */
const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => {
    const n = from + at
    return n % 7 === 3 ? `${n}\n\n` : `${n},"text, ${n}",${n}.50\n`
  }).join('')
const fitting = (count: number) => Array.from({ length: count }, (_, n) => n).filter(n => n % 7 !== 3)

describe('a CSV file', () => {
  test('is loaded by its name, and its rows that do not fit are dead letters', async () => {
    await writeFile(path('orders.csv'), `id,text,price\n${rows(100)}`)
    const found: string[] = []
    const onEvent = (event: IngestEvent) =>
      void (event.type === 'format' && found.push(`${event.name}: ${event.found}`))
    const receipt = await load(path('orders.csv'), { csv: { types: { id: 'long', price: 'double' } }, onEvent })
    expect(receipt).toMatchObject({ status: 'finished', read: 114, created: 86, rejected: 14, skipped: 14 })
    expect(found).toEqual([`${path('orders.csv')}: CSV with commas, UTF-8, 3 columns: id, text, price`])
    expect(stored().map(({ id }) => id)).toEqual(fitting(100))
    expect(stored()[0]).toEqual({ id: 0, text: 'text, 0', price: 0.5 })
    const [first = ''] = (await readFile(path('dead.ndjson'), 'utf8')).split('\n')
    expect(JSON.parse(first)).toMatchObject({
      type: 'DOCUMENT_ROW_INVALID',
      reason: 'not a row of the table: line 5 has 1 cell for 3 columns',
      line: '["3"]',
      origin: { document: 4 },
    })
  })

  test('is loaded by its name, also with gzip', async () => {
    await writeFile(path('orders.tsv.gz'), gzipSync('id\tname\r\n1\tChair\r\n'))
    expect(await load(path('orders.tsv.gz'))).toMatchObject({ created: 1 })
    expect(stored()).toEqual([{ id: '1', name: 'Chair' }])
  })

  test('is loaded from stdin if the format is named', async () => {
    const stdin = () => Readable.from([Buffer.from('id;na'), Buffer.from('me\n1;Chair\n')], { objectMode: false })
    expect(await codeOf(load('-', { stdin: stdin() }))).toMatch(/^INPUT_NOT_JSON/)
    expect(await load('-', { stdin: stdin(), format: 'csv' })).toMatchObject({ created: 1 })
    expect(stored()).toEqual([{ id: '1', name: 'Chair' }])
  })

  test('counts its rows that do not fit by column and reason. Only a dry run shows a cell', async () => {
    const bad = Array.from({ length: 40 }, (_, at) => `${at},x${at}\n${at},2,3\n${at}\n${at},2.5\n`).join('')
    await writeFile(path('a.csv'), `id,n\n${bad}1,"a\tvery ""long"" cell, longer than a reason shows of it"\nz,1\n`)
    const options: Partial<IngestOptions> = { csv: { types: { id: 'long', n: 'long' } } }
    const kinds = [
      { reason: 'column 2 (n): not of the type long', documents: 81, first: { document: 1 }, value: 'x0' },
      { reason: 'more cells than the 2 columns', documents: 40, first: { document: 2 } },
      { reason: 'fewer cells than the 2 columns', documents: 40, first: { document: 3 } },
      { reason: 'column 1 (id): not of the type long', documents: 1, first: { document: 162 }, value: 'z' },
    ]
    const seen: IngestEvent[] = []
    const dry = await load(path('a.csv'), { ...options, dryRun: true, onEvent: event => void seen.push(event) })
    expect(dry.rejections).toMatchObject(kinds)
    const documents = seen.flatMap(event => (event.type === 'rejected' ? event.documents : []))
    expect(documents.at(-2)?.reason).toMatch(/long, such as a\\tvery ""long"" cell, longer than a reas…$/)
    const real = await load(path('a.csv'), options)
    expect(real.rejections).toMatchObject(kinds.map(({ value: _, ...kind }) => kind))
    expect(JSON.stringify([real, await readFile(path('dead.ndjson'), 'utf8')])).not.toMatch(/such as|"value"/)
  })

  test.each([
    ['ID', 'no column is called ID, which --id-field names. Did you mean id?'],
    ['no', 'no column is called no, which --id-field names'],
    ['nmae', 'no column is called nmae, which --id-field names'],
    ['names', 'no column is called names, which --id-field names. Did you mean name?'],
    ['id,branch', 'no column is called branch, which --id-field names'],
    ['name.first', 'no column is called name.first, which --id-field names'],
  ])('without the column of its ids is refused at once: %s', async (idField, problem) => {
    await writeFile(path('a.csv'), `id,name\n${'1,Ann\n'.repeat(3000)}`)
    for (const ids of ['field', 'hash'] as const) {
      const failed: unknown = await load(path('a.csv'), { ids, idField }).catch((error: unknown) => error)
      if (!isSluiceError(failed)) throw failed
      expect(failed).toMatchObject({
        code: 'INPUT_MALFORMED',
        failure: { evidence: { problem: `is not valid csv: ${problem}` } },
      })
    }
    expect(stored()).toEqual([])
  })

  test('has its ids in columns that an edit or a function makes', async () => {
    await writeFile(path('a.csv'), 'No,name\n7,Ann\n')
    const edits = { rename: { No: 'id' } }
    expect(await load(path('a.csv'), { ids: 'field', idField: 'id', op: 'index', edits })).toMatchObject({ created: 1 })
    const transform = (row: Record<string, unknown>) => ({ ...row, id: 8 })
    await writeFile(path('b.csv'), 'No,name\n8,Bob\n')
    expect(await load(path('b.csv'), { ids: 'field', idField: 'id', op: 'index', transform })).toMatchObject({
      created: 1,
    })
    expect(lab.control.ids(index)).toEqual(['7', '8'])
  })

  test('has cells of JSON in columns of the type object, and rows with other cells are dead letters', async () => {
    const cells = [
      String.raw`"{""a"":1.50,""s"":""Zo\"" ë"",""big"":1234567890123456789}"`,
      '"[{},\r\n {""b"":[1]}]"',
      'NULL',
      '" {} "',
      '{"a":1',
      '5',
      '"[1,]"',
      '"{""a"":1} x"',
    ]
    await writeFile(path('a.csv'), `id,extra\n${cells.map((cell, at) => `${at},${cell}\n`).join('')}8,\n`)
    const csv = { types: { id: 'long', extra: 'object' } } as const
    expect(await load(path('a.csv'), { csv, ids: 'field', idField: 'id', op: 'index' })).toMatchObject({
      created: 5,
      rejections: [{ reason: 'column 2 (extra): not of the type object', documents: 4, first: { document: 5 } }],
    })
    expect(lab.control.ids(index).map(id => String(lab.control.source(index, id)))).toEqual([
      String.raw`{"id":0,"extra":{"a":1.50,"s":"Zo\" ë","big":1234567890123456789}}`,
      '{"id":1,"extra":[{},   {"b":[1]}]}',
      '{"id":2}',
      '{"id":3,"extra":{} }',
      '{"id":8}',
    ])
    const [dead = ''] = (await readFile(path('dead.ndjson'), 'utf8')).split('\n')
    expect(JSON.parse(dead)).toMatchObject({
      reason: 'not a row of the table: line 7, column 2 (extra): not of the type object',
      line: String.raw`["4","{\"a\":1"]`,
    })
  })

  test('of a German spreadsheet loads its numbers with separators and units, and says which columns stay text', async () => {
    const text = 'id;total;paid;share\r\n1;1.234,56;ja;12 %\r\n2;12,50;nein;7,5 %\r\n3;1.000;ja;3,25%\r\n'
    await writeFile(path('a.csv'), text)
    const found: string[] = []
    const onEvent = (event: IngestEvent) => void (event.type === 'format' && found.push(event.found))
    const csv = { inferTypes: true, types: { share: 'double', paid: 'boolean' } } as const
    const other = 'total stays text'
    const next = '. To load total as numbers, pass --types total:double'
    await load(path('a.csv'), { csv, dryRun: true, onEvent })
    expect(found[0]).toContain(`${other}, such as 1.234,56 and 12,50. `)
    expect(found[0]).toContain(next)
    await load(path('a.csv'), { csv, dryRun: false, onEvent })
    expect(found[1]).toContain(`${other}. `)
    expect(found[1]).toContain(next)
    const typed = { ...csv, types: { ...csv.types, total: 'double' } } as const
    await load(path('a.csv'), {
      csv: typed,
      again: true,
      onEvent,
      index: `${index}-typed`,
      ids: 'field',
      idField: 'id',
      op: 'index',
    })
    expect(found[2]).toMatch(/total are written as in 1\.234,5\b/)
    expect(lab.control.source(`${index}-typed`, '1')?.toString()).toBe(
      '{"id":1,"total":1234.56,"paid":true,"share":12}',
    )
  })

  test('of R loads into an index of numbers: NA is a missing value', async () => {
    await writeFile(path('r.csv'), '"","id","n","country"\n"1",1,NA,"NA"\n"2",2,0.5,"DE"\n"3",NA,7,NA\n')
    const found: string[] = []
    const onEvent = (event: IngestEvent) => void (event.type === 'format' && found.push(event.found))
    const more = { ids: 'field', idField: 'row', op: 'index', onEvent } as const
    expect(await load(path('r.csv'), { ...more, csv: { inferTypes: true } })).toMatchObject({ created: 3, rejected: 0 })
    expect(JSON.parse(String(lab.control.source(index, '1')))).toEqual({ row: 1, id: 1, country: 'NA' })
    expect(JSON.parse(String(lab.control.source(index, '3')))).toEqual({ row: 3, n: 7, country: 'NA' })
    expect(found[0]).toMatch(/ NA is a missing value in id, n$/)
  })

  test('whose header cannot be read stops the run, and the others are read', async () => {
    await writeFile(path('a.csv'), 'id,"id\n1,2\n')
    await writeFile(path('b.csv'), 'id\n1\n')
    expect(await codeOf(load([path('a.csv'), path('b.csv')]))).toMatch(/^INPUT_MALFORMED/)
    expect(stored()).toEqual([{ id: '1' }])
  })
})

describe('an interrupted load of CSV', () => {
  const interrupted = async (more: Partial<IngestOptions> = {}) => {
    const controller = new AbortController()
    const onEvent = (event: IngestEvent) => {
      if (event.type === 'progress' && event.counts.created >= 300) controller.abort('test')
    }
    const refused = load(path('orders.csv'), { ...more, signal: controller.signal, onEvent })
    const failed: unknown = await refused.then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(isSluiceError(failed) && failed.code).toBe('RUN_INTERRUPTED')
  }

  test('continues: every row is stored or rejected once', { tags: 'long' }, async () => {
    await writeFile(path('orders.csv'), `id,text,price\n${rows(2000)}`)
    await interrupted()
    const receipt = await load(path('orders.csv'))
    const ids = stored().map(({ id }) => Number(id))
    expect(ids).toEqual(fitting(2000))
    expect(receipt).toMatchObject({ status: 'finished', created: ids.length, rejected: 2000 - ids.length, read: 2286 })
    const letters = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(new Set(letters.map(letter => (JSON.parse(letter) as { line: string }).line)).size).toBe(letters.length)
    expect(letters).toHaveLength(2000 - ids.length)
  })

  test('does not continue with other options', async () => {
    await writeFile(path('orders.csv'), `id,text,price\n${rows(2000)}`)
    await interrupted()
    expect(await codeOf(load(path('orders.csv'), { csv: { inferTypes: true } }))).toMatch(/^RUN_OPTIONS_CHANGED/)
  })

  test.each(['\n', ''])(
    'of a file that has more rows now, only those are loaded (its last line ended with %j)',
    async end => {
      await writeFile(path('orders.csv'), `id\n1\n\n2${end}`)
      await load(path('orders.csv'))
      expect(await load(path('orders.csv'))).toMatchObject({ read: 0 })
      await appendFile(path('orders.csv'), `${end === '' ? '\n' : ''}3\n`)
      expect(await load(path('orders.csv'))).toMatchObject({ read: 1, created: 1 })
      expect(stored()).toEqual([{ id: '1' }, { id: '2' }, { id: '3' }])
    },
  )
})
