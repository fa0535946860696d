/**
 * Documents on the disk between their acknowledgement and their loading. Sealed segments wait in a row, the oldest is loaded and
 * removed, while the next one is written.
 */
import { rm } from 'node:fs/promises'
import type { Clock } from '../flow.js'
import { stateUnwritable } from '../state/checkpoint-file.js'
import { GroupWriter } from './group-writer.js'
import { RecentKeys, type Stored } from './recent-keys.js'
import { type Recovered, recover } from './recover.js'
import type { Request, Segment } from './segment.js'
import type { Waiting } from './serve-options.js'

export interface SpoolOptions {
  /** It is there, and nobody else writes to it. */
  readonly folder: string
  /** How long the first document of a segment waits for others. */
  readonly lingerMs: number
  readonly clock: Clock
  /** Makes the part of ids that belongs to one segment. */
  newToken(): string
}

export class Spool {
  /** Of requests that earlier processes never acknowledged, and that were cut off. */
  readonly cutBytes: number
  readonly #options: SpoolOptions
  readonly #writer: GroupWriter
  readonly #keys = new RecentKeys()
  /** Oldest first. */
  readonly #sealed: Segment[]
  /** Journals that are removed with the next segment. */
  readonly #unneeded: string[] = []
  readonly #condition = new Condition()
  #waiting: { documents: number; bytes: number }
  #isEnded = false

  private constructor(options: SpoolOptions, { segments, keys, cutBytes, next }: Recovered) {
    const { folder, newToken } = options
    this.#options = options
    this.cutBytes = cutBytes
    this.#sealed = [...segments]
    this.#waiting = { documents: sum(segments, one => one.documents), bytes: sum(segments, one => one.bytes) }
    const unloaded = new Set(segments.map(({ journal }) => journal))
    for (const { journal, entries } of keys) {
      for (const entry of entries) this.#keys.add(journal, entry)
      if (!unloaded.has(journal)) this.#unneeded.push(...this.#keys.retire(journal))
    }
    this.#writer = new GroupWriter({
      folder,
      next,
      newToken,
      onWritten: (request, journal) => this.#keys.add(journal, request),
      onSealed: segment => void this.#sealed.push(segment),
      onProgress: () => this.#condition.notify(),
    })
  }

  /** With what earlier processes left in it. Throws SluiceError STATE_UNWRITABLE. */
  static async open(options: SpoolOptions): Promise<Spool> {
    try {
      return new Spool(options, await recover(options.folder))
    } catch (error) {
      throw stateUnwritable(options.folder, error)
    }
  }

  /** Acknowledged, or about to be, and not loaded yet. */
  get waiting(): Waiting {
    return { ...this.#waiting }
  }

  /** Resolves when the request is on the disk. Throws SluiceError STATE_UNWRITABLE: then nothing of it is stored. */
  async append(request: Request): Promise<Stored> {
    return await this.#keys.once(request, async () => await this.#store(request))
  }

  /**
   * The oldest segment, sealed: the same one until it is removed. Waits where there is none. Undefined once the spool is ended and
   * empty, or the signal aborts.
   */
  async next(signal: AbortSignal): Promise<Segment | undefined> {
    while (!signal.aborted) {
      const [oldest] = this.#sealed
      if (oldest !== undefined) return oldest
      if (this.#waiting.bytes > 0) {
        await this.#linger(signal)
        this.#writer.seal()
      } else if (this.#isEnded) {
        return undefined
      }
      if (this.#sealed.length === 0) await this.#condition.changed(signal)
    }
    return undefined
  }

  /** It is loaded. Rejects with SluiceError STATE_UNWRITABLE: `next` is past it all the same. */
  async remove(segment: Segment): Promise<void> {
    try {
      await rm(segment.path, { force: true })
      this.#unneeded.push(...this.#keys.retire(segment.journal))
      for (const journal of this.#unneeded.splice(0)) await rm(journal, { force: true })
    } catch (error) {
      throw stateUnwritable(segment.path, error)
    } finally {
      const at = this.#sealed.indexOf(segment)
      if (at !== -1) this.#sealed.splice(at, 1)
      this.#waiting.documents -= segment.documents
      this.#waiting.bytes -= segment.bytes
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.#isEnded = true
    this.#condition.notify()
  }

  /** What is being written is written, and no file is open. */
  async close(): Promise<void> {
    await this.#writer.close()
  }

  /** Counted before it is written: what is under way fills the spool, too. */
  async #store(request: Request): Promise<void> {
    this.#waiting.documents += request.documents
    this.#waiting.bytes += request.bytes.length
    this.#condition.notify()
    try {
      await this.#writer.write(request)
    } catch (error) {
      this.#waiting.documents -= request.documents
      this.#waiting.bytes -= request.bytes.length
      throw error
    }
  }

  /** Lets others come in the time that the first document of a segment waits. A segment that is full does not wait. */
  async #linger(signal: AbortSignal): Promise<void> {
    const { clock, lingerMs } = this.#options
    const over = new AbortController()
    void clock
      .sleep(lingerMs, over.signal)
      .catch(() => undefined)
      .then(() => {
        over.abort()
        this.#condition.notify()
      })
    while (!over.signal.aborted && !signal.aborted && !this.#isEnded && this.#sealed.length === 0)
      await this.#condition.changed(signal)
    over.abort()
  }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0)
}

/** A condition variable: who waits for something looks again whenever anything may have changed. */
export class Condition {
  readonly #wakers = new Set<() => void>()

  /** Resolves at the next `notify`, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>(resolve => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        this.#wakers.delete(wake)
        resolve()
      }
      signal.addEventListener('abort', wake)
      this.#wakers.add(wake)
    })
  }

  notify(): void {
    for (const wake of this.#wakers) wake()
  }
}
