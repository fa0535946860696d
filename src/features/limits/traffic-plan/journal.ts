/**
 * Keeps the bytes that all processes have sent and received through one proxy account. Each process only appends lines, one for what it
 * has carried since its last line. So nothing counts twice, and a killed process loses at most what it had not written yet.
 */
import { appendFileSync, closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { parseObject } from '../../../base/json/parse-json.js'
import { dayOf, monthOf, type Period } from './period.js'

/** A process that carries little writes at most this often. */
const WRITING_MS = 60_000
const FEED = 0x0a

interface JournalOptions {
  /** Its folder, which exists. Holds one file for each calendar month. */
  readonly folder: string
  /** Returns the bytes that this process has carried so far. */
  carried(): number
  /** Bytes that are worth a line before `WRITING_MS` are over. */
  readonly worthWriting: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The contents of a file, by the midnight before it was written. */
interface MonthFile {
  offset: number
  readonly days: Map<number, number>
}

export class TrafficJournal {
  readonly #options: JournalOptions
  readonly #files = new Map<string, MonthFile>()
  #written: number
  #writtenAt: number

  /** Throws errors of the file system. */
  constructor(options: JournalOptions) {
    this.#options = options
    this.#written = options.carried()
    this.#writtenAt = options.now()
    for (const name of readdirSync(options.folder)) if (/^\d{4}-\d{2}\.ndjson$/.test(name)) this.#read(name)
  }

  /** The midnight before the first line. Undefined: nothing was written before. */
  get since(): number | undefined {
    const first = Math.min(...[...this.#files.values()].flatMap(({ days }) => [...days.keys()]))
    return first === Infinity ? undefined : first
  }

  /** Returns the bytes of a time, also those of this process that are in no line yet. */
  used({ from, until }: Period): number {
    const now = this.#options.now()
    let sum = now >= from && now < until ? this.#unwritten : 0
    for (const { days } of this.#files.values())
      for (const [day, bytes] of days) if (day >= from && day < until) sum += bytes
    return sum
  }

  /** Writes what this process has carried, if it is worth a line, and reads what others have written. */
  sync(isEnd = false): void {
    const { worthWriting, now } = this.#options
    const isDue = this.#unwritten >= worthWriting || now() - this.#writtenAt >= WRITING_MS
    if (this.#unwritten > 0 && (isDue || isEnd)) this.#write()
    this.#read(fileOf(now()))
  }

  get #unwritten(): number {
    return this.#options.carried() - this.#written
  }

  /** Throws errors of the file system. Then the bytes stay for the next line. */
  #write(): void {
    const { folder, now } = this.#options
    const bytes = this.#unwritten
    const at = now()
    // The line feed in front ends a line that another process could not finish.
    appendFileSync(join(folder, fileOf(at)), `\n${JSON.stringify({ at, bytes })}\n`, { mode: 0o600 })
    this.#written += bytes
    this.#writtenAt = at
  }

  /** Reads whole lines that were added to a file. */
  #read(name: string): void {
    const { text, size } = this.#added(name, this.#files.get(name)?.offset ?? 0)
    const end = text.lastIndexOf(FEED) + 1
    const known = this.#files.get(name)
    // Somebody has replaced the file.
    const file = known === undefined || size < known.offset ? { offset: 0, days: new Map<number, number>() } : known
    this.#files.set(name, file)
    file.offset += end
    for (const line of text.subarray(0, end).toString('latin1').split('\n')) {
      const { at, bytes } = parseObject(line) ?? {}
      if (!isCount(at) || !isCount(bytes)) continue
      const day = dayOf(at)
      file.days.set(day, (file.days.get(day) ?? 0) + bytes)
    }
  }

  #added(name: string, offset: number): { readonly text: Buffer; readonly size: number } {
    let file: number | undefined
    try {
      file = openSync(join(this.#options.folder, name), 'r')
      const { size } = fstatSync(file)
      const text = Buffer.alloc(Math.max(0, size - offset))
      const read = readSync(file, text, 0, text.length, offset)
      return { text: text.subarray(0, read), size }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { text: Buffer.alloc(0), size: 0 }
      throw error
    } finally {
      if (file !== undefined) closeSync(file)
    }
  }
}

function fileOf(at: number): string {
  return `${monthOf(at)}.ndjson`
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
