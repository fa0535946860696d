import { isUtf8 } from 'node:buffer'
import { CARRIAGE_RETURN, LINE_FEED } from '../../../base/text/bytes.js'
import { type Quotation, unquoted } from './quotation.js'
import { DOUBLED, RowSplitter } from './split-row.js'

/** Most bytes of a row in memory. A quote that is never closed makes one row of the rest of the file. */
const LONGEST_ROW_BYTES = 64 << 20
/** A longer part of a row is looked at again only when as many bytes have come. */
const SHORT_ROW_BYTES = 1 << 20
/** A longer one is looked at again when a line ends, or when a part of its bytes has come: chunks may be of one byte. */
const SHORTEST_ROW_BYTES = 8 << 10
const GROWTH = 1 / 16
/** Memory that a long row needs is not kept behind it. */
const MOST_KEPT_BYTES = 8 << 20

/** `broken`: a line in which text follows a closing quote, or whose quote closes in a later line, before text. `open`: the input ends inside a quoted cell. `long`: a row larger than Sluice holds. */
type NextRow = 'row' | 'broken' | 'open' | 'long'

/** Takes rows from chunks of UTF-8, and knows their lines. */
export class Rows {
  /** The cells of the row that came last. */
  readonly cells: RowSplitter
  /** That row: where it stands in `bytes`, and its first line in the file. */
  bytes: Buffer = Buffer.alloc(0)
  from = 0
  to = 0
  line = 0
  readonly #quotation: Quotation
  /** The first line of the next row. */
  nextLine: number
  isLast = false
  /** Before this offset all bytes are UTF-8. Behind it, each row must be looked at. */
  utf8To = 0
  #isOwn = true
  /** Holds `bytes` if these are no chunk. */
  #memory = Buffer.alloc(0)
  /** Chunks behind `bytes`, copied. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** The part of the chunk behind `bytes` that is not looked at yet. */
  #rest: Buffer | undefined

  constructor(delimiter: string, quotation: Quotation, firstLine: number) {
    this.#quotation = quotation
    this.nextLine = firstLine
    this.cells = new RowSplitter(delimiter.charCodeAt(0), quotation)
  }

  /** Adds a chunk. Call `keep` before its memory changes. */
  add(chunk: Buffer): void {
    const left = this.bytes.length - this.to
    const waiting = this.#waitingBytes + chunk.length
    const isShort = left <= SHORT_ROW_BYTES && (waiting >= left * GROWTH || chunk.includes(LINE_FEED))
    if (left <= SHORTEST_ROW_BYTES || isShort || waiting >= left) this.#join(chunk)
    else {
      this.#waiting.push(Buffer.from(chunk))
      this.#waitingBytes = waiting
    }
  }

  /** Copies what is left of the last chunk. */
  keep(): void {
    if (this.#isOwn) return
    this.utf8To = Math.max(0, this.utf8To - this.to)
    this.bytes = this.#inMemory([this.bytes.subarray(this.to)])
    this.#isOwn = true
    this.from = this.to = 0
  }

  /** Adds the last chunk. */
  end(chunk: Buffer): void {
    this.isLast = true
    this.#join(chunk)
  }

  /** Joins what is left with a chunk: as a rule only with its first line, so that the others stay where they are. */
  #join(chunk: Buffer, isWhole = false): void {
    const left = this.bytes.subarray(this.to)
    this.#isOwn = left.length > 0 || this.#waiting.length > 0
    const end = this.#isOwn && !isWhole ? chunk.indexOf(LINE_FEED) + 1 : 0
    this.#rest = end === 0 || end === chunk.length ? undefined : chunk.subarray(end)
    const first = this.#rest === undefined ? chunk : chunk.subarray(0, end)
    this.bytes = this.#isOwn ? this.#inMemory([left, ...this.#waiting, first]) : chunk
    this.from = this.to = 0
    this.#waiting = []
    this.#waitingBytes = 0
    this.utf8To = utf8End(this.bytes)
  }

  /** Joins bytes in the same memory each time, of which the first ones may be a part. */
  #inMemory(parts: readonly Buffer[]): Buffer {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0)
    const isTooLarge = this.#memory.length > MOST_KEPT_BYTES && bytes < MOST_KEPT_BYTES / 2
    const memory =
      bytes > this.#memory.length || isTooLarge ? Buffer.allocUnsafeSlow(Math.ceil(bytes * 1.5)) : this.#memory
    let at = 0
    for (const part of parts) at += part.copy(memory, at)
    this.#memory = memory
    return memory.subarray(0, bytes)
  }

  /** Until there the bytes may hold whole rows. */
  get reach(): number {
    return this.#waiting.length > 0 ? this.to : this.bytes.length
  }

  /** Passes rows that end at `to`, and take so many lines. */
  pass(to: number, lines: number): void {
    this.to = to
    this.nextLine += lines
  }

  /** Moves to the next row. Undefined: it is not whole yet, or there is none. */
  next(): NextRow | undefined {
    for (;;) {
      const found = this.#next()
      const rest = this.#rest
      if (found !== undefined || rest === undefined) return found
      this.#join(rest, true)
    }
  }

  #next(): NextRow | undefined {
    const { bytes, cells, to: from } = this
    if (from === this.reach) return undefined
    const found = cells.next(bytes, from, this.isLast && this.#rest === undefined)
    if (found === 'open') return found
    const end = found === 'row' ? cells.end : found === 'broken' ? this.#endOfLine(from) : -1
    if (end < 0) return bytes.length - from > LONGEST_ROW_BYTES ? 'long' : undefined
    this.from = from
    this.to = end
    this.line = this.nextLine
    this.nextLine += found === 'row' ? 1 + cells.innerLines : 1
    return found as NextRow
  }

  /** Whether all bytes of the row are UTF-8. */
  get isValid(): boolean {
    return this.to <= this.utf8To || isUtf8(this.bytes.subarray(this.from, this.to))
  }

  get isBlank(): boolean {
    return this.cells.count === 1 && this.cells.starts[0] === this.cells.ends[0]
  }

  texts(): string[] {
    const { starts, ends, marks, count } = this.cells
    return Array.from({ length: count }, (_, cell) => {
      const text = this.bytes.toString('utf8', starts[cell], ends[cell])
      return ((marks[cell] ?? 0) & DOUBLED) === 0 ? text : unquoted(text, this.#quotation)
    })
  }

  /** Returns the offset behind the line, or -1 if its end has not come yet. */
  #endOfLine(from: number): number {
    const { bytes } = this
    for (let at = from; at < bytes.length; at += 1) {
      if (bytes[at] === LINE_FEED) return at + 1
      if (bytes[at] !== CARRIAGE_RETURN) continue
      if (at + 1 < bytes.length) return at + (bytes[at + 1] === LINE_FEED ? 2 : 1)
      break
    }
    return this.isLast && this.#rest === undefined ? bytes.length : -1
  }
}

/** Returns the end of the bytes that are UTF-8: all, or all lines but the last one, in which a chunk may end within a character, or none. */
function utf8End(bytes: Buffer): number {
  if (isUtf8(bytes)) return bytes.length
  const lines = bytes.lastIndexOf(LINE_FEED) + 1
  return isUtf8(bytes.subarray(0, lines)) ? lines : 0
}
