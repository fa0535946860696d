import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect, ingest } from '../../src/index.js'
import { tarOf, zipOf } from '../support/facts/archives.js'
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
}
