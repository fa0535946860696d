/** Keeps acknowledged documents on the disk until they are loaded. Sluice loads the oldest segment while it writes the newest. */
import { rm } from 'node:fs/promises'
import type { Clock } from '../../base/flow.js'
import { replaceFile, stateUnwritable } from '../../base/disk/safe-files.js'
import { ChangeSignal } from '../../base/time/clock.js'
import { GroupWriter } from './group-writer.js'
import { RecentKeys, type StoredRequest } from './recent-keys.js'
import { recover, type Recovered } from './recover.js'
import { ENTRY_BYTES, journalLine, type Request, type Segment } from './segment.js'
import type { Waiting } from './serve-options.js'

interface SpoolOptions {
  readonly folder: string
  /** How long the first document of a segment waits for others. */
  readonly lingerMs: number
  readonly clock: Clock
  newToken(): string
}

export class Spool {
  /** Bytes of requests that earlier processes never acknowledged. They were cut off. */
  readonly cutBytes: number
  readonly #options: SpoolOptions
  readonly #writer: GroupWriter
  readonly #keys: RecentKeys
  /** Oldest first. */
  readonly #sealed: Segment[]
  readonly #condition = new ChangeSignal()
  #waiting: { documents: number; bytes: number; requests: number }
  #isEnded = false

  private constructor(options: SpoolOptions, keys: RecentKeys, { segments, cutBytes, next }: Recovered) {
    this.#options = options
    this.cutBytes = cutBytes
    this.#sealed = [...segments]
    this.#waiting = { documents: 0, bytes: 0, requests: 0 }
    for (const segment of segments) this.#count(segment, 1)
    this.#keys = keys
    this.#writer = new GroupWriter({
      ...options,
      next,
      onWritten: (request, journal) => this.#keys.add(journal, request),
      onSealed: segment => void this.#sealed.push(segment),
      onProgress: () => this.#condition.notify(),
    })
  }

  /** Opens the spool with the documents of earlier processes. Throws SluiceError STATE_UNWRITABLE. */
  static async open(options: SpoolOptions): Promise<Spool> {
    try {
      const keys = new RecentKeys()
      return new Spool(options, keys, await recover(options.folder, keys))
    } catch (error) {
      throw stateUnwritable(options.folder, error)
    }
  }

  /** Documents that are acknowledged, or about to be, and not loaded yet. */
  get waiting(): Waiting {
    const { documents, bytes } = this.#waiting
    return { documents, bytes }
  }

  /** Bytes on the disk for them, with their journals. */
  get bytes(): number {
    return this.#waiting.bytes + this.#waiting.requests * ENTRY_BYTES
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

  /** Removes a loaded segment. Rejects with SluiceError STATE_UNWRITABLE. `next` continues with the next segment anyway. */
  async remove(segment: Segment): Promise<void> {
    try {
      await rm(segment.path, { force: true })
      this.#keys.retire(segment.journal)
      for (const journal of this.#keys.takeUnneeded()) await rm(journal, { force: true })
      // A journal is kept for its keys. Requests without a key may be many more.
      const entries = this.#keys.entriesIn(segment.journal)
      if (entries.length > 0 && entries.length < segment.requests)
        await replaceFile(segment.journal, entries.map(journalLine))
    } catch (error) {
      throw stateUnwritable(segment.path, error)
    } finally {
      const at = this.#sealed.indexOf(segment)
      if (at !== -1) this.#sealed.splice(at, 1)
      this.#count(segment, -1)
    }
  }

  end(): void {
    this.#isEnded = true
    this.#condition.notify()
  }

  async close(): Promise<void> {
    await this.#writer.close()
  }

  /** Counts a request before it is written, because it fills the spool too. */
  async #store(request: Request): Promise<void> {
    const counted = { documents: request.documents, bytes: request.bytes.length, requests: 1 }
    this.#count(counted, 1)
    this.#condition.notify()
    try {
      await this.#writer.write(request)
    } catch (error) {
      this.#count(counted, -1)
      throw error
    }
  }

  #count(counted: Pick<Segment, 'documents' | 'bytes' | 'requests'>, sign: 1 | -1): void {
    this.#waiting.documents += sign * counted.documents
    this.#waiting.bytes += sign * counted.bytes
    this.#waiting.requests += sign * counted.requests
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
