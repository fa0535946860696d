import { afterEach, describe, expect, test } from 'vitest'
import { type Connected, type IngestOptions, connect, ingest, restoreSettings } from '../../src/index.js'
import { documents, failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Loads that tune their index: what it holds before, meanwhile and after, also after a kill. */
export function describeTune(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
  const warnings: string[] = []
  const onEvent: IngestOptions['onEvent'] = event => {
    if (event.type === 'warning') warnings.push(event.message)
  }
  afterEach(() => void warnings.splice(0))

  const load = async (index: string, more: Partial<IngestOptions> = {}) =>
    await ingest({ ...base(), source: documents(10), index, tune: true, onEvent, ...more })

  async function ask<T>(question: (client: Connected['client']) => Promise<T>): Promise<T> {
    await using way = await connect(base())
    return await question(way.client)
  }

  const make = async (index: string, more: object = {}) =>
    await ask(async client => {
      const settings = { refresh_interval: '7s', number_of_replicas: 1 }
      await client.indices.create({ index, settings, mappings: { _meta: { owner: 'shop' } }, ...more })
    })

  /** Refresh interval, replicas and `_meta` of an index. */
  const seen = async (index: string) => {
    const described = await ask(async client => await client.indices.get({ index, flat_settings: true }))
    const [name = ''] = Object.keys(described)
    const { settings, mappings } = described[name] ?? {}
    return [settings?.['index.refresh_interval'], settings?.['index.number_of_replicas'], mappings?._meta] as const
  }
  const before = ['7s', '1', { owner: 'shop' }]
  const restore = { 'index.refresh_interval': '7s', 'index.number_of_replicas': '1' }

  /** A source that waits in the middle, after its first documents were sent. */
  async function* held(meanwhile: () => Promise<void>) {
    yield* documents(3)
    await meanwhile()
    yield { n: 4 }
  }

  /** Leaves an index as a process does that is killed while it loads. */
  const leave = async (index: string, loader: object) =>
    await ask(async client => {
      const mark = { restore, loaders: { '20260101T000000Z-abcdef': loader } }
      await client.indices.putMapping({ index, _meta: { owner: 'shop', sluice_tuned: mark } })
      await client.indices.putSettings({ index, settings: { refresh_interval: '-1', number_of_replicas: 0 } })
    })
  const longAgo = { seen: '2026-01-01T00:00:00.000Z', place: 'elsewhere', pid: 4 }
  const now = () => ({ seen: new Date().toISOString(), place: 'elsewhere', pid: 4 })

  /** A promise that the test settles. */
  const signal = () => {
    let resolve = () => {}
    const promise = new Promise<void>(done => (resolve = done))
    return { promise, resolve }
  }

  describe('tuned loads', () => {
    test('turn refreshes and replicas off, remember them in the index, and restore them', async () => {
      const index = newIndex('tune')
      await make(index)
      const during: unknown[] = []
      const source = held(async () => void during.push(...(await seen(index))))
      const receipt = await load(index, { source, batchMs: 1 })
      const loader = { [receipt.run]: expect.objectContaining({ pid: process.pid }) as object }
      expect(during).toEqual(['-1', '0', { owner: 'shop', sluice_tuned: { restore, loaders: loader } }])
      expect(receipt).toMatchObject({ created: 4, tuned: { index, settings: restore, restored: true } })
      expect(await seen(index)).toEqual(before)
      expect([await world().count(index), warnings]).toEqual([4, []])
    })

    test('make an index that is missing, with the defaults of the cluster at the end', async () => {
      const index = newIndex('tune')
      expect(await load(index)).toMatchObject({ created: 10, tuned: { index, restored: true } })
      const [refresh, replicas, meta] = await seen(index)
      expect([refresh, replicas, meta ?? {}]).toEqual([undefined, '1', {}])
    })

    test('restore the settings after a failure and an interruption', async () => {
      const index = newIndex('tune')
      await make(index)
      await failureOf(load(index, { source: new Set(['{"n":"none"}', '{"n":1}', '{"n":{"a":1}}']), maxRejected: 0 }))
      expect(await seen(index)).toEqual(before)
      const stop = new AbortController()
      const source = held(async () => {
        expect((await seen(index)).slice(0, 2)).toEqual(['-1', '0'])
        stop.abort()
      })
      const { code, receipt } = await failureOf(load(index, { source, signal: stop.signal }))
      expect(code).toBe('RUN_INTERRUPTED')
      expect(receipt).toMatchObject({ tuned: { index, restored: true } })
      expect(await seen(index)).toEqual(before)
    })

    test('side by side: the last one restores, whichever began first', async () => {
      for (const lastIsFirst of [true, false]) {
        const index = newIndex('tune')
        await make(index)
        const [early, late] = [signal(), signal()]
        const began = [signal(), signal()] as const
        const run = async (at: 0 | 1, until: Promise<void>) =>
          await load(index, {
            source: held(async () => {
              began[at].resolve()
              await until
            }),
          })
        const first = run(0, lastIsFirst ? late.promise : early.promise)
        await began[0].promise
        const second = run(1, lastIsFirst ? early.promise : late.promise)
        await began[1].promise
        early.resolve()
        const [ends, stays] = lastIsFirst ? [second, first] : [first, second]
        const ended = await ends
        expect(ended.tuned).toEqual({ index, settings: restore, restored: false })
        expect((await seen(index)).slice(0, 2)).toEqual(['-1', '0'])
        late.resolve()
        const last = await stays
        expect(last.tuned).toEqual({ index, settings: restore, restored: true })
        expect(warnings.splice(0)).toEqual([expect.stringContaining(`run ${last.run} loads into it too`)])
        expect(await seen(index)).toEqual(before)
      }
    })

    test('after a kill, the next load restores them, with or without tune', async () => {
      for (const tune of [true, false]) {
        const index = newIndex('tune')
        await make(index)
        await leave(index, longAgo)
        await load(index, { tune })
        expect(await seen(index)).toEqual(before)
        expect(warnings.splice(0)).toEqual(
          tune ? [] : [expect.stringContaining('Sluice restored refresh_interval 7s, number_of_replicas 1')],
        )
      }
    })

    test('a load elsewhere that was there a minute ago keeps the index tuned; the function restores it', async () => {
      const index = newIndex('tune')
      await make(index)
      await leave(index, now())
      await load(index, { tune: false })
      expect((await seen(index)).slice(0, 2)).toEqual(['-1', '0'])
      const { deadLetters: _, ...way } = base()
      const runs = ['20260101T000000Z-abcdef']
      expect(await restoreSettings({ ...way, index })).toEqual([{ index, settings: restore, runs }])
      expect(await seen(index)).toEqual(before)
      expect(await restoreSettings({ ...way, index })).toEqual([])
      expect(await failureOf(restoreSettings({ ...way, index: `${index}-no` }))).toMatchObject({
        code: 'OPTION_INVALID',
      })
    })

    test('settings that somebody changes during the load stay', async () => {
      const index = newIndex('tune')
      await make(index)
      const change = async () =>
        void (await ask(
          async client => await client.indices.putSettings({ index, settings: { refresh_interval: '9s' } }),
        ))
      await load(index, { source: held(change) })
      expect(await seen(index)).toEqual(['9s', '1', { owner: 'shop' }])
    })

    test('of an alias tune its write index, and refuse an alias without one', async () => {
      const [one, two, alias] = [newIndex('tune'), newIndex('tune'), newIndex('tune')]
      await make(one, { aliases: { [alias]: {} } })
      await make(two, { aliases: { [alias]: { is_write_index: true } } })
      const during: unknown[] = []
      const source = held(async () => void during.push(...(await seen(one)), ...(await seen(two)).slice(0, 2)))
      expect(await load(alias, { source })).toMatchObject({ tuned: { index: two, restored: true } })
      expect(during).toEqual([...before, '-1', '0'])
      expect(await seen(two)).toEqual(before)
      await ask(async client => {
        await client.indices.updateAliases({ actions: [{ add: { index: two, alias, is_write_index: false } }] })
      })
      expect(await failureOf(load(alias))).toMatchObject({
        code: 'OPTION_INVALID',
        evidence: { option: 'tune', problem: expect.stringContaining('none of them is its write index') as string },
      })
    })

    test('without the privilege nothing is changed, and nothing is sent', async () => {
      const index = newIndex('least-tune')
      await make(index)
      const { target, ...others } = base()
      const least = { ...others, target: { ...target, apiKey: world().cluster.leastPrivilegeApiKey } }
      const { code, receipt } = await failureOf(load(index, least))
      expect([code, receipt]).toEqual(['CLUSTER_PRIVILEGE_MISSING', undefined])
      expect(await seen(index)).toEqual(before)
      expect(await world().count(index)).toBe(0)
    })

    test('change nothing in a dry run', async () => {
      const index = newIndex('tune')
      await make(index)
      await leave(index, longAgo)
      expect(await load(index, { dryRun: true })).not.toHaveProperty('tuned')
      expect((await seen(index)).slice(0, 2)).toEqual(['-1', '0'])
    })
  })
}
