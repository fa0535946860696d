import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { lookAtInputs } from '../../../src/ingest.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { workbookOf } from '../../support/facts/workbooks.js'

async function look(files: Readonly<Record<string, string | Buffer>>, ...args: string[]) {
  await using work = await folder()
  for (const [name, text] of Object.entries(files)) await writeFile(join(work.path, name), text)
  return await sluice(['look', ...args], { cwd: work.path, env: {} })
}

test('a table is shown as a load would read and store it, with its mapping and the command that loads it', async () => {
  const text = 'id;total;paid\n1;1.234,56 €;ja\n2;12,50 €;nein\n3;forty;ja\n4;fifty;ja\n5;7,00 €\n6;8,00 €;ja\n'
  const args = ['Orders 1.csv', '--infer-types', '--types', 'total:double,paid:boolean', '--sample', '100']
  const { code, stdout } = await look({ 'Orders 1.csv': text }, ...args)
  expect(stdout.split('\n')).toEqual([
    'Orders 1.csv',
    '  CSV with semicolons, UTF-8, 3 columns: id, total, paid. Numbers in total are written as in 1.234,5 €',
    '',
    '  The first of 6 documents, as a load would store them',
    '    {"id":1,"total":1234.56,"paid":true}',
    '    {"id":2,"total":12.50,"paid":false}',
    '    {"id":6,"total":8.00,"paid":true}',
    '',
    '  A load would reject',
    '    2 documents: column 2 (total): not of the type double. First: line 4, column 2 (total): not of the type double, such as forty',
    '    1 document: 2 cells for 3 columns. First: line 6 has 2 cells for 3 columns',
    '',
    'Mapping',
    '',
    '  {',
    '    "mappings": {',
    '      "properties": {',
    ...(['id', 'total', 'paid'] as const).flatMap((name, at) => [
      `        "${name}": {`,
      `          "type": "${['long', 'double', 'boolean'][at]}"`,
      `        }${at < 2 ? ',' : ''}`,
    ]),
    '      }',
    '    }',
    '  }',
    '',
    'To load it',
    '',
    "  sluice ingest 'Orders 1.csv' --index orders-1 --infer-types --types total:double,paid:boolean --mapping infer",
    '',
  ])
  expect(code).toBe(1)
})

test('lines that are no documents are counted, and only a sample is read', async () => {
  const { code, stdout } = await look(
    { 'a.ndjson': '{"n":1}\nno\n[1]\n{"n":2}\n{"n":3}\n' },
    'a.ndjson',
    '--sample',
    '4',
  )
  expect(stdout).toContain(
    'a.ndjson\n  NDJSON: each line is a document\n\n  The first of the first 4 documents, as a load would store them\n    {"n":1}\n    {"n":2}\n',
  )
  expect(stdout).toContain('    2 documents: not a JSON object. First: line 2: not a JSON object\n')
  expect(code).toBe(1)
})

test('several files and formats are shown, and all is well', async () => {
  const files = { 'a.json': '[{"n":1.50}]' }
  const { code, stdout } = await look(files, 'a.json')
  expect(stdout).toContain('a.json\n  JSON\n\n  The first of 1 document, as a load would store them\n    {"n":1.50}\n')
  expect(code).toBe(0)
  expect(stdout).toContain('\nTo load it\n\n  sluice ingest a.json --index a --mapping infer\n')
  const both = await look({ ...files, 'b.json': '{"n":2}' }, '*.json')
  expect(both.stdout).toContain('b.json\n')
  expect(both.stdout).toContain("\nTo load them\n\n  sluice ingest '*.json' --index documents --mapping infer\n")
})

test.each([
  ['a.csv', 'a,b\n1,2\n"3,4\n', 'never closed. Sluice read every row before it'],
  ['a.ndjson.gz', gzipSync('{"a":1}\n').subarray(0, -8), 'Sluice read every complete document'],
])('%s that was cut off: nothing is called loaded, because nothing is', async (name, content, message) => {
  const { code, stderr } = await look({ [name]: content }, name)
  expect(code).toBe(3)
  expect(stderr).toContain(message)
  expect(stderr).not.toMatch(/Sluice loaded/)
})

test('a table that titles or unusual names hide gets the advice to name its format', async () => {
  const text = '\uFEFF\n;;;\nDatum;Kunde;Betrag (€);bezahlt\n01.02.2026;A;1,5;ja\n;;;\n02.02.2026;B;2,5;nein\n'
  const { code, stderr } = await look({ 'excel.txt': text }, 'excel.txt')
  expect(code).toBe(3)
  const [, first] = /fix: +(.*)/.exec(stderr) ?? []
  expect(first).toBe('Load it as CSV: `sluice ingest FILE --format csv --index INDEX`.')
  const named = await look({ 'excel.txt': text }, 'excel.txt', '--format', 'csv')
  expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('"Kunde":"A","Betrag (€)":"1,5"') as string })
})

