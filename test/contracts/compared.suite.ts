import { describe, expect, test } from 'vitest'
import { type Receipt, type VerifyDeepOptions, verifyDeep } from '../../src/index.js'
import { codeOf } from '../support/lab/run-world.js'
import { type Document, many, moving } from './moving.js'
import type { World } from './world.js'

/** Comparing an index with the one of another cluster that it was read from. */
export function describeCompared(world: () => World): void {
  describe('a moved index, compared with its source', () => {
    const { way, from, index, old, path, make, move, store, request } = moving(world)
    const compare = async ({ run }: Pick<Receipt, 'run'>, more: Partial<VerifyDeepOptions> = {}) =>
      await verifyDeep({ ...way(), run, from: from(), stateDir: path('state'), ...more })
    const remove = async (id: string, name: string) => await request('DELETE', `/${name}/_doc/${id}?refresh=true`)

    test('is equal to the last digit', async () => {
      await make({ settings: { number_of_shards: 3, number_of_replicas: 0 } })
      await store(many(1500))
      await store([
        ['odd é', '{"z":1.0,"a":1234567890123456789,"t":"a\\nb\\u00e9"}'],
        ['blank', '{ "a" : [ 1, 2 ] }'],
      ])
      const seen = await compare(await move())
      expect(seen).toMatchObject({ ok: true, status: 'finished', documents: 1502, equal: 1502, onlyInTarget: 0 })
      expect(seen).toMatchObject({ missing: 0, different: 0, rejected: 0, unread: 0, index: index() })
      expect(seen.inputs).toMatchObject([{ name: `elasticsearch:${old()}`, equal: 1502, missingIds: [] }])
    })

    test('shows what is missing, different and only in the target', async () => {
      await store([...many(40), ['long', '{"n":1234567890123456789}'], ['real', '{"n":1.0}']])
      const receipt = await move()
      await store([['long', '{"n":1234567890123456790}'], ['real', '{"n":1}'], ['new', '{"n":0}']], {}, index()) // prettier-ignore
      await remove('id-7', index())
      await remove('id-9', old())
      const seen = await compare(receipt, { listed: 1 })
      expect(seen).toMatchObject({ ok: false, documents: 41, equal: 38, missing: 1, different: 2, onlyInTarget: 2 })
      expect(seen.inputs).toMatchObject([{ missingIds: ['id-7'], differentIds: [expect.any(String)] }])
      expect(seen.onlyInTargetIds).toHaveLength(1)
      const whole = await compare(receipt)
      expect([...whole.onlyInTargetIds].toSorted()).toEqual(['id-9', 'new'])
    })

    test('tells what was written in the source since from what is different', async () => {
      await store(many(20))
      const receipt = await move()
      await store([['id-3', '{"n":-3}'], ['later', '{"n":21}']]) // prettier-ignore
      const seen = await compare(receipt)
      expect(seen).toMatchObject({ ok: true, documents: 21, equal: 19, unread: 2, missing: 0, different: 0 })
      expect([...(seen.inputs[0]?.unreadIds ?? [])].toSorted()).toEqual(['id-3', 'later'])
      expect(await compare(await move({ op: 'index' }))).toMatchObject({ ok: true, equal: 21, unread: 0 })
    })

    test('knows what was rejected', async () => {
      await make({ mappings: { dynamic: false } })
      await request('PUT', `/${index()}`, { mappings: { properties: { n: { type: 'byte' } } } })
      await store([...many(20), ['big', '{"n":1000}'], ['text', '{"n":"x"}']])
      const receipt = await move()
      expect(receipt).toMatchObject({ created: 20, rejected: 2 })
      expect(await compare(receipt)).toMatchObject({ ok: true, documents: 22, equal: 20, rejected: 2, missing: 0 })
    })

    test('finds documents by their routing', async () => {
      await make({ settings: { number_of_shards: 3, number_of_replicas: 0 } })
      await request('PUT', `/${index()}`, { settings: { number_of_shards: 4, number_of_replicas: 0 } })
      await store(many(30), { routing: 'one' })
      await store(many(30, 31), { routing: 'two' })
      const receipt = await move()
      expect(await compare(receipt)).toMatchObject({ ok: true, documents: 60, equal: 60, onlyInTarget: 0 })
      await store([['only', '{"n":1}']], { routing: 'two' }, index())
      expect(await compare(receipt)).toMatchObject({ ok: false, onlyInTarget: 1, onlyInTargetIds: ['only'] })
    })

    test('may be read through an alias', async () => {
      const alias = `${old()}-a`
      await make({ aliases: { [alias]: { filter: { range: { n: { gte: 8 } } } } } })
      await store(many(10))
      const receipt = await move({ source: `elasticsearch:${alias}` })
      expect(receipt).toMatchObject({ created: 3 })
      expect(await compare(receipt)).toMatchObject({ ok: true, documents: 3, equal: 3, onlyInTarget: 0 })
    })

    test('may be a data stream on both sides', async () => {
      const name = old()
      const index_patterns = [name, `to-${name}`]
      const body = { index_patterns, data_stream: {}, template: { settings: { number_of_replicas: 0 } } }
      await request('PUT', `/_index_template/${name}`, body, true)
      const line = ([_id, source]: Document) =>
        `${JSON.stringify({ create: { _id } })}\n${source.replace('{', '{"@timestamp":"2026-11-21",')}\n`
      const store = async (documents: readonly Document[]) =>
        await request('POST', `/${name}/_bulk?refresh=true`, documents.map(line).join(''), true)
      await store(many(20))
      await request('POST', `/${name}/_rollover`, undefined, true)
      await store(many(30, 21))
      const receipt = await move({ index: 'to-{_index}', mapping: 'copy' })
      expect(receipt).toMatchObject({ created: 50, rejected: 0, indices: [{ index: `to-${name}` }] })
      const seen = await compare(receipt)
      expect(seen).toMatchObject({ ok: true, documents: 50, equal: 50, missing: 0, onlyInTarget: 0 })
      await store(many(2, 51))
      expect(await compare(receipt)).toMatchObject({ ok: true, equal: 50, unread: 2 })
    })

    test('is compared only where its query chose documents', async () => {
      await store(many(10))
      const receipt = await move({ from: { ...from(), query: { query: { range: { n: { gte: 8 } } } } } })
      expect(await compare(receipt)).toMatchObject({ ok: true, documents: 3, equal: 3, onlyInTarget: 0 })
    })

    test('may be many indices', async () => {
      const [one, two] = [`${old()}-1`, `${old()}-2`]
      await store(many(3), {}, one)
      await store(many(4), {}, two)
      const receipt = await move({ source: `elasticsearch:${old()}-*`, index: 'to-{_index}' })
      expect(await compare(receipt)).toMatchObject({ ok: true, documents: 7, equal: 7 })
      await remove('id-4', `to-${two}`)
      const seen = await compare(receipt)
      expect(seen).toMatchObject({ ok: false, missing: 1 })
      expect(seen.inputs).toMatchObject([
        { name: `elasticsearch:${one}`, missing: 0 },
        { name: `elasticsearch:${two}`, missingIds: ['id-4'] },
      ])
    })

    test('is not compared if an option may have changed its documents', async () => {
      await store(many(3))
      const edited = await move({ edits: { drop: ['x'] } })
      expect(await codeOf(compare(edited))).toMatch(/^RUN_NOT_COMPARABLE: .*--drop/)
    })

    test('is not compared with an index that was made anew', async () => {
      await store(many(3))
      const receipt = await move()
      await request('DELETE', `/${old()}`)
      await store(many(3))
      expect(await codeOf(compare(receipt))).toMatch(/^RUN_NOT_COMPARABLE: .*made anew/)
    })
  })
}
