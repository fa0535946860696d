/**
 * Decides which requests fit into the spool. A full spool becomes free little by little, so small requests would always find room
 * before a large one does. Sluice therefore keeps the space for a large request free until it comes again.
 */
import type { Clock } from '../../base/flow.js'
import { ENTRY_BYTES } from './segment.js'

/** Largest share of the limit to keep free: small requests must find room even if the cluster is down for long. */
const MOST_KEPT = 1 / 2
/** A refused caller may come this much later than it was asked to. */
const LATE_MS = 60_000

const NOTHING = { bytes: 0, until: 0 }

interface SpoolRoomOptions {
  readonly limit: number
  /** Bytes of the spool that are in use. */
  used(): number
  /** How long a refused caller is told to wait, in seconds. */
  retryAfter(): number
  readonly clock: Pick<Clock, 'now'>
}

export class SpoolRoom {
  readonly #options: SpoolRoomOptions
  /** The room of the largest request that was refused and has not come again. */
  #kept = NOTHING

  constructor(options: SpoolRoomOptions) {
    this.#options = options
  }

  /** Whether not even the smallest request fits. */
  get isFull(): boolean {
    return this.#free < 0
  }

  /** Returns whether a request may be stored. */
  take(bytes: number): boolean {
    const { limit, clock, retryAfter } = this.#options
    const now = clock.now()
    if (now >= this.#kept.until) this.#kept = NOTHING
    if (bytes < this.#kept.bytes) return bytes + ENTRY_BYTES + this.#kept.bytes <= this.#free
    const fits = bytes <= this.#free
    const until = now + 2 * 1000 * retryAfter() + LATE_MS
    this.#kept = fits ? NOTHING : { bytes: Math.min(bytes, limit * MOST_KEPT), until }
    return fits
  }

  get #free(): number {
    const { limit, used } = this.#options
    return limit - used() - ENTRY_BYTES
  }
}
