/** Reads how a range ended from its place on the queue. */
import type { Job } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'
import type { RangeReceipt } from '../job.js'

export type RangeEnd = Omit<RangeReceipt, 'host'> & { readonly host?: string }

const none: RangeEnd = {
  counts: nothing,
  rejections: [],
  bytes: { read: 0, sent: 0, received: 0 },
  requests: 0,
  retries: 0,
  elapsedMs: 0,
}

/** A range that failed has its receipt as text in the place of the error. BullMQ itself writes others there. */
export function endOfRange({ returnvalue, failedReason }: Pick<Job, 'returnvalue' | 'failedReason'>): RangeEnd {
  if (isReceipt(returnvalue)) return returnvalue
  const written = failedReason === undefined ? undefined : readReceipt(failedReason)
  return written ?? { ...none, failure: lost(failedReason ?? 'it has no receipt') }
}

/** Returns a failed range's receipt as an error that the queue keeps. */
export function asError(receipt: RangeReceipt): string {
  return JSON.stringify(receipt)
}

function readReceipt(text: string): RangeEnd | undefined {
  if (!text.startsWith('{')) return undefined
  const parsed = parseJson(text)
  return isReceipt(parsed) ? parsed : undefined
}

function isReceipt(value: unknown): value is RangeReceipt {
  return isObject(value) && isObject(value['counts']) && isObject(value['bytes'])
}

function lost(problem: string): Failure {
  return failure('JOB_RANGE_LOST', { problem })
}
