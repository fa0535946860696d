/**
 * Beside each part of the spool lies its journal: a line for each request that it holds. A request counts once both are on the
 * disk; what a process that was killed has left behind the last one that its journal vouches for was never acknowledged.
 */
import { createHash } from 'node:crypto'
import { parseJson } from '../text/json.js'

export interface JournalEntry {
  /** Offset behind the request's last byte. */
  readonly end: number
  readonly documents: number
  /** Of the request's bytes as they are spooled, in hex. */
  readonly sha256: string
  /** Of its idempotency key, in hex, where it has one. */
  readonly key?: string
}

export function journalLine(entry: JournalEntry): string {
  return `${JSON.stringify(entry)}\n`
}

/** The entries that are whole. A last line that was torn ends them, and so does one that is none. */
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
