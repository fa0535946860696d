import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { backoffMs } from '../sender/backoff.js'
import type { Ending } from './ending.js'

export interface Patience {
  /** How long one step may fail in a way that may pass. */
  readonly maxElapsedMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly ending: Pick<Ending, 'signal' | 'why'>
  /** Documents that have their outcome, for what an interruption says. */
  readonly settled: number
  onRetry(failure: Failure, waitMs: number): void
}

/**
 * Takes a step, again and again while what is in its way may pass: it has to be one that may be repeated.
 * Throws SluiceError: what the step throws, or why the run ended.
 */
export async function patiently<T>(patience: Patience, step: () => Promise<T>): Promise<T> {
  const { maxElapsedMs, clock, random, ending, settled, onRetry } = patience
  const { signal } = ending
  const began = clock.now()
  for (let refusals = 1; ; refusals += 1) {
    if (signal.aborted) throw new SluiceError(ending.why(settled))
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
