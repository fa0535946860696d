import { type Failure, isSluiceError } from '../../../base/failure/failure.js'
import type { Clock } from '../../../base/flow.js'

/** Keeps writing while there is something new: one write at a time, not more often than every so often, the newest state. */
export class CheckpointWriter {
  readonly #write: () => Promise<void>
  readonly #everyMs: number
  readonly #clock: Clock
  readonly #ended = new AbortController()
  #isDue = false
  #writing: Promise<void> | undefined
  #failed: { error: unknown } | undefined

  /** `write` saves the state at the time of its call. */
  constructor(write: () => Promise<void>, everyMs: number, clock: Clock) {
    this.#write = write
    this.#everyMs = everyMs
    this.#clock = clock
  }

  /**
   * Notes that the state has changed. Returns why the last write failed, if so: then nothing more is written.
   * Rethrows a bug of the writing.
   */
  touch(): Failure | undefined {
    if (this.#failed !== undefined) {
      if (isSluiceError(this.#failed.error)) return this.#failed.error.failure
      throw this.#failed.error
    }
    this.#isDue = true
    this.#writing ??= this.#writeWhileDue()
    return undefined
  }

  /** Resolves when no write is under way or planned. The caller writes the last state. */
  async end(): Promise<void> {
    this.#ended.abort()
    await this.#writing
  }

  async #writeWhileDue(): Promise<void> {
    const { signal } = this.#ended
    try {
      while (this.#isDue) {
        await this.#clock.sleep(this.#everyMs, signal).catch(() => undefined)
        if (signal.aborted) return
        this.#isDue = false
        await this.#write()
      }
    } catch (error) {
      this.#failed = { error }
    } finally {
      this.#writing = undefined
    }
  }
}
