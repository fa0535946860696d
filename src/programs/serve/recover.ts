/** Finds the documents that earlier processes left in the spool. */
import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { RecentKeys } from './recent-keys.js'
import { type JournalEntry, journalLine, parseSegmentJournal, type Segment, type SegmentPlace } from './segment.js'

const DATA = '.ndjson'
const JOURNAL = '.requests'
const READ_BYTES = 1 << 20

export interface Recovered {
  /** Oldest first. */
  readonly segments: readonly Segment[]
  readonly cutBytes: number
  readonly next: number
}

/** Returns the paths of a segment. Segments are loaded in the order of their numbers. */
export function segmentPlace(folder: string, number: number, token: string): SegmentPlace {
  const name = `${String(number).padStart(12, '0')}-${token}`
  return { name, token, path: join(folder, name + DATA), journal: join(folder, name + JOURNAL) }
}

/**
 * Reads the folder and cuts off bytes that are in no journal, so that only whole requests stay. Adds their keys. Rejects with the error
 * of the file system.
 */
export async function recover(folder: string, keys = new RecentKeys()): Promise<Recovered> {
  const names = (await readdir(folder)).toSorted()
  // A killed process may have left a journal that it was replacing.
  for (const name of names.filter(one => one.endsWith('.tmp'))) await rm(join(folder, name), { force: true })
  const segments: Segment[] = []
  let cutBytes = 0
  let next = 1
  for (const name of new Set(names.map(one => one.replace(/\.(ndjson|requests)$/, '')))) {
    const [, number, token] = /^(\d{12})-([a-z2-7]{16})$/.exec(name) ?? []
    if (number === undefined || token === undefined) continue
    next = Math.max(next, Number(number) + 1)
    const place = segmentPlace(folder, Number(number), token)
    const entries = names.includes(`${name}${JOURNAL}`)
      ? parseSegmentJournal(await readFile(place.journal, 'utf8'))
      : []
    const isLoaded = !names.includes(`${name}${DATA}`)
    const { whole, size } = isLoaded ? { whole: entries, size: 0 } : await vouchedFor(place.path, entries)
    const bytes = isLoaded ? 0 : (whole.at(-1)?.end ?? 0)
    cutBytes += size - bytes
    for (const entry of whole) keys.add(place.journal, entry)
    if (bytes > 0) {
      if (size > bytes) await truncate(place.path, bytes)
      // After the load only the journal stays, and its entries cannot be checked any more.
      if (whole.length < entries.length) await truncate(place.journal, whole.map(journalLine).join('').length)
      // Some requests may be written but not synced. From now on they count, and a repeated request relies on them.
      for (const path of [place.path, place.journal]) await syncFile(path)
      const documents = whole.reduce((sum, one) => sum + one.documents, 0)
      segments.push({ ...place, bytes, documents, requests: whole.length })
    } else {
      await rm(place.path, { force: true })
      keys.retire(place.journal)
    }
  }
  for (const journal of keys.takeUnneeded()) await rm(journal, { force: true })
  return { segments, cutBytes, next }
}

/** Returns the entries up to the first one whose bytes are missing or different. */
async function vouchedFor(
  path: string,
  entries: readonly JournalEntry[],
): Promise<{ readonly whole: readonly JournalEntry[]; readonly size: number }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const reader = new FileReader(file)
    const whole: JournalEntry[] = []
    for (const entry of entries) {
      const from = whole.at(-1)?.end ?? 0
      if (entry.end > size || (await hashAt(reader, from, entry.end)) !== entry.sha256) break
      whole.push(entry)
    }
    return { whole, size }
  } finally {
    await file.close()
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
}

async function hashAt(reader: FileReader, from: number, to: number): Promise<string> {
  const hash = createHash('sha256')
  for (let at = from; at < to;) {
    const bytes = await reader.from(at, to)
    if (bytes.length === 0) break
    hash.update(bytes)
    at += bytes.length
  }
  return hash.digest('hex')
}

/** Reads a file in large pieces. There may be thousands of small requests in each. */
class FileReader {
  readonly #file: FileHandle
  readonly #buffer = Buffer.allocUnsafe(READ_BYTES)
  #start = 0
  #length = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Returns some bytes from `at` on, at most up to `to`. Returns none at the end of the file. They are valid until the next call. */
  async from(at: number, to: number): Promise<Uint8Array> {
    if (at >= this.#start + this.#length) {
      this.#start = at
      this.#length = (await this.#file.read(this.#buffer, 0, READ_BYTES, at)).bytesRead
    }
    return this.#buffer.subarray(at - this.#start, Math.min(this.#length, to - this.#start))
  }
}
