/** A part of the spool while requests are written to it: plain NDJSON, and its journal. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { type JournalEntry, journalLine } from './journal.js'

/** For their owner alone: documents may hold what the index would protect. */
const MODE = 0o600

/** Where a part of the spool lies. Its name is the part of the ids that is its own. */
export interface SegmentPlace {
  readonly name: string
  readonly token: string
  /** Of the documents. */
  readonly path: string
  readonly journal: string
}

/** A part that is whole, and waits to be loaded. */
export interface Segment extends SegmentPlace {
  readonly documents: number
  readonly bytes: number
}

/** What one caller sent: whole lines. */
export interface Request {
  readonly bytes: Uint8Array
  readonly documents: number
  readonly sha256: string
  readonly key?: string
}

export class OpenSegment {
  readonly place: SegmentPlace
  readonly #data: FileHandle
  readonly #journal: FileHandle
  #bytes = 0
  #journalBytes = 0
  #documents = 0

  private constructor(place: SegmentPlace, data: FileHandle, journal: FileHandle) {
    this.place = place
    this.#data = data
    this.#journal = journal
  }

  /** The folder is the caller's to sync. Rejects with the error of the file system, and leaves nothing. */
  static async create(place: SegmentPlace): Promise<OpenSegment> {
    const data = await open(place.path, 'wx', MODE)
    try {
      return new OpenSegment(place, data, await open(place.journal, 'wx', MODE))
    } catch (error) {
      await data.close()
      await rm(place.path, { force: true }).catch(() => undefined)
      throw error
    }
  }

  get bytes(): number {
    return this.#bytes
  }

  get whole(): Segment {
    return { ...this.place, documents: this.#documents, bytes: this.#bytes }
  }

  /**
   * Resolves when all of the requests are on the disk. Rejects with the error of the file system: then none of them counts, and
   * nothing more may be written here.
   */
  async commit(group: readonly Request[]): Promise<void> {
    let end = this.#bytes
    const lines = group.map(({ bytes, documents, sha256, key }) => {
      end += bytes.length
      const entry: JournalEntry = { end, documents, sha256, ...(key === undefined ? {} : { key }) }
      return journalLine(entry)
    })
    const journal = Buffer.from(lines.join(''))
    await writeAll(this.#data, Buffer.concat(group.map(({ bytes }) => bytes)), this.#bytes)
    await writeAll(this.#journal, journal, this.#journalBytes)
    await Promise.all([this.#data.datasync(), this.#journal.datasync()])
    this.#bytes = end
    this.#journalBytes += journal.length
    for (const { documents } of group) this.#documents += documents
  }

  /** Of a group that could not be written nothing is left, as far as the file system lets it be taken back. */
  async takeBack(): Promise<void> {
    // The journal first: what it does not name does not count.
    await this.#journal.truncate(this.#journalBytes).catch(() => undefined)
    await this.#data.truncate(this.#bytes).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#data.close()
    await this.#journal.close()
  }
}

/** A write may take less than it is given. */
async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}
