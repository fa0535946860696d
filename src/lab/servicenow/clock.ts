import { parseTimestamp } from './timestamp.js'

/**
 * Plays the platform's clock: the clock of the machine until it is set. Rows, tokens and the Date header follow it.
 */
export class PlatformClock {
  #offsetMs = 0
  #frozenAt: number | undefined

  /** Milliseconds since 1970. */
  now(): number {
    return this.#frozenAt ?? Date.now() + this.#offsetMs
  }

  /**
   * Sets the clock to a time, `yyyy-MM-dd HH:mm:ss` in UTC. The clock runs from there, unless `frozen`. Throws if the
   * text has another form.
   */
  set(time: string, frozen = false): void {
    const ms = parseTimestamp(time)
    if (Number.isNaN(ms)) throw new RangeError(`not a time of the form yyyy-MM-dd HH:mm:ss: ${time}`)
    this.#offsetMs = ms - Date.now()
    this.#frozenAt = frozen ? ms : undefined
  }

  advance(ms: number): void {
    this.#offsetMs += ms
    if (this.#frozenAt !== undefined) this.#frozenAt += ms
  }

  /** Back to the machine's time. */
  release(): void {
    this.#offsetMs = 0
    this.#frozenAt = undefined
  }
}
