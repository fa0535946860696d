/**
 * Documents on the disk between their acknowledgement and their loading. Requests that come together share one sync; a part that is
 * whole is loaded and removed, while the next one is written.
 */
import { rm } from 'node:fs/promises'
import type { Clock } from '../flow.js'
import { stateUnwritable } from '../ledger/checkpoint-file.js'
import { syncFolder } from '../ledger/sync-folder.js'
import { RecentKeys } from './recent-keys.js'
import { placeOf, recover } from './recover.js'
import { OpenSegment, type Request, type Segment } from './segment.js'
import type { Waiting } from './serve-options.js'

/** A part is whole at this size, whatever comes. */
const SEGMENT_BYTES = 32_000_000
/** Of requests that are written and synced together. */
const GROUP_BYTES = 16_000_000

export interface SpoolOptions {
  /** It is there, and nobody else writes to it. */
  readonly folder: string
  /** How long the first document of a part waits for others. */
  readonly lingerMs: number
  readonly clock: Clock
  /** Makes the part of ids that belongs to one part of the spool. */
  newToken(): string
}

/** What became of a request. `other`: its key was used with other documents. */
export type Stored = 'stored' | 'known' | 'other'

interface Queued {
  readonly request: Request
  done(): void
  fail(error: unknown): void
}

export class Spool {
  readonly cutBytes: number
  readonly #options: SpoolOptions
  readonly #whole: Segment[]
  readonly #keys = new RecentKeys()
  readonly #keysOf = new Map<string, string[]>()
  /** Journals that are removed with the next part. */
  readonly #unneeded: string[] = []
  readonly #underway = new Map<string, Promise<void>>()
  readonly #queue: Queued[] = []
  #next: number
  #open: OpenSegment | undefined
  #working: Promise<void> | undefined
  #isSealAsked = false
  #waiting: { documents: number; bytes: number }
  #isEnded = false
  readonly #wakers = new Set<() => void>()

  private constructor(options: SpoolOptions, found: Awaited<ReturnType<typeof recover>>) {
    const { segments, keys, cutBytes, next } = found
    this.#options = options
    this.#whole = [...segments]
    this.#next = next
    this.cutBytes = cutBytes
    this.#waiting = { documents: sum(segments, one => one.documents), bytes: sum(segments, one => one.bytes) }
    const waits = new Set(segments.map(({ journal }) => journal))
    for (const { journal, entries } of keys) {
      for (const entry of entries) this.#keys.add(entry)
      const known = entries.flatMap(({ key }) => (key === undefined ? [] : [key]))
      if (waits.has(journal)) this.#keysOf.set(journal, known)
      else this.#unneeded.push(...this.#keys.retire(journal, known))
    }
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
    const { key } = request
    if (key !== undefined) {
      // The same one twice at once: the second one is told what became of the first.
      for (let other = this.#underway.get(key); other !== undefined; other = this.#underway.get(key))
        await other.catch(() => undefined)
      const known = this.#keys.get(key)
      if (known !== undefined) return known.sha256 === request.sha256 ? 'known' : 'other'
    }
    const stored = this.#store(request)
    if (key !== undefined) {
      this.#underway.set(key, stored)
      const over = () => void this.#underway.delete(key)
      void stored.then(over, over)
    }
    await stored
    return 'stored'
  }

  /**
   * The oldest part, whole: the same one until it is removed. Waits where there is none. Undefined once the spool is ended and empty,
   * or the signal aborts.
   */
  async next(signal: AbortSignal): Promise<Segment | undefined> {
    while (!signal.aborted) {
      const [oldest] = this.#whole
      if (oldest !== undefined) return oldest
      if (this.#waiting.bytes > 0) {
        await this.#linger(signal)
        this.#isSealAsked = true
        this.#work()
      } else if (this.#isEnded) {
        return undefined
      }
      if (this.#whole.length === 0) await this.#change(signal)
    }
    return undefined
  }

  /** It is loaded. Rejects with SluiceError STATE_UNWRITABLE. */
  async remove(segment: Segment): Promise<void> {
    const keys = this.#keysOf.get(segment.journal) ?? []
    try {
      await rm(segment.path, { force: true })
      this.#unneeded.push(...this.#keys.retire(segment.journal, keys))
      for (const journal of this.#unneeded.splice(0)) await rm(journal, { force: true })
    } catch (error) {
      throw stateUnwritable(segment.path, error)
    } finally {
      this.#keysOf.delete(segment.journal)
      const at = this.#whole.indexOf(segment)
      if (at !== -1) this.#whole.splice(at, 1)
      this.#waiting.documents -= segment.documents
      this.#waiting.bytes -= segment.bytes
    }
  }

  /** Nothing more comes. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  /** What is being written is written, and no file is open. */
  async close(): Promise<void> {
    this.#isSealAsked = true
    this.#work()
    await this.#working
  }

  async #store(request: Request): Promise<void> {
    this.#waiting.documents += request.documents
    this.#waiting.bytes += request.bytes.length
    try {
      await new Promise<void>((done, fail) => {
        this.#queue.push({ request, done, fail })
        this.#work()
        this.#wake()
      })
    } catch (error) {
      this.#waiting.documents -= request.documents
      this.#waiting.bytes -= request.bytes.length
      throw error
    }
  }

  /** One thing after the other: a group of requests, the end of a part. */
  #work(): void {
    this.#working ??= this.#workOff().finally(() => {
      this.#working = undefined
      this.#wake()
      // What came since the last look.
      if (this.#queue.length > 0 || this.#isSealAsked) this.#work()
    })
  }

