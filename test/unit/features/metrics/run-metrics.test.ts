import { expect, test } from 'vitest'
import { failure } from '../../../../src/base/failure/failure.js'
import { nothing } from '../../../../src/pipeline/ledger/account.js'
import { RunMetrics } from '../../../../src/features/metrics/run-metrics.js'

const late = failure('CLUSTER_OVERLOADED', { cluster: 'c', reason: 'busy' })

async function linesOf(metrics: RunMetrics): Promise<string[]> {
  return (await metrics.text()).split('\n').filter(line => line.startsWith('sluice_'))
}

test('counts documents, bytes, requests and retries', async () => {
  const metrics = new RunMetrics({ sluice_job: 'orders' })
  metrics.hear({ type: 'sent', open: 1, documents: 3, bytes: 90 })
  metrics.hear({ type: 'sent', open: 2, documents: 2, bytes: 10 })
  metrics.hear({ type: 'answered', open: 1, documents: 3, ms: 30, bytes: 40, status: 200 })
  metrics.hear({ type: 'answered', open: 0, documents: 2, ms: 3000, bytes: 0, code: 'CLUSTER_UNAVAILABLE' })
  metrics.hear({ type: 'retry', failure: late, documents: 2, waitMs: 1 })
  metrics.hear({ type: 'progress', counts: { ...nothing, read: 3, created: 2, notFound: 1 }, bytesRead: 50 })
  metrics.hear({ type: 'progress', counts: { ...nothing, read: 5, created: 4, notFound: 1 }, bytesRead: 70 })
  const lines = await linesOf(metrics)
  expect(lines).toEqual(
    expect.arrayContaining([
      'sluice_documents_total{outcome="created",sluice_job="orders"} 4',
      'sluice_documents_total{outcome="not_found",sluice_job="orders"} 1',
      'sluice_documents_total{outcome="rejected",sluice_job="orders"} 0',
      'sluice_input_bytes_total{sluice_job="orders"} 70',
      'sluice_bytes_total{direction="sent",sluice_job="orders"} 100',
      'sluice_bytes_total{direction="received",sluice_job="orders"} 40',
      'sluice_requests_total{status="200",sluice_job="orders"} 1',
      'sluice_requests_total{status="none",sluice_job="orders"} 1',
      'sluice_retries_total{cause="CLUSTER_OVERLOADED",sluice_job="orders"} 1',
      'sluice_requests_in_flight{sluice_job="orders"} 0',
      'sluice_request_duration_seconds_bucket{le="0.05",sluice_job="orders"} 1',
      'sluice_request_duration_seconds_count{sluice_job="orders"} 2',
    ]),
  )
})

test('counts the time of a wait for access once', async () => {
  const metrics = new RunMetrics()
  const blocked = { type: 'blocked', failure: late, since: '', leftMs: 0, nextProbeMs: 0 } as const
  metrics.hear({ ...blocked, waitedMs: 0 })
  metrics.hear({ ...blocked, waitedMs: 4000 })
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining(['sluice_access_wait_seconds_total 4', 'sluice_access_lost 1']),
  )
  metrics.hear({ type: 'unblocked', failure: late, waitedMs: 5000 })
  metrics.hear({ ...blocked, waitedMs: 1000 })
  metrics.hear({ type: 'unblocked', failure: late, waitedMs: 1000 })
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining(['sluice_access_wait_seconds_total 6', 'sluice_access_lost 0']),
  )
})

test('a run that begins again, with counts from 0, takes nothing back', async () => {
  const metrics = new RunMetrics()
  for (const created of [5, 0, 2]) metrics.counted({ ...nothing, read: created, created })
  expect(await linesOf(metrics)).toContain('sluice_documents_total{outcome="created"} 7')
})

test('a gauge has no value before somebody sets it', async () => {
  const metrics = new RunMetrics()
  const gauge = metrics.gauge('last_success_timestamp_seconds', 'When.')
  expect(await metrics.text()).not.toMatch(/^sluice_last_success/m)
  gauge.set(3)
  expect(await linesOf(metrics)).toContain('sluice_last_success_timestamp_seconds 3')
})

test('shows what is missing as soon as a warning says so', async () => {
  const metrics = new RunMetrics()
  expect(await metrics.text()).not.toMatch(/^sluice_(?:unreplayed|input_gaps)/m)
  metrics.missing({ unreplayed: 0, gaps: 0 })
  metrics.hear({ type: 'warning', message: 'm', missing: { unreplayed: 40 } })
  metrics.hear({ type: 'warning', message: 'm' })
  expect(await linesOf(metrics)).toEqual(
    expect.arrayContaining(['sluice_unreplayed_documents 40', 'sluice_input_gaps 0']),
  )
  metrics.hear({ type: 'warning', message: 'm', missing: { gaps: 2 } })
  expect(await linesOf(metrics)).toContain('sluice_input_gaps 2')
})
