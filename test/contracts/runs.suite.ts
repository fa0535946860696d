import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, ingest, type IngestEvent, undo, verify } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** What a cluster tells of the ids of a run, and how it deletes by them. */
export function describeRuns(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
  const way = () => {
    const { deadLetters: _, ...rest } = base()
    return rest
  }

  describe('a run', () => {
    let folder: string
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'runs-'))
    })
    afterEach(async () => await rm(folder, { recursive: true }))

    async function loaded(index: string, more: object = {}) {
      const path = join(folder, 'a.ndjson')
      await writeFile(path, Array.from({ length: 2500 }, (_, n) => `{"n":${n},"who":"u${n % 7}"}\n`).join(''))
      const receipt = await ingest({ ...base(), source: path, index, stateDir: folder, batchDocs: 500, ...more })
      expect(receipt).toMatchObject({ created: 2500, rejected: 0 })
      const seen = await verify({ ...way(), run: receipt.run, stateDir: folder })
      expect(seen).toMatchObject({ ok: true, documents: 2500, found: 2500, missing: 0, notes: [] })
      return { run: receipt.run, token: seen.inputs[0]?.token ?? '' }
    }

    test.each([
      ['deleted with its first documents', false],
      ['made anew by hand after a stop', true],
    ])('loads everything again if its index is %s', async (_, isStopped) => {
      const index = newIndex()
      const path = join(folder, 'a.ndjson')
      await writeFile(path, Array.from({ length: 2000 }, (_, n) => `{"n":${n}}\n`).join(''))
      await using direct = await connect(way())
      const controller = new AbortController()
      let removing: Promise<unknown> | undefined
      const onEvent = ({ type }: IngestEvent) => {
        if (type !== 'progress') return
        if (isStopped) controller.abort('test')
        else removing ??= direct.client.indices.delete({ index })
      }
      const load = async (more: object) =>
        await ingest({ ...base(), source: path, index, stateDir: folder, batchDocs: 100, concurrency: 4, ...more })
      const first = load({ onEvent, signal: controller.signal })
      if (isStopped) {
        await expect(first).rejects.toThrow('interrupted')
        await direct.client.indices.delete({ index })
        await direct.client.indices.create({ index })
        await load({})
      } else {
        // A request that meets the deletion itself may end the run. Then the same command loads everything again.
        const end = await first.then(
          () => undefined,
          (error: unknown) => error,
        )
        await removing
        if (end !== undefined) {
          expect(end).toMatchObject({ code: 'REQUEST_REFUSED' })
          await load({})
        }
      }
      expect(await world().count(index)).toBe(2000)
    })

    test('is verified, and undone but for what was changed since', async () => {
      const index = newIndex()
      const { run, token } = await loaded(index)
      {
        await using direct = await connect(way())
        await direct.client.index({ index, id: `${token}-3`, document: { n: 3 } })
        await direct.client.delete({ index, id: `${token}-4` })
        await direct.client.create({ index, id: `${token}-2501`, document: { n: 0 } })
      }
      expect(await verify({ ...way(), run, stateDir: folder })).toMatchObject({
        ok: false,
        found: 2499,
        missing: 1,
        foreign: 1,
        inputs: [{ missingIds: [`${token}-4`], foreignIds: [`${token}-2501`] }],
      })
      expect(await undo({ ...way(), run, stateDir: folder })).toMatchObject({
        isComplete: false,
        deleted: 2498,
        changed: 1,
        gone: 1,
        failed: 0,
        changedIds: [`${token}-3`],
      })
      expect(await world().count(index)).toBe(2)
      expect(await undo({ ...way(), run, stateDir: folder, force: true })).toMatchObject({
        isComplete: true,
        deleted: 1,
        gone: 2499,
      })
      expect(await world().count(index)).toBe(1)
    })

    test('with routing is found and deleted on every shard', async () => {
      const index = newIndex()
      {
        await using direct = await connect(way())
        await direct.client.indices.create({ index, settings: { number_of_shards: 3, number_of_replicas: 0 } })
      }
      const { run } = await loaded(index, { routingField: 'who' })
      expect(await undo({ ...way(), run, stateDir: folder })).toMatchObject({
        isComplete: true,
        deleted: 2500,
        gone: 0,
      })
      expect(await world().count(index)).toBe(0)
    })

    test('whose index is gone is missing', async () => {
      const index = newIndex()
      const { run } = await loaded(index)
      await using direct = await connect(way())
      await direct.client.indices.delete({ index })
      expect(await verify({ ...way(), run, stateDir: folder })).toMatchObject({ ok: false, missing: 2500 })
    })
  })
}
