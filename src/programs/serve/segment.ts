/** Writes requests to a segment of the spool: plain NDJSON, and its journal. */
import { type FileHandle, open, rm } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { parseJson } from '../../base/json/parse-json.js'

/** Maximum length of the journal's line for a request, in bytes. */
export const ENTRY_BYTES = 256
/** Only the owner may read the documents: the index may protect their content. */
const MODE = 0o600

/** The paths of a segment. The token in its name is part of the ids of its documents. */
export interface SegmentPlace {
  readonly name: string
  readonly token: string
  readonly path: string
  readonly journal: string
}

/** A complete segment that waits to be loaded. */
export interface Segment extends SegmentPlace {
  readonly documents: number
  readonly bytes: number
  readonly requests: number
}

/** The documents of one caller, as whole lines. */
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
  #requests = 0

  private constructor(place: SegmentPlace, data: FileHandle, journal: FileHandle) {
    this.place = place
    this.#data = data
    this.#journal = journal
  }

  /** Creates the files. The caller syncs the folder. Rejects with the error of the file system, and then leaves no file. */
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

  get whole(): Segment {
    return { ...this.place, documents: this.#documents, bytes: this.#bytes, requests: this.#requests }
  }

  /**
   * Resolves when all requests are on the disk. Rejects with the error of the file system. Then none of them counts, and nothing more
   * may be written to this segment.
   */
  async commit(group: readonly Request[]): Promise<void> {
    let end = this.#bytes
    const lines = group.map(({ bytes, documents, sha256, key }) => {
      end += bytes.length
      const entry: JournalEntry = { end, documents, sha256, ...(key === undefined ? {} : { key }) }
      return journalLine(entry)
    })
    const journal = Buffer.from(lines.join(''))
    const [{ bytes: first }] = group as readonly [Request]
    await this.#data.writeFile(group.length === 1 ? first : Buffer.concat(group.map(({ bytes }) => bytes)))
    await this.#journal.writeFile(journal)
    await Promise.all([this.#data.datasync(), this.#journal.datasync()])
    this.#bytes = end
    this.#journalBytes += journal.length
    for (const { documents } of group) this.#documents += documents
    this.#requests += group.length
  }

  /** Cuts off a group that could not be written, if the file system allows it. */
  async takeBack(): Promise<void> {
    // The journal comes first: a request that is not in it does not count.
    await this.#journal.truncate(this.#journalBytes).catch(() => undefined)
    await this.#data.truncate(this.#bytes).catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#data.close()
    await this.#journal.close()
  }
}

/**
 * One line of the journal, for one request. A request counts as soon as both files are on the disk. Bytes behind the last request of
 * the journal were never acknowledged. A killed process may leave some.
 */
export interface JournalEntry {
  readonly end: number
  readonly documents: number
  /** The hash of the spooled bytes of the request, in hex. */
  readonly sha256: string
  /** The hash of its idempotency key, in hex, if it has one. */
  readonly key?: string
}

export function journalLine(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`
}

/** Returns the entries up to the first line that is incomplete or no entry. */
export function parseSegmentJournal(text: string): JournalEntry[] {
  const entries: JournalEntry[] = []
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    const entry = line === '' ? undefined : parseEntry(line)
    if (entry === undefined || entry.end < (entries.at(-1)?.end ?? 0)) break
    entries.push(entry)
  }
  return entries
}

export function hashOf(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function parseEntry(line: string): JournalEntry | undefined {
  const value = parseJson(line) as Partial<Record<keyof JournalEntry, unknown>> | null | undefined
  const isEntry =
    Number.isSafeInteger(value?.end) &&
    Number.isSafeInteger(value?.documents) &&
    typeof value?.sha256 === 'string' &&
    (value.key === undefined || typeof value.key === 'string')
  return isEntry ? (value as JournalEntry) : undefined
}
