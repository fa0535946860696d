import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connect, ingest, type IngestEvent, undo, verify } from '../../src/index.js'
import { until } from '../support/eventually.js'
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
      let isRemoved = false
      const onEvent = ({ type }: IngestEvent) => {
        if (type !== 'progress') return
        if (isStopped) controller.abort('test')
        else removing ??= direct.client.indices.delete({ index }).then(() => (isRemoved = true))
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
        // A request that meets the deletion itself is refused. Sluice loads everything again then, too.
        await first
        const isLate = !isRemoved
        await removing
        // A slow server may delete it after the load. The next load sees that.
        if (isLate) await load({})
      }
      expect(await world().count(index)).toBe(2000)
    })

    test.each([
      ['an alias', 'deleted and made anew', false, false],
      ['an alias', 'made anew after a stop', false, true],
      ['a data stream', 'deleted after a rollover', true, false],
      ['a data stream', 'deleted after a stop and a rollover', true, true],
    ])('loads again what was lost if the index behind %s is %s', async (_, _how, isStream, isStopped) => {
      const index = newIndex()
      const { username, password } = world().cluster
      const { target, ...rest } = way()
      // Templates are more than the API key may make.
      await using direct = await connect({ ...rest, target: { ...target, apiKey: undefined, username, password } })
      const { indices } = direct.client
      const template = { settings: { number_of_replicas: 0 } }
      if (isStream) await indices.putIndexTemplate({ name: index, index_patterns: [index], data_stream: {}, template })
      const make = async () => await indices.create({ index: `${index}-000001`, aliases: { [index]: {} } })
      if (!isStream) await make()
      const isMadeAnew = async () => {
        // A document that comes first makes an index of the name, which no alias may have.
        for (const one of [`${index}-000001`, index]) await indices.delete({ index: one, ignore_unavailable: true })
        return await make().then(
          () => true,
          () => false,
        )
      }
      const lose = async () => {
        if (!isStream) return await until(isMadeAnew)
        const { old_index: old } = await indices.rollover({ alias: index })
        await indices.delete({ index: old })
      }
      const source = [join(folder, 'a.ndjson'), join(folder, 'b.ndjson')]
      const line = (n: number) => `{"@timestamp":"2026-11-21T00:00:00Z","n":${n}}\n`
      for (const [at, path] of source.entries())
        await writeFile(path, Array.from({ length: 1000 }, (_one, n) => line(at * 1000 + n)).join(''))
      const controller = new AbortController()
      let changing: Promise<unknown> | undefined
      const onEvent = ({ type }: IngestEvent) => {
        if (type !== 'progress') return
        if (isStopped) controller.abort('test')
        else changing ??= lose().finally(goOn)
      }
      // The load waits in the second file: an old index that goes later is what a retention removes.
      let goOn = () => {}
      const isChanged = new Promise<void>(resolve => (goOn = resolve))
      const transform = async (document: object) => {
        if (!isStopped && 'n' in document && document.n === 1000) await isChanged
        return document
      }
      const load = async (more: object) =>
        await ingest({ ...base(), source, transform, index, stateDir: folder, batchDocs: 100, concurrency: 4, ...more })
      const first = await load({ onEvent, signal: controller.signal }).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (isStopped) await lose()
      await changing
      goOn()
      // A request that meets the deletion itself, or an index in the alias's place, may end the run.
      if (first !== undefined) expect(first).toHaveProperty('code')
      await load({})
      expect(await load({})).toMatchObject({ read: 0 })
      expect(await world().count(index)).toBe(2000)
    })

    test('is no loss if the index behind a name rolls over', async () => {
      const index = newIndex()
      await using direct = await connect(way())
      const { indices } = direct.client
      await indices.create({ index: `${index}-000001`, aliases: { [index]: {} } })
      const path = join(folder, 'a.ndjson')
      await writeFile(path, Array.from({ length: 2000 }, (_, n) => `{"n":${n}}\n`).join(''))
      const warnings: string[] = []
      let rolling: Promise<unknown> | undefined
      const onEvent = (event: IngestEvent) => {
        if (event.type === 'warning') warnings.push(event.message)
        if (event.type === 'progress') rolling ??= indices.rollover({ alias: index })
      }
      const options = { ...base(), source: path, index, stateDir: folder, batchDocs: 100, concurrency: 1 }
      expect(await ingest({ ...options, onEvent })).toMatchObject({ created: 2000, duplicate: 0 })
      await rolling
      expect(warnings).toEqual([])
      expect(await ingest(options)).toMatchObject({ read: 0 })
      expect((await world().count(`${index}-000001`)) + (await world().count(`${index}-000002`))).toBe(2000)
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

    test('whose documents a later run loaded again is not undone, and the later run is', async () => {
      const index = newIndex()
      const { run } = await loaded(index)
      {
        await using direct = await connect(way())
        await direct.client.indices.delete({ index })
      }
      const { run: later } = await ingest({
        ...base(),
        source: join(folder, 'a.ndjson'),
        index,
        stateDir: folder,
        batchDocs: 500,
      })
      await expect(undo({ ...way(), run, stateDir: folder })).rejects.toMatchObject({
        code: 'UNDO_LOADED_AGAIN',
        failure: { evidence: { run, later } },
      })
      expect(await world().count(index)).toBe(2500)
      const undone = await undo({ ...way(), run: later, stateDir: folder })
      expect(undone).toMatchObject({ isComplete: true, deleted: 2500 })
      expect(undone).not.toHaveProperty('goesBy')
      expect(await world().count(index)).toBe(0)
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
