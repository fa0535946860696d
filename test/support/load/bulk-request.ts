import type { Batch } from '../../../src/base/flow.js'
import type { BulkRequest, Send, Verdict } from '../../../src/route/sender/send.js'
import { batchOf } from './sender-batch.js'

/** Makes the first request for a batch of two documents. */
export async function bulkRequest(more: Partial<BulkRequest> = {}): Promise<BulkRequest & { readonly batch: Batch }> {
  const batch = await batchOf(['{"n":0}', '{"n":1}'])
  const body = { bytes: batch.bytes, items: batch.docs, first: 0 }
  return { body, batch, history: { resent: false, doubtful: false }, ...more }
}

/** Returns a lower layer that keeps what it was sent, and answers as told. */
export function lowerLayer(answer: Verdict = done): Send & { readonly requests: BulkRequest[] } {
  const requests: BulkRequest[] = []
  const send: Send = async request => {
    requests.push(request)
    return await Promise.resolve(answer)
  }
  return Object.assign(send, { requests })
}

export const done: Verdict = {
  kind: 'done',
  settled: { created: 2, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused: [] },
}
