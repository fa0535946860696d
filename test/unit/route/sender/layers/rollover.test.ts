import { expect, test } from 'vitest'
import type { Body, Verdict } from '../../../../../src/route/sender/send.js'
import { type RolloverOptions, type StreamWatch, rollover } from '../../../../../src/route/sender/layers/rollover.js'
import { bulkRequest, done, lowerLayer } from '../../../../support/load/bulk-request.js'

const there: Verdict = {
  kind: 'there',
  settled: { created: 0, updated: 0, duplicate: 2, skipped: 0, unknown: 0, refused: [] },
  left: [],
}

/** A watch that finds every body it is asked for. */
function watch(options: Pick<RolloverOptions, 'sentBefore' | 'safeToResend' | 'repeatsIds'>) {
  const looked: { fresh: boolean; ownIds: boolean }[] = []
  const look = async (_: Body, fresh: boolean, ownIds: boolean) => {
    looked.push({ fresh, ownIds })
    return await Promise.resolve(there)
  }
  return { looked, stream: { options: { ownIds: true, ...options }, look } as unknown as StreamWatch }
}

test('a first send is not looked up, and takes its history from this process', async () => {
  const { looked, stream } = watch({ sentBefore: false, safeToResend: true })
  const lower = lowerLayer()
  const request = await bulkRequest({ history: { resent: true, doubtful: false } })
  expect(await rollover(stream, lower)(request)).toBe(done)
  expect(lower.requests).toEqual([request])
  expect(looked).toEqual([])
})

test('a send in doubt is looked up, and not sent if it is found', async () => {
  const { looked, stream } = watch({ sentBefore: false, safeToResend: true })
  const lower = lowerLayer()
  expect(await rollover(stream, lower)(await bulkRequest({ history: { resent: true, doubtful: true } }))).toBe(there)
  expect([lower.requests, looked]).toEqual([[], [{ fresh: true, ownIds: true }]])
})

test('if an earlier process may have sent the documents, they are looked up before their first send', async () => {
  const { looked, stream } = watch({ sentBefore: true, safeToResend: true })
  expect(await rollover(stream, lowerLayer())(await bulkRequest())).toBe(there)
  expect(looked).toEqual([{ fresh: false, ownIds: true }])
})

test('if the cluster makes the ids, there is nothing to look up', async () => {
  const { looked, stream } = watch({ sentBefore: true, safeToResend: false })
  const lower = lowerLayer()
  expect(await rollover(stream, lower)(await bulkRequest())).toBe(done)
  expect(looked).toEqual([])
  expect(lower.requests[0]?.history).toEqual({ resent: true, doubtful: true })
})

test('if no other load makes such ids, a first send is not looked up, and a conflict is the same document', async () => {
  const { looked, stream } = watch({ sentBefore: false, safeToResend: true, repeatsIds: true })
  const lower = lowerLayer()
  expect(await rollover(stream, lower)(await bulkRequest())).toBe(done)
  expect(looked).toEqual([])
  expect(lower.requests[0]?.history).toEqual({ resent: true, doubtful: false })
})
