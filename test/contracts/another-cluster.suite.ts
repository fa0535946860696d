import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FromOptions, type IngestOptions, connect, ingest } from '../../src/index.js'
import { codeOf } from '../support/lab/run-world.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

type Document = readonly [id: string, source: string]

/** Indices of another cluster as inputs. The one cluster is both of them, over the same proxy. */
export function describeAnotherCluster(world: () => World): void {
  describe('an index of another cluster', () => {
    let folder: string
    let index: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'move-'))
      index = newIndex('moved')
      await request('PUT', `/${index}-old`, { settings: { number_of_shards: 3, number_of_replicas: 0 } })
    })
    afterEach(async () => await rm(folder, { recursive: true }))

    const way = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
    const from = (): FromOptions => {
      const { target, proxy } = way()
      return { url: target.url, apiKey: target.apiKey, ca: target.ca, proxy: proxy.url }
    }
    const move = async (more: Partial<IngestOptions> = {}) =>
      await ingest({
        ...way(),
        source: `elasticsearch:${index}-old`,
        from: from(),
        index,
        stateDir: join(folder, 'state'),
        deadLetters: join(folder, 'dead.ndjson'),
        ...more,
      })
    /** Sends a request past Sluice. */
    async function request(method: string, path: string, body?: object | string): Promise<unknown> {
      await using direct = await connect(way())
      const sent = typeof body === 'string' ? { bulkBody: body } : body === undefined ? {} : { body }
      const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
      const headers = { 'content-type': type, accept: 'application/json' }
      return await direct.client.transport.request({ method, path, ...sent }, { headers })
    }
    /** Stores documents, byte for byte. */
    const store = async (documents: readonly Document[], more: object = {}) => {
      const lines = documents.map(([_id, source]) => `${JSON.stringify({ index: { _id, ...more } })}\n${source}\n`)
      const answer = await request('POST', `/${index}-old/_bulk?refresh=true`, lines.join(''))
      expect(answer).toMatchObject({ errors: false })
    }
    const many = (count: number, first = 1): Document[] =>
      Array.from({ length: count }, (_, at) => [`id-${first + at}`, `{"n":${first + at}}`] as const)

    test('keeps ids, routing, digits and the order of keys', async () => {
      const odd = '{"z":1.0,"a":1234567890123456789,"t":"a\\nb\\u00e9"}'
      await store([['é 1', odd]], { routing: 'r 1' })
      await store([['b', '{ "n" : 2 }']])
      const receipt = await move()
      expect(receipt).toMatchObject({ read: 2, created: 2, rejected: 0, ids: { given: 2, own: 0 } })
      expect(receipt.from).toMatchObject({ url: from().url })
      expect([await world().source(index, 'é 1'), await world().source(index, 'b')]).toEqual([odd, '{"n":2}'])
      const found = await request('GET', `/${index}/_doc/${encodeURIComponent('é 1')}?routing=r%201`)
      expect(found).toMatchObject({ found: true })
    })

    test('continues after the last document that was settled', async () => {
      await store(many(3000))
      const stop = new AbortController()
      const first = move({
        batchDocs: 100,
        concurrency: 1,
        signal: stop.signal,
        onEvent: event => {
          if (event.type === 'progress' && event.counts.created >= 1200) stop.abort('enough')
        },
      })
      expect(await codeOf(first)).toMatch(/^RUN_INTERRUPTED/)
      const stored = await world().count(index)
      expect(stored).toBeLessThan(3000)
      const receipt = await move({ batchDocs: 100 })
      expect(receipt).toMatchObject({ created: 3000, rejected: 0, duplicate: 0 })
      expect(receipt.thisProcess.read).toBe(3000 - stored)
      expect(await world().count(index)).toBe(3000)
    })

    test('is read again only where it was written since', async () => {
      await store(many(700))
      expect(await move()).toMatchObject({ created: 700 })
      await store(many(5, 701))
      await store([['id-3', '{"n":-3}']])
      expect(await move({ op: 'index' })).toMatchObject({ read: 6, created: 5, updated: 1 })
      expect(await world().source(index, 'id-3')).toBe('{"n":-3}')
      expect(await move({ op: 'index' })).toMatchObject({ read: 0 })
    })

    test('may be chosen from by a query', async () => {
      await store(many(10))
      const query = { query: { range: { n: { gte: 8 } } } }
      expect(await move({ from: { ...from(), query } })).toMatchObject({ created: 3 })
    })

    test('that cannot be read is refused before anything is sent', async () => {
      const source = `elasticsearch:${index}-none`
      expect(await codeOf(move({ source }))).toMatch(/^INPUT_NOT_FOUND/)
      expect(await codeOf(move({ from: undefined }))).toMatch(/^OPTION_INVALID: .*from/)
      expect(await codeOf(move({ format: 'csv' }))).toMatch(/^OPTION_INVALID: .*format/)
      expect(await codeOf(move({ from: { ...from(), apiKey: 'd3Jvbmc6d3Jvbmc=' } }))).toMatch(/^CLUSTER_AUTH_REJECTED/)
      expect(await world().count(index)).toBe(0)
    })
  })
}
