/**
 * Group commit: requests that come while others are being written form the next group, which is written and synced at once. A sync
 * costs the same for one request as for many, so the busier the callers, the less of it each of them waits for.
 */
import { rm } from 'node:fs/promises'
import { stateUnwritable } from '../state/checkpoint-file.js'
import { syncFolder } from '../disk/sync-folder.js'
import { placeOf } from './recover.js'
import { OpenSegment, type Request, type Segment } from './segment.js'

/** A segment is sealed at this size, whatever comes. */
const SEGMENT_BYTES = 32_000_000
/** Of requests that are written and synced together. */
const GROUP_BYTES = 16_000_000

export interface GroupWriterOptions {
  /** It is there, and nobody else writes to it. */
  readonly folder: string
  /** The number of the first segment. */
  readonly next: number
  /** Makes the part of ids that belongs to one segment. */
  newToken(): string
  /** The request is on the disk, in that journal: told before its `write` resolves. */
  onWritten(request: Request, journal: string): void
  /** Nothing is added to the segment any more. Those without a document are removed, and not told of. */
  onSealed(segment: Segment): void
  /** A group was written or failed, or a segment was sealed: whoever waits for either may look. */
  onProgress(): void
}

interface Queued {
  readonly request: Request
  done(): void
  fail(error: unknown): void
}

/** Owns the segment that is open. One thing is done after the other: a group of requests, the sealing of a segment. */
export class GroupWriter {
  readonly #options: GroupWriterOptions
  readonly #queue: Queued[] = []
  #next: number
  #open: OpenSegment | undefined
  #isSealAsked = false
  #working: Promise<void> | undefined

  constructor(options: GroupWriterOptions) {
    this.#options = options
    this.#next = options.next
  }

  /** Resolves when the request is on the disk. Rejects with SluiceError STATE_UNWRITABLE: then nothing of it counts. */
  async write(request: Request): Promise<void> {
    await new Promise<void>((done, fail) => {
      this.#queue.push({ request, done, fail })
      this.#work()
    })
  }

  /** The segment that is open is sealed once the group before is written; the next request begins another one. */
  seal(): void {
    this.#isSealAsked = true
    this.#work()
  }

  /** What is being written is written, and no file is open. */
  async close(): Promise<void> {
    this.seal()
    await this.#working
  }

  #work(): void {
    this.#working ??= this.#workOff().finally(() => {
      this.#working = undefined
      this.#options.onProgress()
      // What came since the last look.
      if (this.#queue.length > 0 || this.#isSealAsked) this.#work()
    })
  }

  async #workOff(): Promise<void> {
    while (this.#queue.length > 0 || this.#isSealAsked) {
      if (this.#queue.length > 0) await this.#writeGroup(this.#takeGroup())
      // A file that cannot be closed or removed keeps nobody from loading what was synced.
      if (this.#isSealAsked) await this.#sealOpen().catch(() => undefined)
      this.#isSealAsked = false
      this.#options.onProgress()
    }
  }

  /** All that wait, up to the size of a group; one request at least. */
  #takeGroup(): Queued[] {
    let bytes = 0
    const end = this.#queue.findIndex(({ request }) => (bytes += request.bytes.length) > GROUP_BYTES)
    return this.#queue.splice(0, end === -1 ? this.#queue.length : Math.max(1, end))
  }

  async #writeGroup(group: readonly Queued[]): Promise<void> {
    try {
      this.#open ??= await this.#begin()
      await this.#open.commit(group.map(({ request }) => request))
      for (const { request, done } of group) {
        this.#options.onWritten(request, this.#open.place.journal)
        done()
      }
      if (this.#open.bytes >= SEGMENT_BYTES) this.#isSealAsked = true
    } catch (error) {
      // Nobody knows what a later sync would vouch for: the segment ends with what was synced before.
      await this.#open?.takeBack()
      this.#isSealAsked = true
      for (const { fail } of group) fail(stateUnwritable(this.#options.folder, error))
    }
  }

  async #begin(): Promise<OpenSegment> {
    const { folder, newToken } = this.#options
    const segment = await OpenSegment.create(placeOf(folder, this.#next, newToken()))
    this.#next += 1
    // Synced documents in a file whose name is not on the disk would be lost with it.
    await syncFolder(folder)
    return segment
  }

  async #sealOpen(): Promise<void> {
    const segment = this.#open
    if (segment === undefined) return
    this.#open = undefined
    const { whole } = segment
    if (whole.bytes > 0) this.#options.onSealed(whole)
    await segment.close()
    if (whole.bytes > 0) return
    await rm(whole.path, { force: true })
    await rm(whole.journal, { force: true })
  }
}