  async #workOff(): Promise<void> {
    while (this.#queue.length > 0 || this.#isSealAsked) {
      if (this.#queue.length > 0) await this.#writeGroup(this.#takeGroup())
      if (this.#isSealAsked) await this.#finish().catch(() => undefined)
      this.#isSealAsked = false
      this.#wake()
    }
  }

  async #writeGroup(group: readonly Queued[]): Promise<void> {
    try {
      this.#open ??= await this.#begin()
      await this.#open.commit(group.map(({ request }) => request))
      for (const { request, done } of group) {
        this.#remember(request, this.#open.place.journal)
        done()
      }
      if (this.#open.bytes >= SEGMENT_BYTES) this.#isSealAsked = true
    } catch (error) {
      // Nobody knows what a later sync would vouch for: the part ends with what was synced before.
      await this.#open?.takeBack()
      this.#isSealAsked = true
      for (const { fail } of group) fail(stateUnwritable(this.#options.folder, error))
    }
  }

  #remember({ key, ...request }: Request, journal: string): void {
    if (key === undefined) return
    this.#keys.add({ end: 0, documents: request.documents, sha256: request.sha256, key })
    const keys = this.#keysOf.get(journal)
    if (keys === undefined) this.#keysOf.set(journal, [key])
    else keys.push(key)
  }

  #takeGroup(): Queued[] {
    let bytes = 0
    const end = this.#queue.findIndex(({ request }) => (bytes += request.bytes.length) > GROUP_BYTES)
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end))
  }

  async #begin(): Promise<OpenSegment> {
    const { folder, newToken } = this.#options
    const segment = await OpenSegment.create(placeOf(folder, this.#next, newToken()))
    this.#next += 1
    await syncFolder(folder)
    return segment
  }

  /** Ends the part that is open: it can be loaded, or nothing of it is left. */
  async #finish(): Promise<void> {
    const segment = this.#open
    if (segment === undefined) return
    this.#open = undefined
    const { whole } = segment
    if (whole.bytes > 0) this.#whole.push(whole)
    await segment.close()
    if (whole.bytes > 0) return
    await rm(whole.path, { force: true })
    await rm(whole.journal, { force: true })
  }

  /** Lets others come in the time that the first document of a part waits. One that is full does not wait. */
  async #linger(signal: AbortSignal): Promise<void> {
    const { clock, lingerMs } = this.#options
    const over = new AbortController()
    void clock
      .sleep(lingerMs, over.signal)
      .catch(() => undefined)
      .then(() => {
        over.abort()
        this.#wake()
      })
    while (!over.signal.aborted && !signal.aborted && !this.#isEnded && this.#whole.length === 0)
      await this.#change(signal)
    over.abort()
  }

  /** Resolves when anything has changed, or the signal aborts. */
  async #change(signal: AbortSignal): Promise<void> {
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

  #wake(): void {
    for (const wake of this.#wakers) wake()
  }
}

function sum<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0)
}
