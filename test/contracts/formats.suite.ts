import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, ingest, type IngestOptions } from '../../src/index.js'
import { tarOf, zipOf } from '../support/facts/archives.js'
import { workbookOf } from '../support/facts/workbooks.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/parquet/${name}`, import.meta.url))

/** The same documents in each format, with values that are easily rounded. */
export function describeFormats(world: () => World): void {
  describe('the same documents, whatever holds them', () => {
    let folder: string
    let text: string
    let documents: readonly string[]
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'formats-'))
      text = await readFile(fixture('types.ndjson'), 'utf8')
      documents = text.split('\n').slice(0, -1)
    })
    afterAll(async () => await rm(folder, { recursive: true }))

    const parts = () => [
      { name: 'a/one.ndjson', data: `${documents.slice(0, 5).join('\n')}\n` },
      { name: 'two.json', data: `[${documents.slice(5, 7).join(',')}]` },
      { name: '__MACOSX/._two.json', data: '\0\u0005\u0016\u0007' },
      { name: 'three.ndjson.gz', data: gzipSync(documents.slice(7).join('\n')) },
    ]
    const files: Readonly<Record<string, () => string | Uint8Array>> = {
      'a.ndjson': () => text,
      'a.json': () => `[${documents.join(',\n')}]`,
      'wide.json': () => Buffer.from(`\ufeff[${documents.join(',')}]`, 'utf16le'),
      'wide.ndjson': () => Buffer.from(text, 'utf16le').swap16(),
      'one-line.ndjson': () => documents.join(''),
      'places.geojson': () => `{"type":"FeatureCollection","features":[${documents.join(',')}]}`,
      'a.ndjson.gz': () => gzipSync(text),
      'a.ndjson.br': () => brotliCompressSync(text),
      'a.zip': () => zipOf(parts()),
      'a.tar': () => tarOf(parts()),
      'a.tgz': () => gzipSync(tarOf(parts())),
    }

    test.each([...Object.keys(files), 'types.parquet'])('%s', async name => {
      const make = files[name]
      const path = make === undefined ? fixture(name) : join(folder, name)
      if (make !== undefined) await writeFile(path, make())
      const index = newIndex()
      const { deadLetters: _, ...way } = loadThrough(world(), world().proxy.http)
      const options = { ...way, preflightConnections: 1 }
      {
        // No type of Elasticsearch holds all of these numbers. The document keeps them.
        await using direct = await connect(options)
        await direct.client.indices.create({ index, mappings: { dynamic: false } })
      }
      const receipt = await ingest({
        ...options,
        stateDir: undefined,
        source: path,
        index,
        ids: 'field',
        idField: 'id',
      })
      expect(receipt).toMatchObject({ status: 'finished', created: documents.length, rejected: 0 })
      const stored = await Promise.all(documents.map(async (_, at) => await world().source(index, String(at + 1))))
      expect(stored).toEqual(documents)
    })
  })

  describeFirstTries(world)
}

/** Files as people have them, with the options that they need. */
export function describeFirstTries(world: () => World): void {
  describe('files as people have them', () => {
    let folder: string
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'first-'))
    })
    afterAll(async () => await rm(folder, { recursive: true }))

    test.each(Object.entries(people))('%s', async (name, { bytes, path = name, documents, rejected = 0, ...more }) => {
      const file = name.replace(/, .*/, '')
      await writeFile(join(folder, file), bytes())
      const { deadLetters: _, ...way } = loadThrough(world(), world().proxy.http)
      const index = newIndex()
      const given = { ...way, preflightConnections: 1, stateDir: undefined, index }
      const receipt = await ingest({
        ...given,
        source: join(folder, path.replace(/, .*/, '')),
        ids: 'field',
        idField: 'id',
        ...more,
      })
      expect(receipt).toMatchObject({ status: 'finished', created: documents.length, rejected })
      const stored = await Promise.all(
        documents.map(async line => await world().source(index, String(idOf(line, more.idField ?? 'id')))),
      )
      expect(stored).toEqual(documents)
    })
  })
}

interface OfPeople extends Partial<IngestOptions> {
  bytes(): string | Uint8Array
  /** The path in the folder, if that is not only the name. */
  readonly path?: string
  readonly documents: readonly string[]
  /** Rows that are no documents. */
  readonly rejected?: number
}

