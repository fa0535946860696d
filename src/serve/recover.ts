/** Finds the documents that earlier processes left in the spool. */
import { createHash } from 'node:crypto'
import { type FileHandle, open, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { type JournalEntry, journalLine, parseJournal, type Segment, type SegmentPlace } from './segment.js'

const DATA = '.ndjson'
const JOURNAL = '.requests'
const READ_BYTES = 1 << 20

export interface Recovered {
  /** Oldest first. */
  readonly segments: readonly Segment[]
  /** Keys of requests with their journals, oldest first. */
  readonly keys: readonly { readonly journal: string; readonly entries: readonly JournalEntry[] }[]
  /** Bytes of requests that were never acknowledged. */
  readonly cutBytes: number
  /** The number of the next segment. */
  readonly next: number
}

/** Returns the paths of a segment. Segments are loaded in the order of their numbers. */
export function segmentPlace(folder: string, number: number, token: string): SegmentPlace {
  const name = `${String(number).padStart(12, '0')}-${token}`
  return { name, token, path: join(folder, name + DATA), journal: join(folder, name + JOURNAL) }
}

/**
 * Reads the folder and cuts off bytes that are in no journal, so that only whole requests stay. Rejects with the error of the file
 * system.
 */
export async function recover(folder: string): Promise<Recovered> {
  const names = (await readdir(folder)).toSorted()
  const segments: Segment[] = []
  const keys: { journal: string; entries: JournalEntry[] }[] = []
  let cutBytes = 0
  let next = 1
  for (const name of new Set(names.map(one => one.replace(/\.(ndjson|requests)$/, '')))) {
    const [, number, token] = /^(\d{12})-([a-z2-7]{16})$/.exec(name) ?? []
    if (number === undefined || token === undefined) continue
    next = Math.max(next, Number(number) + 1)
    const place = segmentPlace(folder, Number(number), token)
    const entries = names.includes(`${name}${JOURNAL}`) ? parseJournal(await readFile(place.journal, 'utf8')) : []
    const isLoaded = !names.includes(`${name}${DATA}`)
    const { whole, size } = isLoaded ? { whole: entries, size: 0 } : await vouchedFor(place.path, entries)
    const bytes = isLoaded ? 0 : (whole.at(-1)?.end ?? 0)
    cutBytes += size - bytes
    const keyed = whole.filter(({ key }) => key !== undefined)
    if (keyed.length > 0) keys.push({ journal: place.journal, entries: keyed })
    if (bytes > 0) {
      if (size > bytes) await truncate(place.path, bytes)
      // After the load only the journal stays. Then nobody could check its entries any more.
      if (whole.length < entries.length) await truncate(place.journal, whole.map(journalLine).join('').length)
      // Some requests may be written but not synced. From now on they count, and a repeated request relies on them.
      for (const path of [place.path, place.journal]) await syncFile(path)
      segments.push({ ...place, bytes, documents: whole.reduce((sum, { documents }) => sum + documents, 0) })
    } else {
      await rm(place.path, { force: true })
      if (keyed.length === 0) await rm(place.journal, { force: true })
    }
  }
  return { segments, keys, cutBytes, next }
}

/** Returns the entries up to the first one whose bytes are missing or different. */
async function vouchedFor(
  path: string,
  entries: readonly JournalEntry[],
): Promise<{ readonly whole: readonly JournalEntry[]; readonly size: number }> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const whole: JournalEntry[] = []
    for (const entry of entries) {
      const from = whole.at(-1)?.end ?? 0
      if (entry.end > size || (await hashAt(file, from, entry.end)) !== entry.sha256) break
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

async function hashAt(file: FileHandle, from: number, to: number): Promise<string> {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, Math.max(1, to - from)))
  for (let at = from; at < to;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
  return hash.digest('hex')
}
