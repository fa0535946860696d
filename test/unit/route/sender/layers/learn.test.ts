import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { Learning, learn } from '../../../../../src/route/sender/layers/learn.js'
import { type Verdict, STOPPING } from '../../../../../src/route/sender/send.js'
import { HeldClock } from '../../../../support/load/held-clock.js'
import { bulkRequest, done, lowerLayer } from '../../../../support/load/bulk-request.js'

const lost: Verdict = {
  kind: 'wait',
  failure: failure('CLUSTER_UNAVAILABLE', { cluster: 'c', observed: 'status 502' }),
  delivery: 'possible',
}
const tooLarge: Verdict = {
  kind: 'split',
  refusal: { status: 413, type: 'request_too_large', reason: 'large' },
  delivery: 'none',
}

function learning(givenUp?: AbortSignal): Learning {
  const clock = new HeldClock()
  return new Learning({ concurrency: 4, batchBytes: 1_000_000, clock, ...(givenUp === undefined ? {} : { givenUp }) })
}

test('counts requests, accepted ones, and those lost in a row', async () => {
  const all = learning()
  const request = await bulkRequest()
  for (const verdict of [lost, lost]) expect(await learn(all, lowerLayer(verdict))(request)).toBe(verdict)
  expect([all.requests, all.accepted, all.lostInARow, all.learnt]).toEqual([2, 0, 2, undefined])
  await learn(all, lowerLayer(done))(request)
  expect([all.requests, all.accepted, all.lostInARow]).toEqual([3, 1, 0])
  await learn(all, lowerLayer(STOPPING))(request)
  expect([all.accepted, all.lostInARow]).toEqual([1, 0])
})

test('a lost request halves the number under way, a body that is too large halves the next one', async () => {
  const all = learning()
  const request = await bulkRequest()
  const { allowed } = all.limit
  await learn(all, lowerLayer(lost))(request)
  expect(all.limit.allowed).toBe(allowed / 2)
  const bytes = Buffer.alloc(400_000)
  await learn(all, lowerLayer(tooLarge))({ ...request, body: { ...request.body, bytes } })
  expect(all.bodySize.next).toBe(200_000)
})

test('bodies are small while the cluster rejects more than a quarter of their documents', async () => {
  const all = learning()
  const request = await bulkRequest()
  const body = { ...request.body, items: 4 }
  const refusing = (documents: number): Verdict => {
    const refused = Array.from({ length: documents }, (_, item) => ({ item, status: 400, type: 'a', reason: 'b' }))
    return {
      kind: 'done',
      settled: { created: 4 - documents, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused },
    }
  }
  for (const [documents, limit] of [
    [1, 1_000_000],
    [2, 262_144],
    [0, 1_000_000],
  ] as const) {
    await learn(all, lowerLayer(refusing(documents)))({ ...request, body })
    expect(all.bodyBytes).toBe(limit)
  }
  expect(all.learnt).not.toHaveProperty('bodyBytes')
})

test('bodies are small while the cluster holds more than a quarter of their documents, if these are compared', async () => {
  const request = await bulkRequest()
  const settled = { created: 2, updated: 0, duplicate: 2, skipped: 0, unknown: 0, refused: [] }
  for (const [comparesConflicts, limit] of [
    [true, 262_144],
    [false, 1_000_000],
  ] as const) {
    const all = new Learning({ concurrency: 4, batchBytes: 1_000_000, clock: new HeldClock(), comparesConflicts })
    // Nobody knows yet what the cluster holds.
    expect(all.bodyBytes).toBe(limit)
    await learn(all, lowerLayer(done))(request)
    expect(all.bodyBytes).toBe(1_000_000)
    await learn(all, lowerLayer({ kind: 'done', settled }))({ ...request, body: { ...request.body, items: 4 } })
    expect(all.bodyBytes).toBe(limit)
  }
})

test('verdicts on requests that were given up teach nothing', async () => {
  const all = learning(AbortSignal.abort())
  await learn(all, lowerLayer(lost))(await bulkRequest())
  expect([all.requests, all.lostInARow]).toEqual([1, 0])
})
