import type { FailureCode } from './catalogue.js'
import { type EvidenceOf, failure } from './failure.js'
import { SluiceError } from './sluice-error.js'

/** Returns the error to throw for a failure: its code, and what was seen. */
export function fail<C extends FailureCode, Receipt = unknown>(
  code: C,
  evidence: EvidenceOf<C>,
  options: { cause?: unknown; receipt?: Receipt } = {},
): SluiceError<Receipt> {
  return new SluiceError(failure(code, evidence), options)
}
