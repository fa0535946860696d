import { describe, expect, test } from 'vitest'
import { many, moving } from '../contracts/moving.js'
import { newIndex } from '../contracts/options.js'
import type { World } from '../contracts/world.js'

/** What only a real cluster shows of its shards: writes that are not yet safe on each copy, and privileges that hide sequence numbers. */
export function describeMoving(world: () => World): void {
  describe('an index of another real cluster', () => {
    const { from, request, old, make, move, hearing } = moving(world)
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
  })
}
