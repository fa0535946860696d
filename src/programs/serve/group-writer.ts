/**
 * Writes requests in groups: requests that arrive during a write form the next group, and share one sync. A sync costs the same for
 * one request as for many.
 */
import { rm } from 'node:fs/promises'
import { stateUnwritable } from '../../base/disk/safe-files.js'
import { syncFolder } from '../../base/disk/safe-files.js'
import { segmentPlace } from './recover.js'
import { OpenSegment, type Request, type Segment } from './segment.js'

/** A segment is sealed at one of these sizes. A start reads journals into memory. */
const SEGMENT_BYTES = 32_000_000
const SEGMENT_REQUESTS = 20_000
/** Larger groups would need more memory, beside that of their requests. */
const GROUP_BYTES = 4_000_000

interface GroupWriterOptions {
  /** An existing folder that no other process writes to. */
  readonly folder: string
  readonly next: number
  /** Makes the part of ids that belongs to one segment. */
  newToken(): string
  /** Called when the request is on the disk, in that journal, before its `write` resolves. */
  onWritten(request: Request, journal: string): void
  onSealed(segment: Segment): void
  /** Called when a group was written or failed, or a segment was sealed. */
  onProgress(): void
}

interface Queued {
  readonly request: Request
  done(): void
  fail(error: unknown): void
}

/** Owns the open segment. Writes groups and seals segments one after the other. */
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

  /** Resolves when the request is on the disk. Rejects with SluiceError STATE_UNWRITABLE. Then no part of the request counts. */
  async write(request: Request): Promise<void> {
    await new Promise<void>((done, fail) => {
      this.#queue.push({ request, done, fail })
      this.#work()
    })
  }

  /** Seals the open segment after the current group. The next request begins another segment. */
  seal(): void {
    this.#isSealAsked = true
    this.#work()
  }

  /** Resolves when all writes are finished and no file is open. */
  async close(): Promise<void> {
    this.seal()
    await this.#working
  }

  #work(): void {
    this.#working ??= this.#workOff().finally(() => {
      this.#working = undefined
      this.#options.onProgress()
      // Requests may have arrived since the last look.
      if (this.#queue.length > 0 || this.#isSealAsked) this.#work()
    })
  }

  async #workOff(): Promise<void> {
    while (this.#queue.length > 0 || this.#isSealAsked) {
      if (this.#queue.length > 0) await this.#writeGroup(this.#takeGroup())
      // A file that cannot be closed or removed must not stop the load of synced requests.
      if (this.#isSealAsked) await this.#sealOpen().catch(() => undefined)
      this.#isSealAsked = false
      this.#options.onProgress()
    }
  }

  /** Takes the waiting requests, up to the size of a group, and at least one. */
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
      const { bytes, requests } = this.#open.whole
      if (bytes >= SEGMENT_BYTES || requests >= SEGMENT_REQUESTS) this.#isSealAsked = true
    } catch (error) {
      // After a failed sync, a later one proves nothing. The segment ends with the requests that were synced before.
      await this.#open?.takeBack()
      this.#isSealAsked = true
      for (const { fail } of group) fail(stateUnwritable(this.#options.folder, error))
    }
  }

  async #begin(): Promise<OpenSegment> {
    const { folder, newToken } = this.#options
    const segment = await OpenSegment.create(segmentPlace(folder, this.#next, newToken()))
    this.#next += 1
    // If the name of the file is not on the disk, its synced documents are lost too.
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
