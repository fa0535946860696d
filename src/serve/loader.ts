/** Loads what waits in the spool, part after part, and tries again where something is in the way. */
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { type SluiceError, isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import type { IngestEvent } from '../options/ingest-options.js'
import { removeCheckpoint } from '../state/checkpoint-file.js'
import type { Receipt } from '../ledger/receipt.js'
import type { StandingLoad } from './standing-load.js'
import { doublingMs } from '../time/retry.js'
import type { Segment } from './segment.js'
import type { ServeEvent } from './serve-options.js'
import type { Spool } from './spool.js'
import type { Totals } from './report.js'

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
/** Of warnings that every part would repeat. */
const MOST_WARNINGS = 100

export interface Loading {
  readonly spool: Spool
  /** Opens the way, with a preflight. Throws what is in the way. */
  openWay(): Promise<StandingLoad>
  /** The way that is open already. */
  readonly way?: StandingLoad | undefined
  /** Why none is. */
  readonly closedBy?: Failure | undefined
  readonly totals: Totals
  readonly clock: Clock
  /** Aborted: what is under way is cut off. */
  readonly givenUp: AbortSignal
  /** Aborted: nothing is waited for any more. What can be loaded still is. */
  readonly closing: AbortSignal
  tell(event: ServeEvent): void
}

/** Why loading does not go on. */
export interface Trouble {
  readonly failure: Failure
  readonly since: string
  readonly retryMs: number
}

export class Loader {
  readonly #loading: Loading
  readonly #told = new Set<string>()
  #way: StandingLoad | undefined
  #cluster: string | undefined
  #trouble: Trouble | undefined
  #last: Failure | undefined
  #retries = 0
  /** The part that is loaded without a checkpoint. */
  #unkept: Segment | undefined

  constructor(loading: Loading) {
    this.#loading = loading
    this.#way = loading.way
    this.#cluster = loading.way?.cluster
    if (loading.closedBy !== undefined) this.#note(loading.closedBy)
  }

  /** What is in the way now. */
  get trouble(): Trouble | undefined {
    return this.#trouble
  }

  /** What was in the way last. */
  get lastFailure(): Failure | undefined {
    return this.#last
  }

  get cluster(): string | undefined {
    return this.#cluster
  }

  /**
   * Resolves once the spool is ended and empty, or, while it is being closed, as soon as something is in the way. Throws SluiceError:
   * what no waiting puts right; and bugs.
   */
  async run(): Promise<void> {
    const { spool, closing, givenUp, clock } = this.#loading
    try {
      for (let segment = await spool.next(givenUp); segment !== undefined; segment = await spool.next(givenUp)) {
        try {
          await this.#load(segment)
        } catch (error) {
          if (givenUp.aborted) return
          const retryMs = this.#judge(error, segment)
          await this.#closeWay()
          if (!closing.aborted) await clock.sleep(retryMs, closing).catch(() => undefined)
          if (closing.aborted) return
        }
      }
    } finally {
      await this.#closeWay()
    }
  }

  async #load(segment: Segment): Promise<void> {
    const { spool, totals, givenUp, tell } = this.#loading
    this.#way ??= await this.#loading.openWay()
    this.#cluster = this.#way.cluster
    const onEvent = (event: IngestEvent) => this.#hear(event)
    const receipt = await this.#way.load({ ...segment, isKept: segment !== this.#unkept }, { signal: givenUp, onEvent })
    await this.#remove(segment, receipt)
    totals.add(receipt)
    if (this.#trouble !== undefined) tell({ type: 'recovered', failure: this.#trouble.failure })
    this.#trouble = undefined
    this.#retries = 0
    tell({ type: 'loaded', counts: receipt, waiting: spool.waiting })
  }

  /** It is loaded, whatever becomes of the files: what is left of them is loaded under the same ids. */
  async #remove(segment: Segment, { checkpoint }: Receipt): Promise<void> {
    try {
      await this.#loading.spool.remove(segment)
      if (checkpoint !== undefined) await removeCheckpoint(checkpoint)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      this.#loading.tell({ type: 'warning', message: error.message })
    }
  }

  /** How long to wait before another try. Throws what no try puts right. */
  #judge(error: unknown, segment: Segment): number {
    if (!isSluiceError(error)) throw error
    if (isOfCheckpoint(error) && segment !== this.#unkept) {
      this.#unkept = segment
      this.#loading.tell({ type: 'warning', message: `Sluice continues without a checkpoint: ${error.message}` })
      return 0
    }
    if (isHopeless(error)) throw error
    return this.#note(error.failure)
  }

  #note(failure: Failure): number {
    const { spool, tell } = this.#loading
    this.#retries += 1
    const retryMs = doublingMs(this.#retries, FIRST_RETRY_MS, LONGEST_RETRY_MS)
    this.#last = failure
    this.#trouble = { failure, since: this.#trouble?.since ?? new Date().toISOString(), retryMs }
    tell({ type: 'failed', failure, retryMs, waiting: spool.waiting })
    return retryMs
  }

  #hear(event: IngestEvent): void {
    if (event.type === 'warning') {
      if (this.#told.has(event.message) || this.#told.size >= MOST_WARNINGS) return
      this.#told.add(event.message)
    }
    if (event.type === 'preflight' || event.type === 'retry' || event.type === 'rejected' || event.type === 'warning')
      this.#loading.tell(event)
  }

  async #closeWay(): Promise<void> {
    const way = this.#way
    this.#way = undefined
    await way?.close()
  }
}

/**
 * The checkpoint of a part spares sending what is stored already. Without it nothing is doubled, either: a disk that the spool has filled,
 * or options that have changed since the last process was killed, must not keep documents from being loaded.
 */
function isOfCheckpoint({ code }: SluiceError): boolean {
  return code === 'STATE_UNWRITABLE' || code === 'STATE_UNREADABLE' || code === 'RUN_OPTIONS_CHANGED'
}

/** Options that are wrong, and bugs. */
function isHopeless({ code }: SluiceError): boolean {
  const { exit } = explain(code)
  return exit === 2 || exit === 70
}
