import { workbookOf } from '../../support/facts/workbooks.js'
import { chmod, mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Receipt } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { zipOf } from '../../support/facts/archives.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Ended, type Surroundings, folder, shell } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

/** `sluice ingest` on the lab, in a folder with these files. */
async function ingest(
  args: readonly string[],
  files: Readonly<Record<string, string | Uint8Array>> = {},
  more: Surroundings = {},
): Promise<Ended & { receipt: Receipt | undefined; deadLetters: Record<string, unknown>[] }> {
  await using place = await folder()
  for (const [name, content] of Object.entries(files)) await writeFile(join(place.path, name), content)
  await mkdir(join(place.path, 'folder'))
  const ended = await sluice(['ingest', '--index', 'bad-input', '--json', ...args], {
    cwd: place.path,
    ...more,
    // A file of another test may have the same content.
    env: { ...lab.env, SLUICE_STATE_DIR: join(place.path, 'state'), ...more.env },
  })
  const dead = (await readdir(place.path)).find(name => name.startsWith('sluice-dead-letters'))
  const lines = dead === undefined ? [] : (await readFile(join(place.path, dead), 'utf8')).trimEnd().split('\n')
  const deadLetters = lines.map(line => JSON.parse(line) as Record<string, unknown>)
  const answer = JSON.parse(ended.stdout) as Receipt
  return { ...ended, receipt: 'read' in answer ? answer : undefined, deadLetters }
}

