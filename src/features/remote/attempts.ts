/** Retries a request to a server of objects, while its failure may pass. */
import { explain, type Failure, failure, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import { backoffMs, Retries } from '../../base/time/retry.js'

export interface SourcePatience {
  readonly clock: Clock
  readonly random: () => number
  /** How long attempts may fail in a row. */
  readonly maxElapsedMs: number
  readonly onRetry: (failure: Failure, waitMs: number) => void
}

/** A server that sends less between two failures does not count as one that works. */
const PROGRESS_BYTES = 64 << 10

/** Attempts at one object, one after the other. */
export class Attempts {
  readonly #patience: SourcePatience
  readonly #signal: AbortSignal
  readonly #retries: Retries
  #received = 0

  constructor(patience: SourcePatience, signal: AbortSignal) {
    const { clock, random, maxElapsedMs } = patience
    this.#patience = patience
    this.#signal = signal
    this.#retries = new Retries({ clock, maxElapsedMs, waitMs: refusals => backoffMs(refusals, random) })
  }

  /** Bytes came in that no earlier attempt had received. */
  received(bytes: number): void {
    this.#received += bytes
    if (this.#received < PROGRESS_BYTES) return
    this.#received = 0
    this.#retries.startAgain()
  }

  /** Waits for the next attempt. Throws the error if it will not pass, or if it lasts too long, and the reason of the signal. */
  async failed(why: unknown): Promise<void> {
    this.#signal.throwIfAborted()
    if (!isSluiceError(why) || explain(why.code).retry === 'no') throw why
    const { waitMs: asked } = why.failure.evidence
    const waitMs = this.#retries.next(typeof asked === 'number' ? asked : 0)
    if (waitMs === undefined) throw lasting(why, this.#retries.elapsedMs)
    this.#patience.onRetry(why.failure, waitMs)
    await this.#patience.clock.sleep(waitMs, this.#signal).catch(() => undefined)
    this.#signal.throwIfAborted()
  }
}

/** Makes attempts until one succeeds. */
export async function untilDone<T>(
  patience: SourcePatience,
  signal: AbortSignal,
  attempt: (attempts: Attempts) => Promise<T>,
): Promise<T> {
  const attempts = new Attempts(patience, signal)
  for (;;) {
    try {
      return await attempt(attempts)
    } catch (error) {
      await attempts.failed(error)
    }
  }
}

function lasting(error: SluiceError, elapsedMs: number): SluiceError {
  const { code, evidence } = error.failure
  if (code !== 'SOURCE_UNAVAILABLE' || elapsedMs < 1000) return error
  const observed = `${String(evidence['observed'])}, for ${Math.round(elapsedMs / 1000)} s`
  return new SluiceError(failure(code, { ...evidence, input: String(evidence['input']), observed }), { cause: error })
}
