import type { Failure } from './failure.js'
import type { FailureCode } from './catalogue.js'

const brand = Symbol.for('sluice.error')

/**
 * The only error class that Sluice throws. Compare `code`, not the class, because two copies of the package may be
 * installed. `failure` is the whole finding, `cause` the error below it. `receipt` (only from `ingest`) shows what
 * was done before the run stopped.
 */
export class SluiceError<Receipt = unknown> extends Error {
  override readonly name = 'SluiceError'
  readonly failure: Failure
  readonly receipt: Receipt | undefined
  readonly [brand] = true

  constructor(failure: Failure, options: { cause?: unknown; receipt?: Receipt } = {}) {
    super(failure.message, options.cause === undefined ? undefined : { cause: options.cause })
    this.failure = failure
    this.receipt = options.receipt
  }

  get code(): FailureCode {
    return this.failure.code
  }
}

/** Whether an error is a SluiceError, of this copy of the package or another. */
export function isSluiceError(error: unknown): error is SluiceError {
  return typeof error === 'object' && error !== null && brand in error
}