describe('inputs', () => {
  const refused: readonly [string, readonly string[], number, RegExp][] = [
    ['a file that does not exist', ['missing.ndjson'], 2, /no such input: missing\.ndjson/],
    ['a glob that matches nothing', ['*.csv'], 2, /no such input: \*\.csv/],
    ['a directory', ['folder'], 3, /cannot read folder: it is a directory\. .*folder\/\*/],
    ['a missing one among others, before anything is loaded', ['good.ndjson', 'missing.ndjson'], 2, /missing\.ndjson/],
  ]
  test.each(refused)('%s', async (_, args, code, message) => {
    const before = lab.control.count('bad-input')
    const ended = await ingest(args, { 'good.ndjson': '{"n":1}\n' })
    expect(ended.code).toBe(code)
    expect(ended.stderr).toMatch(message)
    expect(lab.control.count('bad-input')).toBe(before)
  })

  test('an empty file has no documents, and that is fine', async () => {
    const { code, receipt } = await ingest(['empty.ndjson'], { 'empty.ndjson': '' })
    expect(code).toBe(0)
    expect(receipt).toMatchObject({ status: 'finished', read: 0, requests: 0 })
  })

  test('of a truncated gzip file what was whole is loaded, and it never counts as finished', async () => {
    const lines = Array.from({ length: 5000 }, (_, n) => `{"n":${n},"v":"${(n * 7919).toString(36)}"}\n`).join('')
    const whole = gzipSync(lines)
    const { code, receipt, stderr } = await ingest(['cut.ndjson.gz', 'good.ndjson'], {
      'cut.ndjson.gz': whole.subarray(0, whole.length / 2),
      'good.ndjson': '{"n":1}\n',
    })
    expect(code).toBe(3)
    expect(receipt).toMatchObject({ status: 'failed', rejected: 0, failure: { code: 'INPUT_TRUNCATED' } })
    expect(receipt?.inputs).toMatchObject([
      { name: 'cut.ndjson.gz', status: 'failed' },
      { name: 'good.ndjson', status: 'finished', read: 1 },
    ])
    const decoded = Number(receipt?.failure?.evidence['bytes'])
    const wholeLines = lines.slice(0, decoded).split('\n').length - 1
    expect(receipt?.created).toBe(wholeLines + 1)
    expect(stderr).toContain('truncated')
  })

  test('of a JSON document that breaks off the whole elements are loaded', async () => {
    const { code, receipt } = await ingest(['cut.json'], { 'cut.json': '[{"n":1},{"n":2},{"n":' })
    expect(code).toBe(3)
    expect(receipt).toMatchObject({ created: 2, rejected: 0, failure: { code: 'INPUT_TRUNCATED' } })
  })

  test('text in UTF-16 is read, and a line of it that is no document is a dead letter', async () => {
    const { code, receipt, stderr, deadLetters } = await ingest(['wide.ndjson'], {
      'wide.ndjson': Buffer.from('\ufeff{"n":1}\r\n[2]\r\n{"n":3}\r\n', 'utf16le'),
    })
    expect(code).toBe(1)
    expect(receipt).toMatchObject({ read: 3, created: 2, rejected: 1 })
    expect(stderr).toContain('wide.ndjson is read as UTF-16LE text')
    expect(deadLetters).toMatchObject([{ origin: { document: 2 }, type: 'DOCUMENT_NOT_JSON', line: '[2]' }])
  })

  test('several objects in one line are documents. Behind a usual line, the reason says how to load them', async () => {
    const one = await ingest(['one.ndjson'], { 'one.ndjson': '{"n":1}{"n":2}\n{"n":3}\n' })
    expect(one).toMatchObject({ code: 0, receipt: { read: 3, created: 3 } })
    const later = await ingest(['two.ndjson'], { 'two.ndjson': '{"n":4}\n{"n":5}{"n":6}\n' })
    expect(later).toMatchObject({ code: 1, receipt: { read: 2, created: 1, rejected: 1 } })
    const reason = 'not one JSON object: it holds several JSON objects, and --format json loads each of them'
    expect(later.deadLetters).toMatchObject([{ line: '{"n":5}{"n":6}', reason }])
  })

  test('one document with one large array says how to load what is in it, and GeoJSON becomes its features', async () => {
    const places = JSON.stringify({ type: 'FeatureCollection', features: [{ n: 1 }, { n: 2 }, { n: 3 }] })
    const one = await ingest(['places.json'], { 'places.json': places })
    expect(one).toMatchObject({ code: 0, receipt: { created: 1 } })
    expect(one.stderr).toContain(
      'places.json is read as one document, which holds an array `features` of 3 objects. `--pick features` loads each of them',
    )
    const picked = await ingest(['places.json', '--pick', 'features'], { 'places.json': places })
    expect(picked).toMatchObject({ code: 0, receipt: { created: 3 } })
    const named = await ingest(['places.geojson'], { 'places.geojson': places })
    expect(named).toMatchObject({ code: 0, receipt: { created: 3 } })
    expect(named.stderr).toContain('places.geojson is read as GeoJSON: each of its features is a document')
    const whole = await ingest(['places.geojson', '--format', 'json'], { 'places.geojson': places })
    expect(whole).toMatchObject({ code: 0, receipt: { created: 1 } })
  })

  test('an archive with papers beside the data is loaded, and files of it can be chosen', async () => {
    const files = {
      'export.zip': zipOf([
        { name: 'README.pdf', data: '%PDF-1.4 \u0001\n' },
        { name: 'Readme.txt', data: 'To read, first\nthen, to read\n' },
        { name: 'a.csv', data: 'n\n1\n2\n' },
        { name: 'b.json', data: '[{"n":3}]' },
      ]),
    }
    const all = await ingest(['export.zip'], files)
    expect(all).toMatchObject({ code: 0, receipt: { created: 3, status: 'finished' } })
    expect(all.stderr).toContain('Sluice skipped files without documents (2: README.pdf, Readme.txt)')
    expect(await ingest(['export.zip', '--members', '*.csv'], files)).toMatchObject({
      code: 0,
      receipt: { created: 2 },
    })
    const inside = await ingest(['export.zip/*.csv'], files)
    expect(inside).toMatchObject({ code: 0, receipt: { created: 2, inputs: [{ name: 'export.zip' }] } })
    const twice = await ingest(['export.zip/*.csv', '--members', '*.csv'], files)
    expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('by members, not both') as string })
    const listed = await ingest(['--files-from', 'list'], { ...files, list: 'export.zip/a.csv\n' })
    expect(listed.code).toBe(3)
    expect(listed.stderr).toContain("Pass export.zip with --members 'a.csv'")
  })

  test('a workbook is loaded, a sheet that it does not have is refused, and old ones are named', async () => {
    const book = workbookOf({
      sheets: [
        { name: 'Orders', rows: [['order'], [1], [2], [{ xml: '><f>1+1</f></c>' }]] },
        { name: 'Codes', rows: [['code'], ['007']] },
      ],
    })
    const all = await ingest(['a.xlsx'], { 'a.xlsx': book })
    expect(all).toMatchObject({ code: 1, receipt: { created: 2, rejected: 1, status: 'finished' } })
    expect(all.stderr).toContain(
      'Excel workbook, sheet Orders, 1 column: order. Sluice does not read its other sheets: Codes',
    )
    expect(await ingest(['a.xlsx', '--sheet', 'codes'], { 'a.xlsx': book })).toMatchObject({
      code: 0,
      receipt: { created: 1 },
    })
    const wrong = await ingest(['a.xlsx', '--sheet', 'Code'], { 'a.xlsx': book })
    expect(wrong).toMatchObject({ code: 3, receipt: { read: 0, failure: { code: 'INPUT_UNREADABLE' } } })
    expect(wrong.stderr).toContain('no sheet is called Code. Its sheets: Orders, Codes. Did you mean Codes?')
    expect(wrong.stderr).toContain('Correct --sheet')
    const old = Buffer.concat([
      Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      Buffer.alloc(500),
      Buffer.from('Workbook', 'utf16le'),
    ])
    const refused = await ingest(['a.xls'], { 'a.xls': old })
    expect(refused).toMatchObject({ code: 3, receipt: { failure: { code: 'INPUT_NOT_JSON' } } })
    expect(refused.stderr).toContain('looks like an old Excel workbook (.xls)')
    expect(refused.stderr).toContain('save it as a workbook (.xlsx)')
  })

  test('a compressed file of no bytes is an empty file', async () => {
    for (const name of ['none.ndjson.gz', 'none.csv.br', 'none.json.zst'])
      expect(await ingest([name], { [name]: '' })).toMatchObject({ code: 0, receipt: { read: 0, status: 'finished' } })
  })

  test('JSON with comments is refused, with the command that converts it', async () => {
    const { code, receipt, stderr } = await ingest(['a.json'], { 'a.json': '{\n  // one\n  "n": 1\n}\n' })
    expect(code).toBe(3)
    expect(receipt).toMatchObject({ read: 0, requests: 0, failure: { code: 'INPUT_NOT_JSON' } })
    expect(stderr).toContain('a.json looks like JSON with comments: line 2 has a comment')
    expect(stderr).toContain('npx json5 FILE | sluice ingest - --index INDEX')
  })

  test('of a file that is no NDJSON nothing is sent, and the fix is named', { tags: 'long' }, async () => {
    const csv = `id,name\n${Array.from({ length: 2000 }, (_, at) => `${at},Chair`).join('\n')}\n`
    const files = { 'orders.dat': csv, 'good.ndjson': '{"n":1}\n' }
    const first = await ingest(['orders.dat', 'good.ndjson'], files)
    expect(first.code).toBe(3)
    expect(first.receipt).toMatchObject({ read: 0, requests: 0, failure: { code: 'INPUT_NOT_JSON' } })
    expect(first.stderr).toContain('orders.dat looks like CSV: none of its first 1,000 lines is JSON')
    expect(first.stderr).toContain('sluice ingest FILE --format csv --index INDEX')
    const later = await ingest(['good.ndjson', 'orders.dat'], files)
    expect(later.code).toBe(3)
    expect(later.receipt).toMatchObject({ read: 1, created: 1, failure: { code: 'INPUT_NOT_JSON' } })
    expect(later.receipt?.inputs).toMatchObject([{ status: 'finished' }, { name: 'orders.dat', status: 'failed' }])
  })

  test('a CSV file is read as its options say, and what was found is said', { tags: 'long' }, async () => {
    const files = { 'orders.csv': Buffer.from('Größe|Preis\n1|2,5\n', 'latin1') }
    const found = await ingest(['orders.csv'], files)
    expect(found).toMatchObject({ code: 0, receipt: { created: 1 } })
    expect(found.stderr).toContain('orders.csv is read as CSV with pipes, Windows-1252, 2 columns: Größe, Preis')
    const named = await ingest(
      [
        'orders.csv',
        '--columns',
        'size,price',
        '--skip-header',
        '--delimiter',
        'pipe',
        '--quote',
        'none',
        '--types',
        'size:long',
        '--empty',
        'null',
      ],
      files,
    )
    expect(named).toMatchObject({ code: 0, receipt: { created: 1 } })
    expect(named.stderr).toContain('CSV with pipes, no quotes, Windows-1252, 2 columns: size, price')
  })

  test.each([
    [['--delimiter', 'ab'], "--delimiter: 'ab' is not one ASCII character"],
    [['--types', 'price'], 'is not a list of columns with their types'],
    [['--types', 'price:money'], "gives column 'price' an unknown type"],
    [['--columns', 'a,,b'], 'has a column without a name'],
    [['--skip-header'], '--skip-header: needs --columns'],
    [['--quote', ',', '--delimiter', ','], '--quote: is also --delimiter'],
    [['--format', 'json', '--delimiter', ','], '--delimiter: works only with CSV, but the format is json'],
    [['--format', 'csv', '--pick', 'a'], 'the format is csv'],
  ])('options for CSV that cannot be: %j', async (args, problem) => {
    const { code, stderr } = await ingest(['orders.csv', ...args], { 'orders.csv': 'a\n1\n' })
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(problem) as string })
  })

  const bulk = { 'body.ndjson': '{"index":{"_id":"1"}}\n{"n":1}\n' }
  test('action lines of a bulk request are not loaded as documents', async () => {
    const { code, receipt } = await ingest(['body.ndjson'], bulk)
    expect({ code, receipt }).toMatchObject({ code: 0, receipt: { read: 1, created: 1 } })
  })

  test.each([
    ['--ids', 'field', '--id-field', 'n'],
    ['--index', 'by-{n}'],
  ])('action lines beside options that give them no meaning: %s %s', async (...args) => {
    const { code, receipt, stderr } = await ingest(['body.ndjson', ...args], bulk)
    expect(code).toBe(3)
    expect(receipt).toMatchObject({ read: 0, requests: 0, failure: { code: 'INPUT_NOT_JSON' } })
    expect(stderr).toContain('Load its actions with their ids: `sluice ingest FILE --index INDEX --ids run`')
  })

  test('a JSON document on several lines is one document', async () => {
    const { code, receipt } = await ingest(['one.json'], {
      'one.json': JSON.stringify({ nested: { a: [1, 2] } }, null, 2),
    })
    expect({ code, created: receipt?.created }).toEqual({ code: 0, created: 1 })
  })
})

