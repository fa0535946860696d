/** Reads how a range ended from its place on the queue. */
import type { Job } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import { parseJson } from '../../../base/json/parse-json.js'
import type { RangeData, RangeReceipt } from '../job.js'
import { visible } from '../../../base/text/shown.js'
import { isRange, isReceipt } from '../queue/check-entry.js'
import { macOf, type Seal } from '../queue/seal.js'

export type RangeEnd = Omit<RangeReceipt, 'host'> & { readonly host?: string }

const none: RangeEnd = {
  counts: nothing,
  rejections: [],
  bytes: { read: 0, sent: 0, received: 0 },
  requests: 0,
  retries: 0,
  elapsedMs: 0,
}

/** The failure of a range that somebody else wrote. */
export const CHANGED = 'it is not as the coordinator of the job wrote it'

/** The job that a range belongs to. */
export interface OfJob {
  readonly job: string
  readonly seal: Seal
}

type Ended = Pick<Job<RangeData>, 'id' | 'data' | 'returnvalue' | 'failedReason'>

/** A range that failed has its receipt as text in the place of the error. BullMQ itself writes others there. */
export function endOfRange(range: Ended, of: OfJob): RangeEnd {
  const { returnvalue, failedReason } = range
  if (!isOurs(range, of)) return { ...none, failure: lost(CHANGED) }
  if (isOurReceipt(range, of, returnvalue)) return returnvalue
  const written = failedReason?.startsWith('{') === true ? parseJson(failedReason) : undefined
  if (isOurReceipt(range, of, written)) return written
  return { ...none, failure: lost(visible((failedReason ?? 'it has no receipt').slice(0, SHOWN))) }
}

/** Returns whether the coordinator of the job put the range on the queue, as it is now. */
export function isOurs({ id = '', data }: Pick<Job<RangeData>, 'id' | 'data'>, { job, seal }: OfJob): boolean {
  return isRange(id, data) && seal.fits('range', [job, id], data)
}

/**
 * Returns whether somebody without the key changed a range, or says that it is loaded. A failure counts whoever says so, because BullMQ
 * writes some itself. Without a key, only the shape shows it.
 */
export function isForged(range: Ended, of: OfJob): boolean {
  const { returnvalue, failedReason } = range
  const isLoaded = (returnvalue ?? undefined) !== undefined
  return !isOurs(range, of) || (isLoaded && failedReason === undefined && !isOurReceipt(range, of, returnvalue))
}

/** Returns a receipt as the queue keeps it. It belongs to one range with one content. */
export function asReceipt({ id = '', data }: Pick<Job<RangeData>, 'id' | 'data'>, of: OfJob, receipt: RangeReceipt) {
  return of.seal.sign('receipt', [of.job, id, macOf(data)], receipt)
}

/** Returns a failed range's receipt as an error that the queue keeps. */
export function asError(range: Pick<Job<RangeData>, 'id' | 'data'>, of: OfJob, receipt: RangeReceipt): string {
  return JSON.stringify(asReceipt(range, of, receipt))
}

function isOurReceipt({ id = '', data }: Ended, { job, seal }: OfJob, receipt: unknown): receipt is RangeReceipt {
  return isReceipt(receipt) && seal.fits('receipt', [job, id, macOf(data)], receipt)
}

/** Characters of a text from the queue that a message shows. */
const SHOWN = 300

function lost(problem: string): Failure {
  return failure('JOB_RANGE_LOST', { problem })
}