test('what is no input is refused as in a load', async () => {
  const log = await look({ 'a.log': 'GET /\nGET /a\n' }, 'a.log')
  expect(log).toMatchObject({ code: 3, stderr: expect.stringContaining('--format text') as string })
})

test('stdin is read once', async () => {
  const args = ['look', '-', '--format', 'csv', '--sample', '2']
  const { code, stdout } = await sluice(args, { input: 'id,total\n1,1.5\n2,2.5\n3,3\n' })
  expect(stdout).toContain('-\n  CSV with commas, UTF-8, 2 columns: id, total\n\n  The first of the first 2 documents')
  expect(stdout).toContain('    {"id":1,"total":1.5}\n')
  expect(stdout).toContain('"type": "double"')
  expect(stdout).toContain('\n  sluice ingest - --index documents --format csv --infer-types\n')
  expect(code).toBe(0)
})

test('only the beginning of a stream is read', async () => {
  let sent = 0
  const endless = Readable.from(
    (function* () {
      for (; ; sent += 1) yield Buffer.from(`{"n":${sent}}\n`)
    })(),
    { objectMode: false },
  )
  const { inputs, mapping } = await lookAtInputs({ source: '-', stdin: endless, sample: 5 })
  expect(inputs).toMatchObject([{ name: '-', read: 5, isWhole: false, documents: ['{"n":0}', '{"n":1}', '{"n":2}'] }])
  expect(mapping).toMatchObject({ documents: 5, mappings: { properties: { n: { type: 'long' } } } })
  expect(sent).toBeLessThan(100_000)
})

test('lines of text are shown as the documents that they become', async () => {
  const { code, stdout } = await look({ 'a.log': 'GET / "x"\r\n\n{"n":1}\n' }, 'a.log', '--format', 'text')
  expect(stdout).toContain(
    'a.log\n  text: each line is a document with the field message\n\n  The first of 2 documents',
  )
  expect(stdout).toContain('    {"message":"GET / \\"x\\""}\n    {"message":"{\\"n\\":1}"}\n')
  expect(stdout).toContain('"message": {')
  expect(code).toBe(0)
})

test('of a URL, only the beginning is fetched', async () => {
  await using server = await ObjectServer.start()
  const rows = 1_000_000
  server.put('a.csv', `n,text\n${'1,some words that take their place\n'.repeat(rows)}`)
  const secret = server.url('a.csv').replace('//', '//me:my-password@')
  const { code, stdout, stderr } = await look({}, secret, '--sample', '10')
  expect(stdout + stderr).not.toContain('my-password')
  expect(stdout).toContain('    {"n":1,"text":"some words that take their place"}\n')
  expect(stdout).toContain(`\n  sluice ingest ${server.url('a.csv')} --index a --mapping infer\n`)
  expect(code).toBe(0)
  expect(server.ranges('a.csv')).toEqual(['bytes=0-255', 'bytes=0-4194303'])
  const gone = await look({}, server.url('b.csv'))
  expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining('INPUT_NOT_FOUND') as string })
})

test('a reason is said once', async () => {
  const hits = '{"_index":"a","_id":"1","_source":{"n":1}}\n{"_index":"a","_id":"2"}\n{"_index":"a","_id":"3"}\n'
  const { code, stdout } = await look({ 'dump.json': hits }, 'dump.json')
  const [, rejected = ''] = stdout.split('  A load would reject\n')
  expect(rejected.split('\n')[0]).toMatch(/^ {4}2 documents: (?!.*First)/)
  expect(code).toBe(1)
})

test('a workbook is shown with its sheets, and its rows with a reason', async () => {
  const book = workbookOf({
    sheets: [
      {
        name: 'Orders',
        rows: [
          ['order', 'day'],
          [1, { number: 46_328, style: 'date' }],
          [2, { number: -1, style: 'date' }],
          [3, { number: -1, style: 'date' }],
        ],
      },
      { name: 'Codes', rows: [['zip'], ['007']], state: 'hidden' },
    ],
  })
  const { code, stdout } = await look({ 'a.xlsx': book }, 'a.xlsx')
  expect(stdout).toContain(
    '  Excel workbook, sheet Orders, 2 columns: order, day. Sluice does not read its other sheets: Codes (hidden)\n',
  )
  expect(stdout).toContain('    {"order":1,"day":"2026-11-02"}\n')
  const why = 'column 2 (day): it holds a date that is not in the years 1900 to 9999'
  expect(stdout).toContain(`    2 documents: ${why}. First: row 3, ${why}\n`)
  expect(stdout).toContain('"type": "date"')
  expect(code).toBe(1)
  const codes = await look({ 'a.xlsx': book }, 'a.xlsx', '--sheet', 'Codes')
  expect(codes).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('sluice ingest a.xlsx --index a --sheet Codes --mapping infer\n') as string,
  })
})