describe('lines', () => {
  test('that are not UTF-8, hold NUL, or are arrays or numbers are kept with their place', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"n":1}\r\n'),
      Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d, 0x0a]),
      Buffer.from('{"n":"\0"}\n\0\n[1,2]\n42\n"text"\n{"n":1}{"n":2}\n{"n":3}'),
    ])
    const { code, receipt, deadLetters } = await ingest(['bad.ndjson'], { 'bad.ndjson': bytes })
    expect(code).toBe(1)
    expect(receipt).toMatchObject({ read: 9, created: 2, rejected: 7, skipped: 0 })
    expect(
      deadLetters.map(({ line, base64, origin }) => [line ?? { base64 }, (origin as { line: number }).line]),
    ).toEqual([
      [{ base64: 'eyJhIjoi/yJ9' }, 2],
      ['{"n":"\0"}', 3],
      ['\0', 4],
      ['[1,2]', 5],
      ['42', 6],
      ['"text"', 7],
      ['{"n":1}{"n":2}', 8],
    ])
  })

  test('whose id is over 512 bytes, or missing, are rejected alone', async () => {
    const lines = [{ id: 'x'.repeat(513) }, { id: 'x'.repeat(512) }, { other: 1 }, { id: null }, { id: '' }, { id: 7 }]
    const { code, receipt, deadLetters } = await ingest(['ids.ndjson', '--ids', 'field', '--id-field', 'id'], {
      'ids.ndjson': lines.map(line => JSON.stringify(line)).join('\n'),
    })
    expect(code).toBe(1)
    expect(receipt).toMatchObject({ read: 6, created: 2, rejected: 4 })
    expect(deadLetters.map(({ type, document }) => [type, document])).toEqual([
      ['DOCUMENT_ID_INVALID', lines[0]],
      ['DOCUMENT_ID_INVALID', lines[2]],
      ['DOCUMENT_ID_INVALID', lines[3]],
      ['DOCUMENT_ID_INVALID', lines[4]],
    ])
  })
})

