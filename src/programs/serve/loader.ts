/** Loads the segments of the spool one after the other, and retries if a load fails. */
import { explain, type Failure, isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import type { IngestEvent } from '../../options/run-events.js'
import { removeRun } from '../../run/state/runs/runs.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { StandingLoad } from './standing-load.js'
import { doublingMs } from '../../base/time/retry.js'
import type { Segment } from './segment.js'
import type { ServeEvent } from './serve-options.js'
import type { Spool } from './spool.js'

const FIRST_RETRY_MS = 1000
const LONGEST_RETRY_MS = 30_000
/** Most different warnings. Every segment would repeat them. */
const MOST_WARNINGS = 100

interface SpoolLoading {
  readonly spool: Spool
  /** Opens the connection, with a preflight. Throws SluiceError if that fails. */
  connect(): Promise<StandingLoad>
  /** The connection that is open already. */
  readonly standing?: StandingLoad | undefined
  /** The failure that keeps the connection closed. */
  readonly closedBy?: Failure | undefined
  readonly totals: { add(receipt: Receipt): void }
  readonly clock: Clock
  /** Aborts to end the current load at once. */
  readonly givenUp: AbortSignal
  /** Aborts to end all waits. Sluice still loads what it can. */
  readonly closing: AbortSignal
  tell(event: ServeEvent): void
}

interface Trouble {
  readonly failure: Failure
  readonly since: string
  readonly retryMs: number
}

export class Loader {
  readonly #loading: SpoolLoading
  readonly #told = new Set<string>()
  #standing: StandingLoad | undefined
  #cluster: string | undefined
  #trouble: Trouble | undefined
  #retries = 0
  #unkept: Segment | undefined

  constructor(loading: SpoolLoading) {
    this.#loading = loading
    this.#standing = loading.standing
    this.#cluster = loading.standing?.cluster
    if (loading.closedBy !== undefined) this.#note(loading.closedBy)
  }

  get trouble(): Trouble | undefined {
    return this.#trouble
  }

  get cluster(): string | undefined {
    return this.#cluster
  }

  /**
   * Resolves once the spool has ended and is empty. While `serve` closes, resolves at the first failure. Throws SluiceError for
   * failures that no retry solves, and bugs.
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
          await this.#disconnect()
          if (!closing.aborted) await clock.sleep(retryMs, closing).catch(() => undefined)
          if (closing.aborted) return
        }
      }
    } finally {
      await this.#disconnect()
    }
  }

  async #load(segment: Segment): Promise<void> {
    const { spool, totals, givenUp, tell } = this.#loading
    this.#standing ??= await this.#loading.connect()
    this.#cluster = this.#standing.cluster
    const onEvent = (event: IngestEvent) => this.#hear(event)
    const receipt = await this.#standing.load(
      { ...segment, isKept: segment !== this.#unkept },
      { signal: givenUp, onEvent },
    )
    await this.#remove(segment, receipt)
    totals.add(receipt)
    if (this.#trouble !== undefined) tell({ type: 'recovered', failure: this.#trouble.failure })
    this.#trouble = undefined
    this.#retries = 0
    tell({ type: 'loaded', counts: receipt, waiting: spool.waiting })
  }

  /** Removes a loaded segment. If its files stay, a second load uses the same ids and doubles nothing. */
  async #remove(segment: Segment, { checkpoint }: Receipt): Promise<void> {
    try {
      await this.#loading.spool.remove(segment)
      if (checkpoint !== undefined) await removeRun(checkpoint)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      this.#loading.tell({ type: 'warning', message: error.message })
    }
  }

  /** Returns how long to wait before the retry. Throws failures that no retry solves. */
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
    this.#trouble = { failure, since: this.#trouble?.since ?? new Date().toISOString(), retryMs }
    tell({ type: 'failed', failure, retryMs, waiting: spool.waiting })
    return retryMs
  }

  #hear(event: IngestEvent): void {
    if (event.type === 'warning') {
      if (this.#told.has(event.message) || this.#told.size >= MOST_WARNINGS) return
      this.#told.add(event.message)
    }
    switch (event.type) {
      case 'preflight':
      case 'sent':
      case 'answered':
      case 'retry':
      case 'rejected':
      case 'warning':
        this.#loading.tell(event)
        return
      default:
    }
  }

  async #disconnect(): Promise<void> {
    const standing = this.#standing
    this.#standing = undefined
    await standing?.close()
  }
}

/**
 * Returns whether the checkpoint is the problem. It only saves requests: without it nothing is doubled. So a disk that the spool has
 * filled, or options that changed since the last process was killed, must not stop the load.
 */
function isOfCheckpoint({ code }: SluiceError): boolean {
  return code === 'STATE_UNWRITABLE' || code === 'STATE_UNREADABLE' || code === 'RUN_OPTIONS_CHANGED'
}

/** Returns whether a retry cannot help: an invalid option, or a bug. */
function isHopeless({ code }: SluiceError): boolean {
  const { exit } = explain(code)
  return exit === 2 || exit === 70
}
