/**
 * Keeps documents on the disk from their acknowledgement until they are loaded. Sealed segments wait in a row. Sluice loads and removes
 * the oldest one while it writes the next one.
 */
import { rm } from 'node:fs/promises'
import type { Clock } from '../flow.js'
import { stateUnwritable } from '../state/checkpoint-file.js'
import { GroupWriter } from './group-writer.js'
import { RecentKeys, type StoredRequest } from './recent-keys.js'
import { type Recovered, recover } from './recover.js'
import type { Request, Segment } from './segment.js'
import type { Waiting } from './serve-options.js'

export interface SpoolOptions {
  /** An existing folder that no other process writes to. */
  readonly folder: string
  /** How long the first document of a segment waits for others. */
  readonly lingerMs: number
  readonly clock: Clock
  /** Makes the part of ids that belongs to one segment. */
  newToken(): string
}

export class Spool {
  /** Bytes of requests that earlier processes never acknowledged. They were cut off. */
  readonly cutBytes: number
  readonly #options: SpoolOptions
  readonly #writer: GroupWriter
  readonly #keys = new RecentKeys()
  /** Oldest first. */
  readonly #sealed: Segment[]
  /** Journals that are removed with the next segment. */
  readonly #unneeded: string[] = []
  readonly #condition = new ChangeSignal()
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

  /** Opens the spool with the documents of earlier processes. Throws SluiceError STATE_UNWRITABLE. */
  static async open(options: SpoolOptions): Promise<Spool> {
    try {
      return new Spool(options, await recover(options.folder))
    } catch (error) {
      throw stateUnwritable(options.folder, error)
    }
  }

  /** Documents that are acknowledged, or about to be, and not loaded yet. */
  get waiting(): Waiting {
    return { ...this.#waiting }
  }

  /** Resolves when the request is on the disk. Throws SluiceError STATE_UNWRITABLE. Then no part of the request is stored. */
  async append(request: Request): Promise<StoredRequest> {
    return await this.#keys.once(request, async () => await this.#store(request))
  }

  /**
   * Resolves to the oldest sealed segment, until it is removed always the same. Waits if there is none. Resolves to undefined once the
   * spool has ended and is empty, or the signal aborts.
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

  /** Removes a loaded segment. Rejects with SluiceError STATE_UNWRITABLE. `next` continues with the next segment all the same. */
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

  /** Ends the spool: no more requests come. */
  end(): void {
    this.#isEnded = true
    this.#condition.notify()
  }

  /** Resolves when all writes are finished and no file is open. */
  async close(): Promise<void> {
    await this.#writer.close()
  }

  /** Counts a request before it is written, because it fills the spool too. */
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

  /** Waits for more documents while the first one of a segment may wait. A full segment does not wait. */
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

/** A condition variable: all waiters look again whenever something may have changed. */
class ChangeSignal {
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
