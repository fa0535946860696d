/**
 * Reads and writes the journal of a segment: one line for each request in it. A request counts as soon as both files are on the disk.
 * Bytes behind the last request of the journal were never acknowledged. A killed process may leave some.
 */
import { createHash } from 'node:crypto'
import { parseJson } from '../text/parse-json.js'

export interface JournalEntry {
  /** Offset behind the request's last byte. */
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
export function parseJournal(text: string): JournalEntry[] {
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
