import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { dispatchRanges } from '../../../../../src/programs/jobs/control/dispatch-ranges.js'
import type { JobData } from '../../../../../src/programs/jobs/job.js'
import type { FoundInput } from '../../../../../src/features/ranges/range-load.js'
import type { LoadingElsewhere } from '../../../../../src/run/loop/hooks.js'
import { stopSignalsOf } from '../../../../../src/run/loop/stop-signals.js'
import { systemClock } from '../../../../../src/base/time/clock.js'
import { QueueInMemory } from '../../../../support/load/queue-in-memory.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const data: JobData = {
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
}

const OBJECTS = 30_000

/** One job of very many small objects, which workers load as soon as they are on the queue. */
function world(look: () => Promise<ReturnType<typeof failure> | undefined>) {
  const queue = new QueueInMemory()
  let listed = 0
  const find = async function* (): AsyncGenerator<FoundInput> {
    for (; listed < OBJECTS; listed += 1) {
      await Promise.resolve()
      yield { name: `/in/${listed}`, size: 1, identity: 'file 1 1 abc', canBeCut: false }
    }
  }
  let planned = 0
  const dispatch = dispatchRanges({
    data,
    find,
    ranges: queue.asQueue,
    job: 'logs',
    seal: noSeal,
    planned: async ({ objects }) => {
      planned = objects
      await Promise.resolve()
    },
    began: async () => {
      await Promise.resolve()
    },
    look,
    lost: () => undefined,
    stop: async () => {
      await Promise.resolve()
    },
    patient: async work => await work(),
  })
  const none = () => undefined
  const ledger = { begin: none, end: none, book: none, overLimit: none, isOverLimit: none }
  const load = async () => {
    const unlimited = {
      signal: undefined,
      timeBudgetMs: undefined,
      startedAt: undefined,
      byteBudget: undefined,
      graceMs: 0,
    }
    using stop = stopSignalsOf(unlimited, systemClock)
    const loading: LoadingElsewhere = { inputs: [], ledger, stop, tell: none }
    await dispatch.feature(loading)
    return await dispatch.loadElsewhere?.(loading)
  }
  return { queue, load, listed: () => listed, planned: () => planned }
}

test('workers get the first range before the last object is found, and pages stay small', async () => {
  const { queue, load, listed, planned } = world(async () => await Promise.resolve(undefined))
  const atFirst: number[] = []
  queue.added = page => {
    atFirst.push(listed())
    expect(page.reduce((sum, { inputs }) => sum + inputs.length, 0)).toBeLessThanOrEqual(10_000)
  }
  expect(await load()).toEqual({ bytesRead: OBJECTS })
  expect(atFirst[0]).toBeLessThan(OBJECTS / 2)
  expect(planned()).toBe(OBJECTS)
  // Each page holds few inputs when receipts are read, too.
  expect(Math.max(...queue.read)).toBeLessThanOrEqual(20)
})

test('a job whose last ranges tell it to stop when no range is left ends with their reason', async () => {
  let looks = 0
  const spent = failure('BYTE_BUDGET_SPENT', { budget: 9, used: 8, needed: 2, settled: 0 })
  // Workers tell it after the last page is planned.
  const { load } = world(async () => await Promise.resolve((looks += 1) > OBJECTS / 10_000 ? spent : undefined))
  const loaded = await load()
  expect(loaded?.failure).toMatchObject({ code: 'BYTE_BUDGET_SPENT', evidence: { settled: OBJECTS } })
})

test('a job that is cancelled while it is planned finds no more objects, and is not planned', async () => {
  const { queue, load, listed, planned } = world(
    async () => await Promise.resolve(failure('JOB_CANCELLED', { job: 'x' })),
  )
  const loaded = await load()
  expect(loaded?.failure?.code).toBe('JOB_CANCELLED')
  expect(queue.size).toBe(10)
  expect(listed()).toBeLessThan(OBJECTS / 2)
  expect(planned()).toBe(0)
})
