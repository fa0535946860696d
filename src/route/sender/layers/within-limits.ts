/** The layers that keep requests within the limits of a run: its bytes, and its rates. */
import { type Send, STOPPING } from '../send.js'
import type { ByteBudget, TokenBucket } from './limits.js'

/** The last check before a request is sent. The request may have waited long in this layer or above. */
export function budget(limit: ByteBudget | undefined, halted: AbortSignal, inner: Send): Send {
  return async request => {
    const { items, bytes } = request.body
    const sent = request.wire?.bytes ?? bytes
    const admission = await limit?.admit({ items, sent: sent.length, framed: bytes.length })
    try {
      if (halted.aborted || (limit !== undefined && admission === undefined)) return STOPPING
      if (request.isHeld?.() === true) return { kind: 'notSent', because: 'noAccess' }
      return await inner(admission === undefined ? request : { ...request, answered: admission.answered })
    } finally {
      admission?.leave()
    }
  }
}

/** Holds a request back until every bucket lets it pass. */
export function spread(buckets: readonly TokenBucket[], halted: AbortSignal, inner: Send): Send {
  if (buckets.length === 0) return inner
  return async request => {
    const { body, batch, wire } = request
    for (const bucket of buckets) await bucket.take(batch, (wire?.bytes ?? body.bytes).length, halted)
    return await inner(request)
  }
}