const orders = () =>
  workbookOf({
    sheets: [
      { name: 'Cover', rows: [['nothing to load']], state: 'hidden' },
      {
        name: 'Orders',
        rows: [
          ['Orders of 2026'],
          null,
          ['id', 'customer', 'day', 'at', 'total', 'paid', null, 'share'],
          [
            1,
            'Müller & Söhne',
            { number: 46_328, style: 'date' },
            { number: 46_328.354166666664, style: 'moment' },
            1249.5,
            true,
            null,
            'NA',
          ],
          null,
          [
            2,
            'a "b"\nc',
            { number: 46_329, style: 'date' },
            null,
            { xml: '><f>1/10</f><v>0.10000000000000001</v></c>' },
            false,
            null,
            0.25,
          ],
        ],
      },
      {
        name: 'Codes',
        rows: [
          ['id', 'zip'],
          ['a', '007'],
        ],
      },
    ],
  })
const tables = () => [
  { name: 'data/one.csv', data: 'id,n\n1,x\n' },
  { name: 'two.csv', data: 'id,n\n2,y\n' },
  { name: 'three.json', data: '[{"id":3}]' },
]
const rows = ['{"id":"1","n":"x"}', '{"id":"2","n":"y"}']

/** What others have, with the options that it needs. Behind a comma stands what tells two rows of one file apart. */
const people: Readonly<Record<string, OfPeople>> = {
  'orders.xlsx': {
    bytes: orders,
    documents: [
      '{"id":1,"customer":"Müller & Söhne","day":"2026-11-02","at":"2026-11-02T08:30:00","total":1249.5,"paid":true}',
      '{"id":2,"customer":"a \\"b\\"\\nc","day":"2026-11-03","total":0.1,"paid":false,"share":0.25}',
    ],
  },
  'orders.xlsx, another sheet': { bytes: orders, sheet: 'Codes', documents: ['{"id":"a","zip":"007"}'] },
  'a.zip': { bytes: () => zipOf(tables()), path: 'a.zip/*.csv', documents: rows },
  'a.tar.gz': { bytes: () => gzipSync(tarOf(tables())), path: 'a.tar.gz/data/*.csv', documents: rows.slice(0, 1) },
  'titles.csv': {
    bytes: () => 'Report;\nof;2026\nid;total\n1;1.234,50\n2;-\n',
    csv: { skipLines: 2, types: { total: 'double' }, nullValues: ['-'] },
    documents: ['{"id":"1","total":1234.50}', '{"id":"2"}'],
  },
  'app.log': {
    bytes: () => 'GET /a 200\n\nGET /b "x"\r\n',
    format: 'text',
    idField: 'message',
    documents: ['{"message":"GET /a 200"}', '{"message":"GET /b \\"x\\""}'],
  },
  'nan.parquet': {
    bytes: () => readFileSync(fixture('odd.parquet')),
    csv: { nan: 'null' },
    // In its last row, a map has two entries of one name.
    rejected: 1,
    maxRejected: 1,
    documents: ['{"id":1,"n":0.5,"m":{"a":1}}', '{"id":2,"n":null,"m":{}}', '{"id":3,"n":null,"m":{}}'],
  },
  'one-line.json': { bytes: () => '{"id":1,"a":1.0}{"id":2}', documents: ['{"id":1,"a":1.0}', '{"id":2}'] },
  'wide.json': {
    bytes: () => Buffer.from('\ufeff[{"id":1,"a":"ä"},{"id":2}]', 'utf16le'),
    documents: ['{"id":1,"a":"ä"}', '{"id":2}'],
  },
  'places.geojson': {
    bytes: () =>
      '{"type":"FeatureCollection","features":[{"id":1,"type":"Feature","geometry":{"type":"Point","coordinates":[8.5,47.4]}},{"id":2,"type":"Feature","geometry":null}]}',
    documents: [
      '{"id":1,"type":"Feature","geometry":{"type":"Point","coordinates":[8.5,47.4]}}',
      '{"id":2,"type":"Feature","geometry":null}',
    ],
  },
}

function idOf(line: string, field: string): unknown {
  return (JSON.parse(line) as Record<string, unknown>)[field]
}
