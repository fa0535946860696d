/** Divides the rate of a job among the requests that it may send at once, so that all workers together keep it. */
import type { MaxRate } from '../../../options/ingest-options.js'

/** The least that one request can be limited to, for each second. */
const LEAST_BYTES = 1000

/** Returns how many requests at once a rate is enough for. */
export function mostSharing(rate: MaxRate | undefined): number {
  if (rate === undefined) return Infinity
  return 'bytes' in rate ? Math.max(1, Math.floor(rate.bytes / LEAST_BYTES)) : rate.documents
}

/** Returns the rate of one request, if `sharing` of them are sent at once. */
export function rateShare(rate: MaxRate, sharing: number): MaxRate {
  return 'bytes' in rate
    ? { bytes: Math.max(LEAST_BYTES, Math.floor(rate.bytes / sharing)) }
    : { documents: Math.max(1, Math.floor(rate.documents / sharing)) }
}
