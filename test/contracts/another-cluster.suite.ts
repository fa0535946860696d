import { beforeEach, describe, expect, test } from 'vitest'
import { codeOf } from '../support/lab/run-world.js'
import { many, moving } from './moving.js'
import type { World } from './world.js'

/** Indices of another cluster as inputs. The one cluster is both of them, over the same proxy. */
export function describeAnotherCluster(world: () => World): void {
  describe('an index of another cluster', () => {
    const { way, from, request, index, old, make, move, store } = moving(world)
    beforeEach(async () => {
      await make({ settings: { number_of_shards: 3, number_of_replicas: 0 } })
    })

    test('keeps ids, routing, digits and the order of keys', async () => {
      const odd = '{"z":1.0,"a":1234567890123456789,"t":"a\\nb\\u00e9"}'
      await store([['é 1', odd]], { routing: 'r 1' })
      await store([['b', '{ "n" : 2 }']])
      const receipt = await move()
      expect(receipt).toMatchObject({ read: 2, created: 2, rejected: 0, ids: { given: 2, own: 0 } })
      expect(receipt.from).toMatchObject({ url: from().url })
      expect([await world().source(index(), 'é 1'), await world().source(index(), 'b')]).toEqual([odd, '{"n":2}'])
      const found = await request('GET', `/${index()}/_doc/${encodeURIComponent('é 1')}?routing=r%201`)
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
      const stored = await world().count(index())
      expect(stored).toBeLessThan(3000)
      const receipt = await move({ batchDocs: 100 })
      expect(receipt).toMatchObject({ created: 3000, rejected: 0, duplicate: 0 })
      expect(receipt.thisProcess.read).toBe(3000 - stored)
      expect(await world().count(index())).toBe(3000)
    })

    test('is read again only where it was written since', async () => {
      await store(many(700))
      expect(await move()).toMatchObject({ created: 700 })
      await store(many(5, 701))
      await store([['id-3', '{"n":-3}']])
      expect(await move({ op: 'index' })).toMatchObject({ read: 6, created: 5, updated: 1 })
      expect(await world().source(index(), 'id-3')).toBe('{"n":-3}')
      expect(await move({ op: 'index' })).toMatchObject({ read: 0 })
    })

    test('shows documents that nobody has made visible yet', async () => {
      await request('PUT', `/${old()}/_settings`, { index: { refresh_interval: '-1' } })
      const lines = many(20).map(([_id, source]) => `${JSON.stringify({ index: { _id } })}\n${source}\n`)
      await request('POST', `/${old()}/_bulk`, lines.join(''))
      expect(await move()).toMatchObject({ created: 20 })
    })

    test('may be chosen from by a query, and through an alias that shows a part of it', async () => {
      await store(many(10))
      const query = { query: { range: { n: { gte: 8 } } } }
      expect(await move({ from: { ...from(), query } })).toMatchObject({ created: 3 })
      const alias = `${old()}-even`
      const filter = { terms: { n: [2, 4, 8, 10] } }
      await request('POST', '/_aliases', { actions: [{ add: { index: old(), alias, filter } }] })
      const source = `elasticsearch:${alias}`
      expect(await move({ source, index: `${index()}-2` })).toMatchObject({ created: 4 })
      expect(await move({ source, index: `${index()}-3`, from: { ...from(), query } })).toMatchObject({ created: 2 })
      const both = [source, `elasticsearch:${old()}`]
      expect(await move({ source: both, index: `${index()}-4` })).toMatchObject({ created: 10 })
    })

    test('that cannot be read is refused before anything is sent', async () => {
      const source = `elasticsearch:${index()}-none`
      expect(await codeOf(move({ source }))).toMatch(/^INPUT_NOT_FOUND/)
      expect(await codeOf(move({ from: undefined }))).toMatch(/^OPTION_INVALID: .*from/)
      expect(await codeOf(move({ format: 'csv' }))).toMatch(/^OPTION_INVALID: .*format/)
      expect(await codeOf(move({ from: { ...from(), apiKey: 'd3Jvbmc6d3Jvbmc=' } }))).toMatch(/^CLUSTER_AUTH_REJECTED/)
      expect(await world().count(index())).toBe(0)
    })

    test('brings a document once, and rejects another one with its id', async () => {
      await store(many(6))
      await store(
        [
          ['id-2', '{"n" :\t2}'],
          ['id-3', '{"n":-3}'],
          ['id-4', '{"n":4.0}'],
        ],
        {},
        index(),
      )
      const receipt = await move()
      expect(receipt).toMatchObject({ read: 6, created: 3, duplicate: 1, rejected: 2, unknown: 0 })
      expect([await world().source(index(), 'id-3'), await world().source(index(), 'id-4')]).toEqual([
        '{"n":-3}',
        '{"n":4.0}',
      ])
      // A state folder that is lost costs only time.
      expect(await move({ stateDir: undefined, deadLetters: false })).toMatchObject({ created: 0, duplicate: 4 })
      expect(await move({ stateDir: undefined, onConflict: 'skip' })).toMatchObject({ created: 0, skipped: 6 })
      expect(way().deadLetters).toBe(false)
    })
  })
}
