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
}
