import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'

/** What a beginning that failed is called: an interruption where the signal came. */
export function cutShort(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted !== true) return error
  const reason: unknown = signal.reason
  return new SluiceError(
    failure('RUN_INTERRUPTED', { reason: typeof reason === 'string' ? reason : 'aborted', settled: 0 }),
  )
}
