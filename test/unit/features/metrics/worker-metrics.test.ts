import { expect, test } from 'vitest'
import { nothing } from '../../../../src/pipeline/ledger/account.js'
import { WorkerMetrics } from '../../../../src/features/metrics/run-metrics.js'

async function valueOf(metrics: WorkerMetrics, series: string): Promise<number | undefined> {
  const line = (await metrics.text()).split('\n').find(one => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

test('counts the ranges of several jobs at the same time, each under its name', async () => {
  const metrics = new WorkerMetrics()
  for (const [job, range] of [
    ['a', '1'],
    ['a', '2'],
    ['b', '1'],
  ] as const) {
    metrics.began(job, range)
    metrics.hear(job, range, { type: 'sent', open: 1, documents: 5, bytes: 100 })
  }
  expect(await valueOf(metrics, 'sluice_ranges_active{sluice_job="a"}')).toBe(2)
  expect(await valueOf(metrics, 'sluice_requests_in_flight{sluice_job="a"}')).toBe(2)
  metrics.hear('a', '1', { type: 'answered', open: 0, documents: 5, ms: 20, bytes: 10, status: 200 })
  metrics.ended('a', '1', 'loaded', { counts: { ...nothing, read: 5, created: 5 }, bytesRead: 90 })
  expect(await valueOf(metrics, 'sluice_requests_in_flight{sluice_job="a"}')).toBe(1)
  expect(await valueOf(metrics, 'sluice_documents_total{sluice_job="a",outcome="created"}')).toBe(5)
  expect(await valueOf(metrics, 'sluice_documents_total{sluice_job="b",outcome="created"}')).toBe(0)
  expect(await valueOf(metrics, 'sluice_ranges_total{sluice_job="a",outcome="loaded"}')).toBe(1)
  expect(await valueOf(metrics, 'sluice_requests_total{sluice_job="a",status="200"}')).toBe(1)
  expect(await valueOf(metrics, 'sluice_bytes_total{sluice_job="a",direction="sent"}')).toBe(200)
})

test('a range that goes back to the queue leaves no open request behind', async () => {
  const metrics = new WorkerMetrics()
  metrics.began('a', '1')
  metrics.hear('a', '1', { type: 'sent', open: 1, documents: 5, bytes: 100 })
  metrics.ended('a', '1', 'returned')
  // A late event of it changes nothing.
  metrics.hear('a', '1', { type: 'sent', open: 1, documents: 5, bytes: 100 })
  expect(await valueOf(metrics, 'sluice_requests_in_flight{sluice_job="a"}')).toBe(0)
  expect(await valueOf(metrics, 'sluice_ranges_total{sluice_job="a",outcome="returned"}')).toBe(1)
})

test('shows how far a job is', async () => {
  const metrics = new WorkerMetrics()
  const ranges = { done: 3, active: 2, waiting: 7, failed: 1 }
  const counts = { ...nothing, read: 9, created: 8, rejected: 1 }
  metrics.stands('a', { ranges, counts, bytes: { read: 30, total: 120 }, limit: 2, isParked: true })
  expect(await valueOf(metrics, 'sluice_job_ranges{sluice_job="a",state="waiting"}')).toBe(7)
  expect(await valueOf(metrics, 'sluice_job_documents{sluice_job="a",outcome="rejected"}')).toBe(1)
  expect(await valueOf(metrics, 'sluice_job_bytes{sluice_job="a",part="total"}')).toBe(120)
  expect(await valueOf(metrics, 'sluice_job_limit{sluice_job="a"}')).toBe(2)
  expect(await valueOf(metrics, 'sluice_job_parked{sluice_job="a"}')).toBe(1)
})

test('keeps the series of the last jobs only', async () => {
  const metrics = new WorkerMetrics()
  for (let job = 0; job < 60; job += 1) {
    metrics.began(`j${job}`, '1')
    metrics.hear(`j${job}`, '1', { type: 'answered', open: 0, documents: 1, ms: 1, bytes: 1, status: 200 })
    metrics.ended(`j${job}`, '1', 'loaded')
  }
  // Series go in turns of their own.
  await new Promise(setImmediate)
  const jobs = new Set([...(await metrics.text()).matchAll(/sluice_job="(\w+)"/g)].map(([, job]) => job))
  expect(jobs).toEqual(new Set(Array.from({ length: 50 }, (_, n) => `j${n + 10}`)))
})
