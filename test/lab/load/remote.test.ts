import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { ingest, type IngestOptions, type Receipt } from '../../../src/index.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { index, lab, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()
let server: ObjectServer
beforeAll(async () => {
  server = await ObjectServer.start()
})
afterAll(async () => await server[Symbol.asyncDispose]())
beforeEach(() => {
  server.objects.clear()
  server.asked = []
  server.fault = undefined
  server.hasRanges = true
})

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), ...more })
}

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `{"n":${from + n}}\n`).join('')

const stored = () =>
  lab.control
    .ids(index)
    .map(id => (JSON.parse(String(lab.control.source(index, id))) as { n: number }).n)
    .toSorted((a, b) => a - b)

describe('an input on a web server', () => {
  test('is loaded, directly, and a second time nothing is read', async () => {
    server.put('a.ndjson', lines(0, 100))
    const receipt = await load(server.url('a.ndjson'))
    expect(receipt).toMatchObject({ status: 'finished', created: 100 })
    expect(stored()).toEqual(Array.from({ length: 100 }, (_, n) => n))
    server.asked = []
    expect(await load(server.url('a.ndjson'))).toMatchObject({ created: 0, inputs: [{ alreadyLoaded: true }] })
    expect(server.ranges('a.ndjson')).toEqual(['bytes=0-255'])
  })

  test('is decompressed', async () => {
    server.put('a.ndjson.gz', gzipSync(lines(0, 100)))
    expect(await load(server.url('a.ndjson.gz'))).toMatchObject({ created: 100 })
  })

  test('is a Parquet file with small parts', async () => {
    const fixture = async (name: string) =>
      await readFile(new URL(`../../../fixtures/parquet/${name}`, import.meta.url))
    server.put('few.parquet', await fixture('none.parquet'))
    const documents = (await fixture('few.ndjson')).toString().split('\n').slice(0, -1)
    expect(await load(server.url('few.parquet'))).toMatchObject({ created: documents.length, rejected: 0 })
    const sources = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
    expect(sources.toSorted()).toEqual(documents.toSorted())
  })
})