describe('options', () => {
  const secret = 's3cret'
  const wrong: readonly [string, Readonly<Record<string, string>>, string, RegExp][] = [
    [
      'a proxy URL without a port',
      { STATIC_PROXY_URL: `http://u:${secret}@localhost` },
      'PROXY_URL_INVALID',
      /no port/,
    ],
    [
      'a password that is not encoded',
      { STATIC_PROXY_URL: `http://u:p@${secret}@localhost:9293` },
      'PROXY_URL_INVALID',
      /%40/,
    ],
    ['a wrong scheme', { STATIC_PROXY_URL: `ftp://u:${secret}@localhost:9293` }, 'PROXY_URL_INVALID', /scheme/],
    ['port 1080 on http', { STATIC_PROXY_URL: `http://u:${secret}@localhost:1080` }, 'PROXY_URL_INVALID', /SOCKS5/],
    ['port 9293 on socks5', { STATIC_PROXY_URL: `socks5://u:${secret}@localhost:9293` }, 'PROXY_URL_INVALID', /HTTP/],
    [
      'a cluster URL without a scheme',
      { ELASTICSEARCH_URL: 'localhost:9243' },
      'OPTION_INVALID',
      /https:\/\/localhost:9243/,
    ],
    ['an index name that Elasticsearch refuses', { SLUICE_INDEX: 'Logs' }, 'INDEX_NAME_INVALID', /upper-case/],
    ['NO_PROXY over the cluster', { NO_PROXY: 'localhost' }, 'PROXY_NOT_USED', /NO_PROXY/],
  ]
  test.each(wrong)('%s', async (_, env, code, message) => {
    const index = env['SLUICE_INDEX'] ?? 'bad-input'
    const ended = await sluice(['ingest', '-', '--index', index], {
      env: { ...lab.env, ...env },
      input: '{}\n',
    })
    expect(ended.code).toBe(code === 'PROXY_NOT_USED' ? 3 : 2)
    expect(ended.stderr).toContain(code)
    expect(ended.stderr).toMatch(message)
    expect(ended.stdout + ended.stderr).not.toContain(secret)
  })

  test('a cluster URL that is the proxy’s', async () => {
    const { host } = new URL(lab.line.proxy.http)
    const { code, stderr } = await ingest(['-'], {}, { env: { ELASTICSEARCH_URL: `https://${host}` }, input: '{}' })
    expect([code, stderr]).toEqual([2, expect.stringContaining('CLUSTER_URL_IS_PROXY')])
  })

  test('missing credentials', async () => {
    const { code, stderr } = await ingest(['-'], {}, { env: { ELASTICSEARCH_API_KEY: '' }, input: '{}' })
    expect([code, stderr]).toEqual([3, expect.stringContaining('CLUSTER_AUTH_REJECTED')])
  })
})

