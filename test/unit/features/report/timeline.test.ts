import { expect, test } from 'vitest'
import { addDuration, quantile } from '../../../../src/features/report/histogram.js'
import { timeColumns, joinParts } from '../../../../src/features/report/parts-of-time.js'
import { MOST_BUCKETS, Timeline } from '../../../../src/features/report/timeline.js'

const began = '2026-11-21T10:00:00.000Z'

test('an event is counted in the bucket of its time', () => {
  const timeline = new Timeline(began)
  timeline.sent(10, 1, 500)
  timeline.sent(20, 2, 300)
  timeline.answered(120, 1, 110, false)
  timeline.settled(130, 90, 10)
  timeline.retried(300, 'CLUSTER_OVERLOADED')
  timeline.answered(400, 0, 380, true)
  const { bucketMs, buckets, lengthMs } = timeline.samples(600)
  expect([bucketMs, buckets.length, lengthMs]).toEqual([250, 3, 600])
  const [first, second, third] = buckets
  // One request for 10 ms, two for 100 ms, one for the rest.
  expect(first).toMatchObject({
    taken: 90,
    rejected: 10,
    requests: 2,
    bytes: 800,
    refused: 0,
    openMs: 340,
    mostOpen: 2,
  })
  expect(second).toMatchObject({
    requests: 0,
    refused: 1,
    retries: { CLUSTER_OVERLOADED: 1 },
    openMs: 150,
    mostOpen: 1,
  })
  expect(third).toMatchObject({ openMs: 0, mostOpen: 0 })
  expect(quantile(first?.answered ?? [], 0.5)).toBeCloseTo(110, -1.2)
})

test('a run of ten hours takes as many buckets as one of a minute, and loses no document', () => {
  const timeline = new Timeline(began)
  const hours = 10
  for (let second = 0; second < hours * 3600; second += 1) {
    timeline.sent(second * 1000, 1, 100)
    timeline.answered(second * 1000 + 500, 0, 500, false)
    timeline.settled(second * 1000 + 500, 7, 1)
  }
  const samples = timeline.samples(hours * 3_600_000)
  expect(samples.buckets.length).toBeLessThanOrEqual(MOST_BUCKETS)
  expect(samples.buckets.length).toBeGreaterThan(MOST_BUCKETS / 2)
  const { sums } = joinParts(timeColumns(samples))
  expect(sums).toMatchObject({ taken: 252_000, rejected: 36_000, requests: 36_000, openMs: 18_000_000, mostOpen: 1 })
  expect(JSON.stringify(samples).length).toBeLessThan(40_000)
})

test('a process that continues the run begins where the last one ended, and ends its wait', () => {
  const first = new Timeline(began)
  first.settled(100, 5, 0)
  first.blocked(400, 'EGRESS_NOT_ALLOWED')
  const earlier = first.samples(900)
  const later = '2026-11-22T10:00:00.000Z'
  const second = new Timeline(later, earlier)
  second.settled(1000, 3, 0)
  const { waits, processes, buckets, lengthMs } = second.samples(1200)
  expect(waits).toEqual([{ code: 'EGRESS_NOT_ALLOWED', from: 400, to: 900 }])
  expect(processes).toEqual([
    { at: 0, began },
    { at: 900, began: later },
  ])
  expect([lengthMs, buckets.reduce((sum, { taken }) => sum + taken, 0)]).toEqual([1200, 8])
})

test('waits and processes are listed up to a number, and counted beyond', () => {
  let samples = new Timeline(began).samples(0)
  for (let day = 1; day <= 100; day += 1) {
    const timeline = new Timeline(`day ${day}`, samples)
    timeline.blocked(day * 10, 'PROXY_TIMEOUT')
    timeline.blocked(day * 10 + 1, 'PROXY_TIMEOUT')
    timeline.unblocked(day * 10 + 2)
    samples = timeline.samples(day * 10 + 2)
  }
  expect([samples.waits.length + samples.moreWaits, samples.waits.length]).toEqual([100, 40])
  expect(samples.processes).toHaveLength(40)
  expect([samples.processes[0]?.began, samples.processes.at(-1)?.began]).toEqual([began, 'day 100'])
})

test('a time that runs backwards counts as now', () => {
  const timeline = new Timeline(began)
  timeline.settled(1000, 1, 0)
  timeline.settled(10, 1, 0)
  expect(timeline.samples(0)).toMatchObject({ lengthMs: 1000 })
})

test('quantiles of durations are at most a tenth off', () => {
  const histogram: number[] = []
  for (let ms = 1; ms <= 10_000; ms += 1) addDuration(histogram, ms)
  for (const [part, ms] of [
    [0.01, 100],
    [0.5, 5000],
    [0.95, 9500],
  ] as const)
    expect(Math.abs((quantile(histogram, part) ?? 0) / ms - 1)).toBeLessThan(0.1)
  expect(histogram.length / 2).toBeLessThan(60)
  expect(quantile([], 0.5)).toBeUndefined()
})
