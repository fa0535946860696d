import { describe, expect, test } from 'vitest'
import { many, moving } from '../contracts/moving.js'
import { newIndex } from '../contracts/options.js'
import type { World } from '../contracts/world.js'

/** What only a real cluster shows of its shards: writes that are not yet safe on each copy, and privileges that hide sequence numbers. */
export function describeMoving(world: () => World): void {
  describe('an index of another real cluster', () => {
    const { from, request, index, old, make, move, store, hearing } = moving(world)
    const lines = (count: number, first = 1) =>
      many(count, first)
        .map(([_id, source]) => `${JSON.stringify({ index: { _id } })}\n${source}\n`)
        .join('')

    test('is read whole although it saves writes only now and then, and shows none of them', async () => {
      const translog = { durability: 'async', sync_interval: '3s' }
      await make({ settings: { number_of_shards: 2, number_of_replicas: 0, refresh_interval: '-1', translog } })
      await request('POST', `/${old()}/_bulk`, lines(500))
      const warnings: string[] = []
      expect(await move({ onEvent: hearing('warning', warnings) })).toMatchObject({ created: 500 })
      await request('POST', `/${old()}/_bulk`, lines(20, 501))
      expect(await move({ onEvent: hearing('warning', warnings) })).toMatchObject({ read: 20, created: 20 })
      expect(await move()).toMatchObject({ read: 0 })
      expect(warnings).toEqual([])
    })

    test.each([
      [['read', 'view_index_metadata'], 'lack the privilege monitor'],
      [['read', 'view_index_metadata', 'monitor'], 'could not refresh the index'],
      [['read', 'view_index_metadata', 'monitor', 'maintenance'], undefined],
    ])('is read with the privileges %j', async (privileges, doubt) => {
      await make({ settings: { number_of_shards: 2, number_of_replicas: 0 } })
      await request('POST', `/${old()}/_bulk?refresh=true`, lines(700))
      const indices = [{ names: [old()], privileges }]
      const key = { name: newIndex('key'), role_descriptors: { key: { cluster: ['monitor'], indices } } }
      const made = await request('POST', '/_security/api_key?refresh=true', key, true)
      const { encoded } = made as { encoded: string }
      const warnings: string[] = []
      const onEvent = hearing('warning', warnings)
      const receipt = await move({ from: { ...from(), apiKey: encoded }, onEvent })
      expect(receipt).toMatchObject({ read: 700, created: 700 })
      expect(warnings).toEqual(doubt === undefined ? [] : [expect.stringContaining(doubt)])
    })

    test('is moved again into an index that builds documents from their fields, and only other values are rejected', async () => {
      await make({ settings: { number_of_replicas: 0 } })
      const properties = {
        '@timestamp': { type: 'date' },
        count: { type: 'long' },
        ratio: { type: 'float' },
        words: { type: 'keyword' },
        host: { properties: { name: { type: 'keyword' }, up: { type: 'boolean' } } },
        lines: { type: 'nested', properties: { sku: { type: 'keyword' }, n: { type: 'integer' } } },
      }
      await store([
        ['a', '{"words":["b","a","a"],"count":1.0,"@timestamp":"2026-11-29","host.name":"x","host":{"up":true}}'],
        ['b', '{"ratio":0.1,"@timestamp":1764411072500,"host":[{"name":"b"},{"name":"a"}],"words":null}'],
        [
          'c',
          '{"lines":[{"sku":"s","n":1},{"sku":"t","n":2}],"count":[3,1,1],"@timestamp":"2026-11-29T10:11:12+02:00"}',
        ],
        ['d', '{"words":"same","count":9223372036854775807}'],
      ])
      const settings = { number_of_replicas: 0, 'index.mapping.source.mode': 'synthetic' }
      const setting = async () => await request('PUT', `/${index()}`, { settings, mappings: { properties } })
      const mapping = async () =>
        await request('PUT', `/${index()}`, { mappings: { _source: { mode: 'synthetic' }, properties } })
      // Before 8.17, only the mapping says so.
      await setting().catch(mapping)
      expect(await move()).toMatchObject({ created: 4, rejected: 0 })
      expect(await world().source(index(), 'a')).not.toContain('"b","a"')
      const again = { stateDir: undefined, deadLetters: false as const }
      expect(await move(again)).toMatchObject({ created: 0, duplicate: 4, rejected: 0 })
      await store([['d', '{"words":"same","count":9223372036854775806}']])
      expect(await move(again)).toMatchObject({ created: 0, duplicate: 3, rejected: 1 })
    })

    test('is moved into an index whose pipeline changes documents, with a warning before the load', async () => {
      const pipeline = newIndex('enrich')
      await request(
        'PUT',
        `/_ingest/pipeline/${pipeline}`,
        { processors: [{ set: { field: 'at', value: 1, if: 'ctx.n > 2' } }] },
        true,
      )
      await make({ settings: { number_of_replicas: 0 } })
      await store(many(4))
      await request('PUT', `/${index()}`, { settings: { number_of_replicas: 0, default_pipeline: pipeline } })
      const warnings: string[] = []
      const onEvent = hearing('warning', warnings)
      expect(await move({ onEvent })).toMatchObject({ created: 4 })
      expect(warnings).toEqual([expect.stringContaining(`the ingest pipeline of ${index()} may change documents`)])
      const again = await move({ stateDir: undefined, deadLetters: false, onEvent })
      expect(again).toMatchObject({ created: 0, duplicate: 2, rejected: 2, unknown: 0 })
      expect(again.notes).toEqual([expect.stringContaining(`may have changed documents of ${index()}`)])
    })
  })
}
