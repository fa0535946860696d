/** Judges whether a run needs an alarm. */
import type { RunOutcome } from './alarm-options.js'
import type { RunAccount } from './alarm-text.js'
import { explain } from '../failure/catalogue.js'
import { type Failure, failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Receipt } from '../ledger/receipt.js'

/** An error that is none of Sluice's is a bug, or the caller's own. */
export function accountOf({ receipt, error }: RunOutcome): RunAccount {
  if (error === undefined) return { failure: receipt?.failure, receipt }
  // Only `ingest` and `replay` attach a receipt.
  return { failure: failureIn(error), receipt: isSluiceError(error) ? (error.receipt as Receipt | undefined) : receipt }
}

export function failureIn(error: unknown): Failure {
  return isSluiceError(error) ? error.failure : failure('INTERNAL', { problem: String(error) })
}

/** Interrupted or out of budget (5), or another process is at it (6): a later run decides. */
const undecided: readonly number[] = [5, 6]

export function judgeRun(
  { failure: known, receipt }: RunAccount,
  allowRejected: boolean,
): 'failed' | 'good' | 'neither' {
  if (known !== undefined) return undecided.includes(explain(known.code).exit) ? 'neither' : 'failed'
  const { rejected = 0, unknown = 0 } = receipt ?? {}
  return unknown > 0 || (rejected > 0 && !allowRejected) ? 'failed' : 'good'
}
