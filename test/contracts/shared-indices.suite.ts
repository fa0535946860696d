import { beforeEach, describe, expect, test } from 'vitest'
import { findInputs, type FoundInput, ingestRanges, type InputRange } from '../../src/ingest-ranges.js'
import type { IngestOptions } from '../../src/index.js'
import { codeOf } from '../support/lab/run-world.js'
import { many, moving } from './moving.js'
import type { World } from './world.js'

/** Indices of another cluster that many processes share: each loads a span of the sequence numbers of one shard. */
export function describeSharedIndices(world: () => World): void {
  describe('a shared index of another cluster', () => {
    const { way, from, request, index, old, make, store, hearing } = moving(world)
    beforeEach(async () => {
      await make({ settings: { number_of_shards: 2, number_of_replicas: 0 } })
    })

    const source = () => `elasticsearch:${old()}`

    async function found(more: Partial<IngestOptions> = {}): Promise<FoundInput[]> {
      const options = { ...way(), source: source(), from: from(), index: index(), ...more }
      const all: FoundInput[] = []
      for await (const one of findInputs(options, 1000)) all.push(one)
      return all
    }

    /** Cuts each shard into three spans. */
    function cut(shards: readonly FoundInput[]): InputRange[] {
      return shards.flatMap(({ name, identity, numbers = 0 }) => {
        const ends = [0, Math.ceil(numbers / 3), Math.ceil((2 * numbers) / 3), numbers]
        const spans = ends.slice(1).map((to, at) => ({ name, identity, from: ends[at] ?? 0, to }))
        return spans.filter(one => one.from < one.to)
      })
    }

    async function load(range: InputRange, more: Partial<IngestOptions> = {}) {
      const { stateDir: _, source: __, ...options } = { ...way(), from: from(), index: index(), ...more }
      return await ingestRanges(options, { run: 'shared', ranges: [range] })
    }

    test('is cut into spans that share no document, and leave out none', async () => {
      const odd = '{"z":1.0,"a":1234567890123456789}'
      await store(many(700))
      await store([['odd', odd]], { routing: 'r' })
      const shards = await found()
      expect(shards.every(({ name, canBeCut, numbers = 0 }) => name === source() && canBeCut && numbers > 0)).toBe(true)
      const receipts = []
      // In any order: each knows nothing of the others.
      for (const range of cut(shards).toReversed()) receipts.push(await load(range))
      expect(receipts.reduce((sum, { created }) => sum + created, 0)).toBe(701)
      expect(receipts.every(({ read, created, rejected }) => read === created && rejected === 0)).toBe(true)
      expect(await world().count(index())).toBe(701)
      expect(await world().source(index(), 'odd')).toBe(odd)
    })

    test('is loaded again without a second copy, and a document that changed meanwhile belongs to the next plan', async () => {
      await store(many(60))
      const shards = await found()
      for (const range of cut(shards)) await load(range)
      await store([
        ['id-3', '{"n":-3}'],
        ['id-61', '{"n":61}'],
      ])
      let again = { read: 0, duplicate: 0 }
      for (const range of cut(shards)) {
        const { read, duplicate } = await load(range)
        again = { read: again.read + read, duplicate: again.duplicate + duplicate }
      }
      expect(again).toEqual({ read: 59, duplicate: 59 })
      const numbersOf = ({ identity, numbers = 0 }: FoundInput) => [identity, numbers] as const
      const before = new Map(shards.map(numbersOf))
      const written = (await found()).map(({ name, ...one }) => ({
        ...one,
        range: { name, identity: one.identity, from: before.get(one.identity) ?? 0, to: one.numbers ?? 0 },
      }))
      for (const { range } of written.filter(one => one.range.from < one.range.to)) await load(range, { op: 'index' })
      expect(await world().count(index())).toBe(61)
      expect(await world().source(index(), 'id-3')).toBe('{"n":-3}')
    })

    test('may be a part that a query or an alias shows', async () => {
      await store(many(20))
      const alias = `${old()}-few`
      const filter = { range: { n: { gt: 15 } } }
      await request('POST', '/_aliases', { actions: [{ add: { index: old(), alias, filter } }] })
      const query = { query: { range: { n: { lte: 18 } } } }
      const more = { source: `elasticsearch:${alias}`, from: { ...from(), query } }
      const shards = await found(more)
      let created = 0
      for (const range of cut(shards)) created += (await load(range, { from: more.from })).created
      expect(created).toBe(3)
      // Another query is another plan.
      const [range] = cut(shards)
      if (range === undefined) throw new Error('a shard was found')
      expect(await codeOf(load(range))).toMatch(/^INPUT_CHANGED.*another part/)
    })

    test('leads to no other index, whatever a plan says', async () => {
      await store(many(20))
      await make({}, `${old()}-secret`)
      await store(many(5), {}, `${old()}-secret`)
      const [own] = cut(await found())
      const [secret] = cut(await found({ source: `elasticsearch:${old()}-secret` }))
      if (own === undefined || secret === undefined) throw new Error('shards were found')
      expect(await codeOf(load({ ...own, identity: secret.identity }))).toMatch(/^INPUT_CHANGED/)
      expect(await codeOf(load({ ...own, identity: 'file 1 1 abc' }))).toMatch(/^OPTION_INVALID/)
      expect(await codeOf(load({ ...own, name: '/etc/passwd' }))).toMatch(/^OPTION_INVALID: from/)
      expect(await codeOf(load(own, { from: undefined }))).toMatch(/^OPTION_INVALID: from/)
      await request('DELETE', `/${old()}`)
      await make()
      await store(many(3))
      expect(await codeOf(load(own))).toMatch(/^INPUT_CHANGED/)
      expect(await world().count(index())).toBe(0)
    })

    test('has no spans if it is empty', async () => {
      const messages: string[] = []
      expect(await found({ onEvent: hearing('warning', messages) })).toEqual([])
      expect(messages).toEqual([])
    })
  })
}
