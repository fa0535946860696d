import { expect, test } from 'vitest'
import { type Failure, failure, isSluiceError } from '../../../../src/base/failure/failure.js'
import type { PartStep } from '../../../../src/route/cluster/documents.js'
import { Pace, type PaceOptions } from '../../../../src/programs/verify/pace.js'
import { SkippingClock } from '../../../support/load/held-clock.js'

const overloaded = failure('CLUSTER_OVERLOADED', { cluster: 'c', reason: 'busy' })
const away = failure('CLUSTER_UNAVAILABLE', { cluster: 'c', observed: 'status 503' })
const done = { kind: 'done' } as const

function paceOf(more: Partial<PaceOptions> = {}) {
  const clock = new SkippingClock()
  const options = { most: 8, inFlight: 2, maxElapsedMs: 60_000, clock, wallClock: () => 0, random: () => 1 }
  return { pace: new Pace({ ...options, ...more }), clock }
}

async function failureOf(run: Promise<unknown>): Promise<Failure> {
  try {
    await run
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
  throw new Error('no failure')
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

test('every item is done once, in batches of at most so many, a few at a time', async () => {
  const { pace } = paceOf()
  const parts: number[][] = []
  let most = 0
  let underWay = 0
  await pace.through(upTo(100), async part => {
    most = Math.max(most, ++underWay)
    parts.push([...part])
    await Promise.resolve()
    underWay -= 1
    return done
  })
  expect(parts.flat().toSorted((a, b) => a - b)).toEqual(upTo(100))
  expect(Math.max(...parts.map(part => part.length))).toBe(8)
  expect(most).toBe(2)
})

test('a request that is too large is halved, down to one id. One id that is too large stops it', async () => {
  const { pace, clock } = paceOf({ inFlight: 1 })
  const parts: number[][] = []
  await pace.through(upTo(20), async part => {
    if (part.length > 3) return { kind: 'tooMany', failure: overloaded }
    parts.push([...part])
    return await Promise.resolve(done)
  })
  expect(parts.flat()).toEqual(upTo(20))
  expect(clock.slept).toEqual([])
  const refusing = async (): Promise<PartStep<number>> => await Promise.resolve({ kind: 'tooMany', failure: away })
  expect(await failureOf(pace.through([1, 2], refusing))).toBe(away)
})

test('a busy cluster gets the rest of a request later, and half of it if it has too much to do', async () => {
  const { pace, clock } = paceOf({ inFlight: 1 })
  const asked: number[][] = []
  const answers: PartStep<number>[] = [
    { kind: 'again', left: [2, 3, 4], failure: away },
    { kind: 'again', left: [2, 3, 4], failure: overloaded, headers: { 'retry-after': '7' } },
  ]
  await pace.settle([1, 2, 3, 4], async part => {
    asked.push([...part])
    return await Promise.resolve(answers.shift() ?? done)
  })
  expect(asked).toEqual([[1, 2, 3, 4], [2, 3, 4], [2], [3, 4]])
  expect(clock.slept).toEqual([250, 7000])
})

test('it ends when that goes on for too long, and at once for what time does not change', async () => {
  const { pace, clock } = paceOf({ maxElapsedMs: 5000 })
  const busy = async (part: readonly number[]) =>
    await Promise.resolve({ kind: 'again' as const, left: part, failure: overloaded })
  expect(await failureOf(pace.through([1], busy))).toMatchObject({
    code: 'CLUSTER_OVERLOADED',
    evidence: { elapsedMs: clock.now() },
  })
  expect(clock.now()).toBeGreaterThan(3000)
  let asked = 0
  const refused = async () => {
    asked += 1
    return await Promise.resolve({ kind: 'refused' as const, failure: away })
  }
  expect(await failureOf(pace.through(upTo(100), refused))).toBe(away)
  expect(asked).toBe(2)
})

test('an abort ends it, also in the middle of a wait', async () => {
  const controller = new AbortController()
  const { pace, clock } = paceOf({ signal: controller.signal, inFlight: 1 })
  clock.onSleep = () => controller.abort('SIGINT')
  let asked = 0
  const busy = async (part: readonly number[]) => {
    asked += 1
    return await Promise.resolve({ kind: 'again' as const, left: part, failure: away })
  }
  expect(await failureOf(pace.through(upTo(100), busy))).toMatchObject({
    code: 'RUN_INTERRUPTED',
    evidence: { reason: 'SIGINT' },
  })
  expect(asked).toBe(1)
})
