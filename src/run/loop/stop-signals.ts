/** When a run ends before its inputs do, and why: the caller's signal, or a budget that is spent. */
import { setMaxListeners } from 'node:events'
import { type Failure, failure, SluiceError } from '../../base/failure/failure.js'
import { defaults } from '../../options/describe-option.js'
import type { Clock } from '../../base/flow.js'
import type { StopSection } from '../../options/load.js'

/**
 * Share of a time budget for the end of the run: for requests under way and the checkpoint, and for the checkpoint
 * only.
 */
const RESERVED_SHARE = 1 / 4
const CLOSING_SHARE = 1 / 20
const LONGEST_CLOSING_MS = 5000

export interface StopOptions {
  /** Ends the run if aborted. If the reason is text, Sluice reports it. */
  readonly signal?: AbortSignal | undefined
  /** How long requests under way may still take then. Default 25,000. */
  readonly graceMs?: number | undefined
  /** How long the run may take, and how much of that is over. */
  readonly timeBudget?: { readonly ms: number; readonly elapsedMs: number } | undefined
  readonly clock: Clock
}

/** Makes the failure of a run with this number of settled documents. */
type Why = (settled: number) => Failure

/** Returns when the run ends, as its options say. Their time counts from now, or from when the caller began. */
export function stopSignalsOf({ signal, graceMs, timeBudgetMs, startedAt }: StopSection, clock: Clock): StopSignals {
  const now = performance.timeOrigin + performance.now()
  return new StopSignals({
    signal,
    graceMs,
    timeBudget:
      timeBudgetMs === undefined
        ? undefined
        : { ms: timeBudgetMs, elapsedMs: startedAt === undefined ? 0 : Math.max(0, now - startedAt) },
    clock,
  })
}

export class StopSignals implements Disposable {
  readonly #options: StopOptions
  readonly #ended = new AbortController()
  readonly #givenUp = new AbortController()
  readonly #stopping = new AbortController()
  readonly #over = new AbortController()
  #why: Why | undefined

  constructor(options: StopOptions) {
    this.#options = options
    const { signal, timeBudget } = options
    // Every request listens.
    setMaxListeners(0, this.#ended.signal, this.#givenUp.signal, this.#stopping.signal)
    if (signal?.aborted === true) this.#interrupt()
    signal?.addEventListener('abort', this.#interrupt)
    if (timeBudget !== undefined) this.#keep(timeBudget)
  }

  /** Aborted when the run must read and send nothing more. */
  get signal(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Aborted if the process itself will end. A spent byte budget does not abort this signal, because reading stdin
   * costs no such bytes.
   */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /** Aborted when what is under way is not waited for any longer. */
  get givenUp(): AbortSignal {
    return this.#givenUp.signal
  }

  /** Ends the run. Only the first reason counts. */
  end(why: Why): void {
    if (this.#why !== undefined) return
    this.#why = why
    this.#ended.abort()
    this.#after(this.#graceMs, () => this.#givenUp.abort())
  }

  /** Why the run ended. To be asked once it has. `settled`: documents of the whole run. */
  why(settled: number): Failure {
    return (this.#why ?? interruptedBy(undefined))(settled)
  }

  /**
   * If the run was stopped before it began, reports that as the cause. Otherwise reports the error itself. The number
   * of settled documents is not known yet.
   */
  cause(error: unknown): unknown {
    if (!this.signal.aborted) return error
    const why = this.why(0)
    return new SluiceError({ ...why, message: `${why.message}. Loading had not begun` })
  }

  /** The run is over: nothing is waited for. */
  [Symbol.dispose](): void {
    this.#options.signal?.removeEventListener('abort', this.#interrupt)
    this.#over.abort()
  }

  get #graceMs(): number {
    return this.#options.graceMs ?? defaults.graceMs
  }

  readonly #interrupt = (): void => {
    this.#stopping.abort()
    this.end(interruptedBy(this.#options.signal?.reason))
  }

  #keep({ ms, elapsedMs }: { ms: number; elapsedMs: number }): void {
    const closingMs = Math.min(ms * CLOSING_SHARE, LONGEST_CLOSING_MS)
    const reservedMs = Math.max(closingMs, Math.min(this.#graceMs, ms * RESERVED_SHARE))
    const spent: Why = settled => failure('TIME_BUDGET_SPENT', { seconds: ms / 1000, settled })
    this.#after(ms - reservedMs - elapsedMs, () => {
      this.#stopping.abort()
      this.end(spent)
    })
    this.#after(ms - closingMs - elapsedMs, () => this.#givenUp.abort())
  }

  #after(ms: number, act: () => void): void {
    this.#options.clock.sleep(Math.max(0, ms), this.#over.signal).then(act, () => undefined)
  }
}

function interruptedBy(reason: unknown): Why {
  return settled =>
    failure('RUN_INTERRUPTED', {
      reason: typeof reason === 'string' ? reason : 'aborted by the calling program',
      settled,
    })
}
