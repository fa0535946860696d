import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, ingest, undo, verify } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Documents that are stored, and that a search through the name of the load does not show. */
export function describeHidden(world: () => World): void {
  const way = () => {
    const { deadLetters: _, ...rest } = loadThrough(world(), world().proxy.http)
    return { ...rest, preflightConnections: 1 }
  }
  const inOneNode = { number_of_replicas: 0 }

  describe('an alias with a filter', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'hidden-'))
    })
    afterEach(async () => await rm(folder, { recursive: true }))

    async function loaded(more: object = {}) {
      const [index, alias] = [newIndex(), newIndex('filtered')]
      await using direct = await connect(way())
      const filter = { term: { n: 1 } }
      await direct.client.indices.create({ index, settings: inOneNode, aliases: { [alias]: { filter } } })
      const source = join(folder, 'a.ndjson')
      await writeFile(source, Array.from({ length: 6 }, (_, n) => `{"n":${n}}\n`).join(''))
      const load = { ...way(), source, index: alias, stateDir: folder, deadLetters: false, ...more } as const
      const receipt = await ingest(load)
      expect(receipt).toMatchObject({ created: 6, rejected: 0, exit: 0 })
      await direct.client.indices.refresh({ index })
      expect(await direct.client.count({ index: alias })).toMatchObject({ count: 1 })
      return { index, alias, load, asked: { ...way(), run: receipt.run, stateDir: folder } }
    }

    test('hides documents from a search, and verify finds them', async () => {
      const { asked } = await loaded()
      expect(await verify(asked)).toMatchObject({ ok: true, documents: 6, found: 6, missing: 0, notes: [] })
    })

    test('lets undo delete all documents of the run, and the same load stores them once', async () => {
      const { asked, index, load } = await loaded()
      expect(await undo(asked)).toMatchObject({ isComplete: true, deleted: 6, gone: 0, failed: 0 })
      expect(await world().count(index)).toBe(0)
      expect(await ingest(load)).toMatchObject({ created: 6, exit: 0 })
      expect(await world().count(index)).toBe(6)
    })

    test('takes documents of a mapping that is not dynamic, and they are whole', async () => {
      const { index, alias, load } = await loaded()
      await using direct = await connect(way())
      await direct.client.indices.putMapping({ index, dynamic: false })
      const given = { ...load, source: [{ n: 7, other: { a: 'b' } }], ids: 'field', idField: 'n' } as const
      expect(await ingest({ ...given, index: alias })).toMatchObject({ created: 1, exit: 0 })
      expect(JSON.parse((await world().source(index, '7')) ?? '')).toEqual({ n: 7, other: { a: 'b' } })
    })

    test('hides nothing if another alias of the index shows everything', async () => {
      const { asked, index, alias } = await loaded()
      await using direct = await connect(way())
      const second = newIndex()
      await direct.client.indices.create({ index: second, settings: inOneNode, aliases: { [alias]: {} } })
      expect(await verify(asked)).toMatchObject({ ok: true, found: 6, missing: 0 })
      expect(await undo({ ...asked, dryRun: true })).toMatchObject({ found: 6, wouldDelete: 6 })
      expect(await world().count(index)).toBe(6)
    })
  })

  describe('a pipeline that chooses another index', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'moved-'))
    })
    afterEach(async () => await rm(folder, { recursive: true }))

    /** Moves the last document of 30, or the documents that the condition is true for. */
    async function moving(processor: (to: string) => object) {
      const [index, moved, id] = [newIndex(), newIndex('moved'), newIndex('moves')]
      const { username, password } = world().cluster
      const { target, ...rest } = way()
      const admin = { ...rest, target: { ...target, apiKey: undefined, username, password } }
      await using direct = await connect(admin)
      await direct.client.ingest.putPipeline({ id, processors: [processor(moved)] as never[] })
      for (const name of [index, moved]) await direct.client.indices.create({ index: name, settings: inOneNode })
      const source = join(folder, 'a.ndjson')
      await writeFile(source, Array.from({ length: 30 }, (_, n) => `{"n":${n}}\n`).join(''))
      const load = { ...way(), source, index, stateDir: folder, deadLetters: false, batchDocs: 10 } as const
      const asDefault = async (pipeline: string) => {
        await using again = await connect(admin)
        await again.client.indices.putSettings({ index, settings: { default_pipeline: pipeline } })
      }
      return {
        load,
        pipeline: id,
        asDefault,
        counts: async () => [await world().count(index), await world().count(moved)],
        note: `a pipeline stored documents in ${moved}, and Sluice looked there too`,
        [Symbol.asyncDispose]: async () => {
          await asDefault('_none')
          await using last = await connect(admin)
          await last.client.ingest.deletePipeline({ id })
        },
      }
    }

    const condition = { if: 'ctx.n == 29' }
    const last: readonly [string, (to: string) => object][] = [
      ['reroute', destination => ({ reroute: { destination, ...condition } })],
      ['set', value => ({ set: { field: '_index', value, ...condition } })],
    ]
    test.each(
      last.flatMap(([name, processor]) => [
        [name, 'of the load', processor] as const,
        [name, 'of the index', processor] as const,
      ]),
    )('by %s, %s: verify and undo find the documents there', async (_, whose, processor) => {
      await using world = await moving(processor)
      const { load, pipeline, counts, note } = world
      if (whose === 'of the index') await world.asDefault(pipeline)
      const given = whose === 'of the index' ? load : { ...load, pipeline }
      const { run, ...receipt } = await ingest(given)
      expect(receipt).toMatchObject({ created: 30, rejected: 0, exit: 0 })
      expect(receipt.notes).toEqual([expect.stringMatching(/^documents go to moved-.* instead of /) as string])
      expect(await counts()).toEqual([29, 1])
      const asked = { ...way(), run, stateDir: folder }
      const seen = await verify(asked)
      expect(seen).toMatchObject({ ok: true, found: 30, missing: 0 })
      expect(seen.notes).toContain(note)
      expect(await undo(asked)).toMatchObject({ isComplete: true, deleted: 30, gone: 0 })
      expect(await counts()).toEqual([0, 0])
      expect(await ingest(given)).toMatchObject({ created: 30, exit: 0 })
    })

    test('for all documents: the same load stores nothing twice, although its own index is never made', async () => {
      await using world = await moving(destination => ({ reroute: { destination } }))
      const index = newIndex()
      const given = { ...world.load, index, pipeline: world.pipeline }
      const { run } = await ingest(given)
      expect(await ingest(given)).toMatchObject({ read: 0, created: 0, duplicate: 0 })
      expect(await world.counts()).toEqual([0, 30])
      const asked = { ...way(), run, stateDir: folder }
      expect(await verify(asked)).toMatchObject({ ok: true, found: 30 })
      expect(await undo(asked)).toMatchObject({ isComplete: true, deleted: 30 })
      expect(await world.counts()).toEqual([0, 0])
    })

    test('or the id, is warned of: documents that get one id replace each other, or are rejected', async () => {
      await using world = await moving(() => ({ set: { field: '_id', value: 'one' } }))
      const given = { ...world.load, pipeline: world.pipeline, concurrency: 1 }
      const warned = expect.stringContaining('documents do not keep their ids') as string
      expect(await ingest({ ...given, op: 'index' })).toMatchObject({
        created: 1,
        updated: 29,
        duplicate: 0,
        notes: [warned],
      })
      expect(await ingest({ ...given, stateDir: undefined, maxRejected: 30 })).toMatchObject({
        created: 0,
        duplicate: 0,
        rejected: 30,
      })
      expect(await world.counts()).toEqual([1, 0])
    })

    test('is a pipeline that an update does not pass', async () => {
      await using world = await moving(destination => ({ reroute: { destination } }))
      await world.asDefault(world.pipeline)
      const given = { ...world.load, op: 'upsert', ids: 'field', idField: 'n' } as const
      expect(await ingest(given)).toMatchObject({ created: 30, exit: 0 })
      expect(await world.counts()).toEqual([30, 0])
    })
  })
}
