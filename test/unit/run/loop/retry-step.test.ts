import { describe, expect, test } from 'vitest'
import { type Failure, failure, SluiceError } from '../../../../src/base/failure/failure.js'
import { type StepRetrying, retryStep } from '../../../../src/run/loop/retry-step.js'
import { AccessGate } from '../../../../src/route/sender/layers/access.js'
import { SkippingClock } from '../../../support/load/held-clock.js'

const cluster = 'https://cluster.example'
const filtered = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed: 'Forbidden' })
const bothRefused = failure('EGRESS_NOT_ALLOWED', { cluster, refused: 16, probes: 16, observed: 'Forbidden' })
const mixed = failure('EGRESS_PARTLY_ALLOWED', { how: 'refused', cluster, refused: 3, probes: 6 })
const proxyGone = failure('PROXY_UNREACHABLE', { proxy: 'p', problem: 'refused' })
const busy = failure('CLUSTER_UNAVAILABLE', { cluster, observed: 'status 503' })
const refused = failure('INDEX_REQUEST_REFUSED', { cluster, request: 'PUT /a', status: 400, reason: 'no' })

/** Takes a step that fails with these one after the other, by a gate whose probes see those; undefined: they pass. */
async function take(waitMs: number, failures: readonly Failure[], probes: readonly (Failure | undefined)[] = []) {
  const clock = new SkippingClock()
  const told: string[] = []
  const stop = new AbortController()
  const left = [...failures]
  const seen = [...probes]
  const gate = new AccessGate({
    waitMs,
    clock,
    wallClock: () => 0,
    random: () => 1,
    halted: stop.signal,
    probe: async () => {
      const found = seen.shift()
      if (found !== undefined) throw new SluiceError(found)
      await Promise.resolve()
    },
    renew: async () => await Promise.resolve(undefined),
    onBlocked: ({ failure: { code }, nextProbeMs }) => told.push(`blocked by ${code}, ${nextProbeMs} ms`),
    onUnblocked: ({ code }) => told.push(`unblocked: ${code}`),
  })
  const patience: StepRetrying = {
    maxElapsedMs: 1000,
    gate,
    clock,
    random: () => 1,
    stop: {
      signal: stop.signal,
      why: settled => failure('RUN_INTERRUPTED', { reason: 'test', settled }),
    },
    settled: 7,
    onRetry: ({ code }, waited) => told.push(`${code} again in ${waited} ms`),
  }
  let attempts = 0
  const step = async (): Promise<string> => {
    attempts += 1
    const fails = left.shift()
    if (fails === undefined) return await Promise.resolve('taken')
    if (fails.code === 'RUN_INTERRUPTED') stop.abort()
    throw new SluiceError(fails)
  }
  const result = await retryStep(patience, step).catch((error: unknown) => (error as SluiceError).failure)
  return { result, attempts, told }
}

describe('a step', () => {
  test('is taken again while what is in its way may pass, and for no longer than it may', async () => {
    const again = ['CLUSTER_UNAVAILABLE again in 250 ms', 'CLUSTER_UNAVAILABLE again in 500 ms']
    expect(await take(0, [busy, busy])).toEqual({ result: 'taken', attempts: 3, told: again })
    expect(await take(0, [busy, busy, busy])).toEqual({ result: busy, attempts: 3, told: again })
  })

  test('that is refused for good is not taken again', async () => {
    expect(await take(60_000, [refused])).toEqual({ result: refused, attempts: 1, told: [] })
  })

  test('that is given up with the run is called by its end', async () => {
    const givenUp = failure('RUN_INTERRUPTED', { reason: 'given up', settled: 0 })
    expect(await take(0, [givenUp])).toMatchObject({
      result: { evidence: { reason: 'test', settled: 7 } },
      attempts: 1,
      told: [],
    })
  })
})

describe('access that is lost in a step', () => {
  test('is waited for', async () => {
    expect(await take(60_000, [filtered], [bothRefused, undefined])).toEqual({
      result: 'taken',
      attempts: 2,
      told: ['blocked by EGRESS_NOT_ALLOWED, 5000 ms', 'unblocked: EGRESS_NOT_ALLOWED'],
    })
  })

  test('is named by fresh connections where it is not waited for', async () => {
    expect(await take(0, [filtered], [mixed])).toEqual({ result: mixed, attempts: 1, told: [] })
    const passing = await take(0, [filtered], [undefined])
    expect(passing).toEqual({ result: 'taken', attempts: 2, told: ['unblocked: EGRESS_NOT_ALLOWED'] })
  })

  test('because a proxy is gone is waited for once the step was tried for as long as it may be', async () => {
    const { result, attempts, told } = await take(60_000, [proxyGone, proxyGone, proxyGone], [proxyGone, undefined])
    expect([result, attempts]).toEqual(['taken', 4])
    expect(told).toEqual([
      'PROXY_UNREACHABLE again in 250 ms',
      'PROXY_UNREACHABLE again in 500 ms',
      'blocked by PROXY_UNREACHABLE, 5000 ms',
      'unblocked: PROXY_UNREACHABLE',
    ])
  })
})
