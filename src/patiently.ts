import { explain } from './failure/catalogue.js'
import { type Failure, failure } from './failure/failure.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import type { Clock } from './flow.js'
import { backoffMs } from './sender/backoff.js'

export interface Patience {
  /** How long one step may fail in a way that may pass. */
  readonly maxElapsedMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
  onRetry(failure: Failure, waitMs: number): void
}

/**
 * Takes a step, again and again while what is in its way may pass: it has to be one that may be repeated.
 * Throws SluiceError: what the step throws, or RUN_INTERRUPTED.
 */
export async function patiently<T>(patience: Patience, step: () => Promise<T>): Promise<T> {
  const { maxElapsedMs, clock, random, signal, onRetry } = patience
  const began = clock.now()
  for (let refusals = 1; ; refusals += 1) {
    stopIfAborted(signal)
    try {
      return await step()
    } catch (error) {
      const mayPass = isSluiceError(error) && explain(error.code).retry === 'later'
      const waitMs = backoffMs(refusals, random)
      if (!mayPass || clock.now() + waitMs - began > maxElapsedMs) throw error
      onRetry(error.failure, waitMs)
      await clock.sleep(waitMs, signal).catch(() => undefined)
    }
  }
}

function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return
  const reason: unknown = signal.reason
  const told = typeof reason === 'string' ? reason : 'aborted by the caller'
  throw new SluiceError(failure('RUN_INTERRUPTED', { reason: told, settled: 'all' }))
}
