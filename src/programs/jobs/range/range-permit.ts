/** Decides before each request of a range whether it may be sent, and when. */
import type { JobState } from '../queue/job-state.js'
import type { Lease } from '../queue/lease.js'
import { systemClock } from '../../../base/time/clock.js'

/** Time between two looks at a state that forbids requests. */
const LOOK_MS = 100
/** A cluster that is busy slows a range by this at most, for one request. */
const LONGEST_PAUSE_MS = 10_000

interface Permission {
  readonly lease: Lease
  state(): JobState
  readonly now: () => number
  /** Ends the loading of the range. */
  readonly stop: AbortController
  /** Most ranges of the job at the same time. */
  readonly most: number
}

export class RangePermit {
  readonly #given: Permission
  #askedAt: number | undefined

  constructor(given: Permission) {
    this.#given = given
  }

  /** Resolves to false if the range may send nothing more. */
  async ask(halted: AbortSignal): Promise<boolean> {
    const { state, now } = this.#given
    const { slowedTo } = state()
    // A range sends one request after the other, so the time since the last one is what a request takes.
    const tookMs = this.#askedAt === undefined ? 0 : now() - this.#askedAt
    if (slowedTo !== undefined)
      await this.#pause(Math.min(LONGEST_PAUSE_MS, tookMs * (this.#given.most / slowedTo - 1)), halted)
    while (state().parked !== undefined && !halted.aborted && this.#mayStay()) await this.#pause(LOOK_MS, halted)
    this.#askedAt = now()
    return this.#mayStay() && !halted.aborted
  }

  #mayStay(): boolean {
    const { lease, stop } = this.#given
    const { lost } = lease
    if (lost !== undefined) stop.abort(lost.message)
    return lost === undefined
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (ms > 0) await systemClock.sleep(ms, signal).catch(() => undefined)
  }
}
