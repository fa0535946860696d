import { describe, expect, test } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import { AdaptiveLimit } from '../../../../src/route/sender/adaptive-limit.js'
import { seeded } from '../../../support/random/seeded.js'
import { type Seen, type Simulated, rateOf, simulate } from '../../../support/load/simulated-cluster.js'

const MB_PER_S = 1000

const setting: Simulated = {
  most: 16,
  latencyMs: 75,
  rate: 2000 * MB_PER_S,
  readRate: 900 * MB_PER_S,
  random: seeded(1),
  forMs: 20_000,
}

const highest = ({ limits }: Seen) => Math.max(...limits.map(({ allowed }) => allowed))
const lowest = ({ limits }: Seen) => Math.min(...limits.map(({ allowed }) => allowed))

describe('the limit', () => {
  test('doubles until the latency is filled, within a few round trips', () => {
    const seen = simulate(setting)
    expect(seen.limits.map(({ allowed }) => allowed)).toEqual([2, 4, 8, 16])
    expect(seen.limits.at(-1)?.at).toBeLessThan(10 * setting.latencyMs)
    const best = simulate({ ...setting, fixed: true })
    expect(rateOf(seen, 1000, 20_000)).toBeGreaterThan(0.95 * rateOf(best, 1000, 20_000))
    expect(rateOf(seen, 0, 5000)).toBeGreaterThan(350 * MB_PER_S)
  })

  test('is never more than the most, which may be one', () => {
    expect(highest(simulate({ ...setting, most: 5 }))).toBe(5)
    expect(simulate({ ...setting, most: 1 }).limits).toEqual([{ at: 0, allowed: 1 }])
  })

  test('stays where it is when the reader is what takes the time', () => {
    for (const latencyMs of [0, 1]) expect(highest(simulate({ ...setting, latencyMs }))).toBe(2)
    expect(highest(simulate({ ...setting, readRate: 50 * MB_PER_S }))).toBe(2)
  })

  test('goes back when more brings nothing, and tries again ever more rarely', () => {
    const seen = simulate({ ...setting, latencyMs: 5, rate: 100 * MB_PER_S, forMs: 60_000 })
    expect(highest(seen)).toBe(4)
    const trials = seen.limits.filter(({ allowed }) => allowed === 4).map(({ at }) => at)
    const apart = trials.slice(1).map((at, trial) => Math.round(at - (trials[trial] ?? 0)))
    expect(apart).toEqual(apart.toSorted((one, other) => one - other))
    expect(apart.at(-1)).toBeGreaterThan(6 * (apart[0] ?? Infinity))
  })

  test('is halved once for all that was under way when the cluster refused, and then rises one by one', () => {
    const limit = new AdaptiveLimit(16)
    const clock = { now: 0 }
    grow(limit, clock, 8)
    const sentAt = clock.now
    clock.now += 75
    for (let refusal = 0; refusal < 8; refusal += 1) limit.refused(sentAt, clock.now)
    expect(limit.allowed).toBe(4)
    limit.refused(clock.now, clock.now + 75)
    expect(limit.allowed).toBe(2)
    clock.now += 75
    const seen = [limit.allowed]
    for (let round = 0; round < 40; round += 1) {
      answerRound(limit, clock)
      if (limit.allowed !== seen.at(-1)) seen.push(limit.allowed)
    }
    expect(seen.slice(0, 4)).toEqual([2, 3, 4, 5])
  })

  test('begins where an earlier run ended, but never above the most', () => {
    expect(new AdaptiveLimit(16, 8).allowed).toBe(8)
    expect(new AdaptiveLimit(4, 8).allowed).toBe(4)
    const limit = new AdaptiveLimit(16, 8)
    limit.refused(0, 75)
    expect(limit.allowed).toBe(4)
  })

  test('leaves what was found worth it, not what is being tried', () => {
    const limit = new AdaptiveLimit(16)
    grow(limit, { now: 0 }, 8)
    expect(limit.learnt).toBe(4)
    expect(new AdaptiveLimit(16, 8).learnt).toBe(8)
  })

  test('comes down to one and not further', () => {
    const limit = new AdaptiveLimit(16)
    for (let at = 0; at < 10; at += 1) limit.refused(at, at)
    expect(limit.allowed).toBe(1)
  })

  test('stays at what the cluster takes, with few refusals', () => {
    for (const takes of [1, 2, 3, 5, 11]) {
      const seen = simulate({ ...setting, takes: () => takes, forMs: 60_000 })
      const best = simulate({ ...setting, most: takes, fixed: true, forMs: 60_000 })
      expect(seen.refusals.length).toBeLessThan(0.03 * seen.answers.length)
      expect(rateOf(seen, 5000, 60_000)).toBeGreaterThan(0.85 * rateOf(best, 5000, 60_000))
    }
  })

  test('recovers after a time in which nothing was taken', () => {
    const takes = (now: number) => (now > 5000 && now < 10_000 ? 0 : Infinity)
    const seen = simulate({ ...setting, takes, forMs: 30_000 })
    expect(seen.limits.findLast(({ at }) => at < 10_000)?.allowed).toBe(1)
    expect(rateOf(seen, 15_000, 30_000)).toBeGreaterThan(0.7 * rateOf(seen, 2000, 5000))
  })
})

test('whatever the cluster, the limit is near the best there is, with few refusals', () => {
  for (let seed = 1; seed <= rounds(100, 3000); seed += 1) {
    const random = seeded(seed)
    const takes = random.chance(0.4) ? 1 + random.below(20) : Infinity
    const one: Simulated = {
      most: 1 + random.below(16),
      latencyMs: random.pick([0, 1, 5, 20, 75, 200]),
      rate: random.pick([20, 100, 500, 2000]) * MB_PER_S,
      readRate: random.pick([50, 400, 900]) * MB_PER_S,
      takes: () => takes,
      jitter: 0.05,
      random,
      forMs: 60_000,
    }
    const seen = simulate(one)
    expect(highest(seen)).toBeLessThanOrEqual(one.most)
    expect(lowest(seen)).toBeGreaterThanOrEqual(1)
    const best = rateOf(simulate({ ...one, most: Math.min(one.most, takes), fixed: true }), 10_000, 60_000)
    const told = JSON.stringify({ seed, ...one, takes, limits: seen.limits })
    expect(rateOf(seen, 10_000, 60_000) / best, told).toBeGreaterThan(0.8)
    expect(seen.refusals.length / seen.answers.length, told).toBeLessThan(0.06)
  }
})

/** Round after round at a latency of 75 ms, each body answered, with a reader that waits, until so many are allowed. */
function grow(limit: AdaptiveLimit, clock: { now: number }, until: number): void {
  limit.waits(clock.now)
  for (let round = 0; limit.allowed < until; round += 1) {
    if (round > 100) throw new Error(`not more than ${limit.allowed} are allowed`)
    answerRound(limit, clock)
  }
}

function answerRound(limit: AdaptiveLimit, clock: { now: number }): void {
  const sentAt = clock.now
  const { allowed } = limit
  clock.now += 75
  for (let answer = 0; answer < allowed; answer += 1) limit.answered(sentAt, 5_000_000, clock.now + answer / 1000)
}
