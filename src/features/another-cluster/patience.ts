/** Asks the other cluster again after refusals that may pass. */
import { explain, isSluiceError } from '../../base/failure/failure.js'
import { backoffMs, Retries } from '../../base/time/retry.js'
import { systemClock } from '../../base/time/clock.js'

export interface Patience {
  readonly maxElapsedMs: number
  readonly signal: AbortSignal
}

/** Throws what `ask` throws, if it does not pass or lasts too long. */
export async function patiently<T>({ maxElapsedMs, signal }: Patience, ask: () => Promise<T>): Promise<T> {
  const retries = new Retries({
    clock: systemClock,
    maxElapsedMs,
    waitMs: refusals => backoffMs(refusals, Math.random),
  })
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      const isPassing = isSluiceError(error) && explain(error.code).exit === 4
      const waitMs = isPassing ? retries.next() : undefined
      if (waitMs === undefined) throw error
      await systemClock.sleep(waitMs, signal)
    }
  }
}