describe('a folder that takes no files', () => {
  const root = process.getuid?.() === 0
  const limited = (mount: string) =>
    `unshare -m sh -c 'mount -t tmpfs -o ${mount} none . && cd "$PWD" && $SLUICE ingest - --index limits --json'`

  test('that is read-only stops the run before it begins', async () => {
    await using place = await folder()
    // Permission bits do not bind root; a read-only mount does.
    if (!root) await chmod(place.path, 0o555)
    const line = root ? limited('ro') : '$SLUICE ingest - --index limits --json'
    const ended = await shell(line, { cwd: place.path, env: lab.env, input: '{"n":1}\n' })
    if (!root) await chmod(place.path, 0o755)
    expect(ended.stderr).toMatch(/cannot write the dead letters .*(read-only|permission denied)/)
    expect(ended.code).toBe(3)
    expect(lab.control.count('limits')).toBe(0)
  })

  test(
    'on a full disk stops the run, and what could not be written down counts as unsent',
    { tags: 'long' },
    async () => {
      await using place = await folder()
      const lines = Array.from({ length: 3000 }, (_, n) => `{"n":${n}}\nno JSON ${'x'.repeat(100)}\n`).join('')
      const line = root ? limited('size=64k') : '$SLUICE ingest - --index limits --json --dead-letters /dev/full'
      const ended = await shell(line, { cwd: place.path, env: lab.env, input: lines })
      expect(ended.code).toBe(3)
      const receipt = JSON.parse(ended.stdout) as Receipt
      expect(receipt).toMatchObject({ failure: { code: 'DEAD_LETTERS_UNWRITABLE' }, rejected: 0 })
      expect(receipt.created + receipt.unsent).toBe(receipt.read)
      expect(receipt.unsent).toBeGreaterThanOrEqual(3000)
      expect(lab.control.count('limits')).toBe(receipt.created)
    },
  )
})
