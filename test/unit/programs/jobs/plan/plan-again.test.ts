import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { dispatchRanges } from '../../../../../src/programs/jobs/control/dispatch-ranges.js'
import type { RangeData } from '../../../../../src/programs/jobs/job.js'
import type { FoundInput } from '../../../../../src/features/ranges/range-load.js'
import type { LoadingElsewhere } from '../../../../../src/run/loop/hooks.js'
import { stopSignalsOf } from '../../../../../src/run/loop/stop-signals.js'
import { systemClock } from '../../../../../src/base/time/clock.js'
import { QueueInMemory } from '../../../../support/load/queue-in-memory.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const small = (name: string, version = 1): FoundInput => ({
  name: `/in/${name}`,
  size: 1,
  identity: `file 1 ${version} abc`,
  canBeCut: false,
})

const partOf = ({ name, from, to }: RangeData['inputs'][number]) =>
  from === undefined ? name.slice('/in/'.length) : `${from}-${to}`

/** One job that is planned as often as `load` is called, each time with these inputs. */
function world() {
  const queue = new QueueInMemory()
  const loaded: (readonly string[])[] = []
  queue.added = page => loaded.push(...page.map(({ inputs }) => inputs.map(partOf)))
  const none = () => undefined
  const load = async (inputs: readonly FoundInput[], index = 'logs') => {
    loaded.length = 0
    const dispatch = dispatchRanges({
      data: {
        version: 1,
        sources: ['/in/*'],
        settings: {},
        url: 'http://cluster',
        index: 'logs',
        concurrency: 4,
        rangeBytes: 100,
        deadLetters: '/nowhere/letters',
        host: 'here',
        made: '2026-01-01T00:00:00.000Z',
      },
      find: async function* () {
        yield* await Promise.resolve(inputs)
      },
      ranges: queue.asQueue,
      job: 'logs',
      seal: noSeal,
      planned: async () => await Promise.resolve(),
      began: async () => {
        await Promise.resolve()
      },
      look: async () => await Promise.resolve(undefined),
      lost: none,
      stop: async () => await Promise.resolve(),
      patient: async work => await work(),
    })
    const ledger = { begin: none, end: none, book: none, overLimit: none, isOverLimit: none }
    const limits = { signal: undefined, timeBudgetMs: undefined, startedAt: undefined, byteBudget: undefined }
    using stop = stopSignalsOf({ ...limits, graceMs: 0 }, systemClock)
    const loading: LoadingElsewhere = { inputs: [], ledger, stop, tell: none }
    const hook = await dispatch.feature(loading)
    await hook?.prepare?.({ found: { target: { index } } } as never)
    const end = await dispatch.loadElsewhere?.(loading)
    return { failure: end?.failure, read: end?.bytesRead, job: hook?.receipt?.()?.job }
  }
  return { queue, load, loaded }
}

const fails = (name: string, version: number) => (range: RangeData) =>
  range.inputs.some(input => input.name === `/in/${name}` && input.identity === small(name, version).identity)
    ? failure('INPUT_MALFORMED', { input: name, problem: 'it ends early' })
    : undefined

test('one more small input does not load the group of the others again, and the receipt counts each once', async () => {
  const { load, loaded } = world()
  await load(['a', 'b', 'd'].map(name => small(name)))
  const { read, job } = await load(['a', 'b', 'c', 'd'].map(name => small(name)))
  expect(loaded).toEqual([['c']])
  expect({ read, ...job }).toMatchObject({ read: 4, objects: 4, ranges: 2 })
  // The groups stay, although nothing is new.
  expect(await load(['a', 'b', 'c', 'd'].map(name => small(name)))).toMatchObject({ read: 4, job: { ranges: 2 } })
  expect(loaded).toEqual([])
})

test('an input that has failed and is corrected is loaded as it is now, and its old range is gone', async () => {
  const { queue, load } = world()
  queue.fails = fails('b', 1)
  expect((await load([small('a'), small('b')])).failure?.code).toBe('JOB_RANGES_FAILED')
  const { failure: why, read, job } = await load([small('a'), small('b', 2)])
  expect(why).toBeUndefined()
  expect({ read, ...job }).toMatchObject({ read: 2, objects: 2, ranges: 1, failed: [] })
  expect(queue.size).toBe(1)
})

test('an input that has failed and is removed fails no more', async () => {
  const { queue, load } = world()
  queue.fails = fails('b', 1)
  await load([small('a'), small('b')])
  expect(await load([small('a')])).toMatchObject({ failure: undefined, read: 1, job: { objects: 1, failed: [] } })
})

test('a range that has failed and is still in the plan is loaded again', async () => {
  const { queue, load, loaded } = world()
  queue.fails = fails('a', 1)
  await load([small('a')])
  queue.fails = () => undefined
  expect(await load([small('a')])).toMatchObject({ failure: undefined, read: 1 })
  expect(loaded).toEqual([['a']])
})

test('a group of which an input was replaced no longer counts, and the others of it are planned again', async () => {
  const { queue, load } = world()
  await load([small('a'), small('b'), { ...small('big'), size: 150, canBeCut: true }])
  const before = queue.ids
  const { read, job } = await load([small('a', 2), small('b'), { ...small('big'), size: 150, canBeCut: true }])
  expect({ read, ...job }).toMatchObject({ read: 4, objects: 3, ranges: 4 })
  // Both ranges of the large input stay.
  expect(queue.ids.filter(id => before.includes(id))).toHaveLength(2)
})

test('an object that was loaded into another index is loaded again', async () => {
  const { load, loaded } = world()
  await load([small('a')])
  await load([small('a')], 'logs-2')
  expect(loaded).toEqual([['a']])
})

const shard = (numbers: number, size = numbers): FoundInput => ({
  name: 'elasticsearch:orders',
  identity: 'shard 0 abc',
  size,
  numbers,
  canBeCut: true,
})

test('a shard with new documents is planned again only behind the last span, however large documents are now', async () => {
  const { load, loaded } = world()
  await load([shard(250)])
  expect(loaded).toEqual([['0-100'], ['100-200'], ['200-250']])
  expect(await load([shard(390, 39_000)])).toMatchObject({ failure: undefined, job: { objects: 1 } })
  expect(loaded[0]).toEqual(['250-251'])
  expect(loaded.at(-1)).toEqual(['389-390'])
  await load([shard(390)])
  expect(loaded).toEqual([])
})

test('a span that has failed is planned again between those that are loaded', async () => {
  const { queue, load, loaded } = world()
  queue.fails = ({ inputs }) => (inputs[0]?.from === 100 ? failure('INPUT_NOT_FOUND', { input: 'x' }) : undefined)
  expect((await load([shard(300)])).failure?.code).toBe('JOB_RANGES_FAILED')
  queue.fails = () => undefined
  // As if documents were smaller now.
  expect(await load([shard(300, 100)])).toMatchObject({ failure: undefined, job: { ranges: 3, failed: [] } })
  expect(loaded).toEqual([['100-200']])
})

test('another index of the same name shares no span with it', async () => {
  const { queue, load, loaded } = world()
  await load([shard(100)])
  await load([{ ...shard(100), identity: 'shard 0 def' }])
  expect(loaded).toEqual([['0-100']])
  expect(queue.size).toBe(1)
})
