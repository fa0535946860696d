import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type InferOptions, inferMapping } from '../../../../src/index.js'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'infer-'))
})
afterAll(async () => await rm(folder, { recursive: true }))

const file = async (name: string, content: string | Buffer) => {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}
const lines = (...documents: readonly (object | string)[]) =>
  documents.map(one => `${typeof one === 'string' ? one : JSON.stringify(one)}\n`).join('')
const infer = async (text: string, more: Partial<InferOptions> = {}) =>
  await inferMapping({ source: Buffer.from(text), ...more })
const typesOf = async (text: string) => (await infer(text)).mappings['properties']

describe('a proposed mapping', () => {
  test('has the type of each field, as the numbers are written', async () => {
    const text = lines(
      '{"n":1,"price":1.0,"big":9223372036854775807,"huge":18446744073709551616,"on":true,"tags":["a","b"]}',
      '{"n":-2,"price":2,"exp":1e3,"nothing":null,"none":"","o":{"a":{"b":1}},"list":[{"c":1},{"c":2}],"d.e":"x"}',
    )
    expect(await infer(text)).toMatchObject({ conflicts: [], empty: ['nothing', 'none'], documents: 2 })
    expect(await typesOf(text)).toEqual({
      n: { type: 'long' },
      price: { type: 'double' },
      big: { type: 'long' },
      huge: { type: 'double' },
      on: { type: 'boolean' },
      tags: { type: 'keyword' },
      exp: { type: 'double' },
      o: { properties: { a: { properties: { b: { type: 'long' } } } } },
      list: { properties: { c: { type: 'long' } } },
      d: { properties: { e: { type: 'keyword' } } },
    })
  })

  test('tells keywords from text, and plain points from objects', async () => {
    const sentence = 'a much longer text that somebody wrote to be read'
    const text = lines(
      { code: '0042', note: sentence, at: { lat: 52.5, lon: 13.4 }, not: { lat: 52, lon: 13, name: 'a' } },
      { code: '7', note: `${sentence}.`, at: { lat: 0, lon: -1 }, not: { lat: 91, lon: 0 } },
    )
    expect(await typesOf(text)).toMatchObject({
      code: { type: 'keyword' },
      note: { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } },
      at: { type: 'geo_point' },
    })
  })

  test.each([
    [['2026-01-02', '2026-01-02T03:04:05.678Z', '2026-01-02T03:04+05:30'], { type: 'date' }],
    [['2026-01-02 03:04:05'], { type: 'date', format: 'yyyy-MM-dd HH:mm:ss' }],
    [['31.12.2026'], { type: 'date', format: 'dd.MM.yyyy' }],
    [['01/02/2026', '31/12/2026'], { type: 'date', format: 'dd/MM/yyyy' }],
    [['01/02/2026', '12/31/2026'], { type: 'date', format: 'MM/dd/yyyy' }],
    [['01/02/2026', '03/04/2026'], { type: 'keyword' }],
    [['2026-01-02', '31.12.2026'], { type: 'date', format: 'strict_date_optional_time||dd.MM.yyyy' }],
    [
      ['2026-01-02 03:04:05', '2026-01-02 03:04:05.123456', '2026-01-03 03:04:05'],
      { type: 'date', format: 'yyyy-MM-dd HH:mm:ss||yyyy-MM-dd HH:mm:ss.SSSSSS' },
    ],
    [
      ['2026-01-02 03:04:05.1+00', '2026-01-02 03:04:05+00'],
      { type: 'date', format: 'yyyy-MM-dd HH:mm:ss.SX||yyyy-MM-dd HH:mm:ssX' },
    ],
    [['2026-01-02 03:04:05.1234567 +0200'], { type: 'date', format: 'yyyy-MM-dd HH:mm:ss.SSSSSSS Z' }],
    [['2026-01-02 03:04:05+02:00', '2026-01-02 03:04:05+01:00'], { type: 'date', format: 'yyyy-MM-dd HH:mm:ssXXX' }],
    [['2026-01-02 03:04:05 UTC'], { type: 'date', format: "yyyy-MM-dd HH:mm:ss 'UTC'" }],
    [['2026-02-30 03:04:05'], { type: 'keyword' }],
    [['24.12.2026 08:30'], { type: 'date', format: 'dd.MM.yyyy HH:mm' }],
    [['2026-12-24 08:30'], { type: 'date', format: 'yyyy-MM-dd HH:mm' }],
    [['01/02/2026 08:30', '12/31/2026 08:30'], { type: 'date', format: 'MM/dd/yyyy HH:mm' }],
    [['28/Jun/2019:08:30:39 +0200'], { type: 'date', format: 'dd/MMM/yyyy:HH:mm:ss Z' }],
    [['Fri, 28 Jun 2019 08:30:39 +0200'], { type: 'date', format: 'EEE, dd MMM yyyy HH:mm:ss Z' }],
    [['Jan 1 2000', 'Feb 28 2001'], { type: 'date', format: 'MMM d yyyy' }],
    [['1/2/2026', '12/24/2026'], { type: 'date', format: 'M/d/yyyy' }],
    [['1.2.2026 8:30', '24.12.2026 18:30'], { type: 'date', format: 'd.M.yyyy H:mm' }],
    [['05-Sep-2019'], { type: 'date', format: 'dd-MMM-yyyy' }],
    [['Thu, 05 Sep 2019 08:30:01 GMT'], { type: 'date', format: "EEE, dd MMM yyyy HH:mm:ss 'GMT'" }],
    [['2026-01', '2026-12'], { type: 'date' }],
    [['0815-12'], { type: 'keyword' }],
    [['2026-02-30'], { type: 'keyword' }],
    [['24.12.2026 25:00'], { type: 'keyword' }],
    [['1/2/2026', '3/4/2026'], { type: 'keyword' }],
    [['32/Jun/2019:08:30:39 +0200'], { type: 'keyword' }],
    [['2026-13-02'], { type: 'keyword' }],
  ])('finds the formats of dates: %j', async (dates, type) => {
    expect(await typesOf(lines(...dates.map(at => ({ at }))))).toEqual({ at: type })
  })

  test.each([
    [[{ type: 'Point', coordinates: [13.4, 52.5] }], { type: 'geo_point' }],
    [
      [
        { type: 'Point', coordinates: [13, 52] },
        { lat: 52, lon: 13 },
      ],
      { type: 'geo_point' },
    ],
    [
      [
        { type: 'Point', coordinates: [13, 52] },
        {
          type: 'LineString',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      ],
      { type: 'geo_shape' },
    ],
    [
      [{ type: 'GeometryCollection', geometries: [{ type: 'Polygon', arcs: [[0]] }] }],
      {
        properties: {
          type: { type: 'keyword' },
          geometries: { properties: { type: { type: 'keyword' }, arcs: { type: 'long' } } },
        },
      },
    ],
    [[{ type: 'GeometryCollection', geometries: [] }, null], { type: 'geo_shape' }],
    [
      [{ type: 'Point', coordinates: [200, 52] }],
      { properties: { type: { type: 'keyword' }, coordinates: { type: 'long' } } },
    ],
  ])('finds points and shapes of GeoJSON: %j', async (values, type) => {
    expect(await typesOf(lines(...values.map(at => ({ at }))))).toEqual({ at: type })
  })

  test('keeps names with dots beside names that they begin with', async () => {
    const found = await infer(lines({ t0: 1, 't0.5': 2.5, 'a.b': 'x' }, { t0: 2, 't0.5': 3 }))
    expect(found.mappings).toEqual({
      subobjects: false,
      properties: { t0: { type: 'long' }, 't0.5': { type: 'double' }, 'a.b': { type: 'keyword' } },
    })
    expect(found.conflicts).toEqual([])
    expect((await infer(lines({ '.id': 1, 'a..b': 2 }))).mappings).toEqual({
      subobjects: false,
      properties: { '.id': { type: 'long' }, 'a..b': { type: 'long' } },
    })
    expect(await typesOf(lines({ 'Acid.Conc.': 1 }))).toEqual({ Acid: { properties: { Conc: { type: 'long' } } } })
  })

  test.each([
    ['created_at', [1_735_689_600_000, 1_735_689_600_001], { type: 'date', format: 'epoch_millis' }],
    ['timestamp', [1_735_689_600], { type: 'date', format: 'epoch_second' }],
    ['updatedAt', [1_735_689_600_000], { type: 'date', format: 'epoch_millis' }],
    ['time', [1_735_689_600, 5], { type: 'long' }],
    ['date', [20_260_102], { type: 'long' }],
    ['amount', [1_735_689_600_000], { type: 'long' }],
  ])('numbers of %s may be times since 1970: %j', async (name, values, type) => {
    expect(await typesOf(lines(...values.map(value => ({ [name]: value }))))).toEqual({ [name]: type })
  })

  test('says in which fields of dates the day and the month are not clear', async () => {
    const { notes } = await infer(lines({ at: '01/02/2026' }, { at: '03/04/2026' }))
    expect(notes).toEqual([
      expect.stringMatching(/^no date shows whether the day or the month comes first.*: at\. /) as string,
    ])
  })

  test('names conflicts with counts and the first line of each, most frequent first', async () => {
    const path = await file(
      'a.ndjson',
      lines({ t: 1, o: 1, d: '2026-01-01' }, { t: 2.5, o: { a: 1 }, d: 'n/a' }, { t: 'x', o: 2 }, 'no', '[1]'),
    )
    const { mappings, conflicts, unreadable } = await inferMapping({ source: path })
    expect(mappings).toEqual({ properties: { t: { type: 'keyword' }, o: { type: 'long' }, d: { type: 'keyword' } } })
    const at = (line: number) => `${path}, line ${line}`
    expect(conflicts).toEqual([
      {
        field: 't',
        kinds: [1, 2, 3].map(line => ({
          kind: ['long', 'double', 'text'][line - 1],
          documents: 1,
          first: at(line),
        })),
        proposed: 'keyword',
        takesAll: true,
      },
      {
        field: 'o',
        kinds: [
          { kind: 'long', documents: 2, first: at(1) },
          { kind: 'object', documents: 1, first: at(2) },
        ],
        proposed: 'long',
        takesAll: false,
      },
      {
        field: 'd',
        kinds: [
          { kind: 'date', documents: 1, first: at(1) },
          { kind: 'text', documents: 1, first: at(2) },
        ],
        proposed: 'keyword',
        takesAll: true,
      },
    ])
    expect(unreadable).toEqual({ lines: 2, first: at(4) })
  })

  test.each([
    ['a.csv', 'a,b\n1,2\n3\n4,5\n', '1 row cannot be loaded, first at a.csv, document 2'],
    ['a.csv', 'a,b\n1\n2\n4,5\n', '2 rows cannot be loaded, first at a.csv, document 1'],
    ['a.json', '[{"a":1},2]', '1 document is not a JSON object, first at a.json, document 2'],
    ['a.ndjson', '{"a":1}\n2\n[3]\n', '2 lines are not JSON objects, first at a.ndjson, line 2'],
  ])('names what gives no document as %s calls it', async (name, text, note) => {
    const path = await file(name, text)
    const { notes } = await inferMapping({ source: path })
    expect(notes).toEqual([note.replace(name, path)])
  })

  test('reads every format, many files and as many documents as it is told', async () => {
    const rows = 'code,amount,at\n0042,1.5,2026-01-01\n0043,2,2026-01-02\n'
    const expected = { code: { type: 'keyword' }, amount: { type: 'double' }, at: { type: 'date' } }
    for (const path of [await file('a.csv', rows), await file('b.csv.gz', gzipSync(rows))])
      expect((await inferMapping({ source: path })).mappings).toEqual({ properties: expected })
    const json = await file('a.json', '[{"a":1},{"a":2}]')
    expect(await inferMapping({ source: json })).toMatchObject({
      documents: 2,
      mappings: { properties: { a: { type: 'long' } } },
    })
    const dump = '{"index":{"_id":"1"}}\n{"b":true}\n{"delete":{"_id":"2"}}\n'
    expect(await infer(dump, { format: 'bulk' })).toMatchObject({
      documents: 1,
      mappings: { properties: { b: { type: 'boolean' } } },
    })
    expect(await inferMapping({ source: join(folder, '*.csv*'), sample: 1 })).toMatchObject({ documents: 2, inputs: 2 })
    expect(await infer('')).toMatchObject({ documents: 0, mappings: { properties: {} } })
  })

  test('stays small with hostile names and very many fields', async () => {
    const names = Object.fromEntries(Array.from({ length: 12_000 }, (_, n) => [`f${n}`, 1]))
    const found = await infer(lines(names, { __proto__x: 1, constructor: 2, '..': 3, 'a..b': 4 }))
    expect(found.isCut).toBe(true)
    expect(Object.keys(found.mappings['properties'] as object)).toHaveLength(10_000)
    const odd = await infer('{"__proto__":{"x":1},"constructor":2,"..":3,"a..b":4,"":5}\n')
    expect(odd.mappings['properties']).toHaveProperty('constructor', { type: 'long' })
  })
})

test('a URL is refused without a word of it', async () => {
  const refused = await inferMapping({ source: 'https://u:pw@files.example/x.ndjson?X-Amz-Signature=SECRET' }).catch(
    String,
  )
  expect(refused).toMatch(/^SluiceError: OPTION_INVALID: source: is a URL|source: is a URL/)
  expect(refused).not.toMatch(/pw|SECRET|example/)
})
