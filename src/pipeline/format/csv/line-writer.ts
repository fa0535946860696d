import { CARRIAGE_RETURN, LINE_FEED, refusedLineStart } from '../../../base/text/bytes.js'
import { visible } from '../../../base/text/shown.js'
import { AS_IT_STANDS, type Column, MISSING, TEXT, UNFIT } from './columns.js'
import type { Quotation } from './quotation.js'
import { type Cells, DOUBLED, ESCAPED } from './split-row.js'

const USUAL_BYTES = 256 << 10
/** Lines are taken before the memory has no room for one. */
const FULL_BYTES = 192 << 10
const BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const COMMA = 0x2c
const BACKSLASH = 0x5c
const QUOTATION = 0x22

/** Cells of fewer bytes are copied byte by byte, which is faster. */
const SHORT_BYTES = 64

/** Writes rows as NDJSON lines into memory that is used again and again. */
export class LineWriter {
  readonly #columns: readonly Column[]
  readonly #writesNull: boolean
  readonly #quotation: Quotation
  readonly #showsCells: boolean
  readonly #usual: Buffer
  #out: Buffer
  #at = 0

  /** `showsCells`: whether the reason why a row is refused may hold one of its cells. `memory`: where it writes, unless a line needs more. */
  constructor(
    columns: readonly Column[],
    writesNull: boolean,
    quotation: Quotation,
    showsCells: boolean,
    memory: Buffer = Buffer.allocUnsafeSlow(USUAL_BYTES),
  ) {
    this.#usual = memory
    this.#out = memory
    this.#columns = columns
    this.#writesNull = writesNull
    this.#quotation = quotation
    this.#showsCells = showsCells
  }

  get isFull(): boolean {
    return this.#at >= FULL_BYTES
  }

  /** Where the lines are since the last call of `take`, and how many bytes they have. */
  get memory(): Buffer {
    return this.#out
  }
  get filled(): number {
    return this.#at
  }

  /** Adds lines that somebody else has written behind those. */
  fillTo(end: number): void {
    this.#at = end
  }

  /** Returns the lines since the last call, which are valid until the next line. */
  take(): Buffer {
    const lines = this.#out.subarray(0, this.#at)
    this.#at = 0
    this.#out = this.#usual
    return lines
  }

  /** Writes a row as a document, or as a blank line if all its cells are empty. It has a cell for each column. Returns why nothing was written. */
  row(bytes: Buffer, cells: Cells): string | undefined {
    const { starts, ends, marks } = cells
    const columns = this.#columns
    const count = columns.length
    const first = this.#at
    // For a line that turns out to be blank.
    this.#reserve(2)
    let isEmpty = true
    for (let cell = 0; cell < count; cell += 1) {
      const column = columns[cell] as Column
      const start = starts[cell] as number
      const end = ends[cell] as number
      const value =
        start === end
          ? MISSING
          : column.read === undefined
            ? TEXT
            : column.read(bytes, start, end, marks[cell] as number)
      if (value === MISSING) {
        if (this.#writesNull && column.takesNull) this.#value(column, 'null')
        continue
      }
      isEmpty = false
      if (value === UNFIT) {
        this.#at = first
        const problem = `column ${column.label}: not of the type ${column.type}`
        return this.#showsCells ? `${problem}, such as ${shownCell(bytes, start, end)}` : problem
      }
      if (typeof value === 'string') {
        this.#value(column, value)
        continue
      }
      this.#reserve(column.prefix.length + (end - start) * 6 + 3)
      this.#copy(column.prefix, 0, column.prefix.length - (value === TEXT ? 0 : 1))
      if (value === AS_IT_STANDS) this.#copy(bytes, start, end)
      else this.#cell(bytes, start, end, marks[cell] as number)
    }
    if (isEmpty) this.#at = first
    else {
      // Each field begins with a comma.
      this.#out[first] = BRACE
      this.#out[this.#at++] = CLOSING_BRACE
    }
    this.#out[this.#at++] = LINE_FEED
    return undefined
  }

  blank(): void {
    this.#reserve(1)
    this.#out[this.#at++] = LINE_FEED
  }

  /** Writes a row that is no document, as a JSON array of its cells. */
  refused(reason: string, bytes: Buffer, cells: Cells): void {
    const first = this.#refusal(reason)
    for (let cell = 0; cell < cells.count; cell += 1)
      this.#item(bytes, cells.starts[cell] as number, cells.ends[cell] as number, cells.marks[cell] as number)
    this.#close(first)
  }

  /** Writes the line `bytes[from, to)`, which could not be split into cells, as an array with one text. */
  refusedText(reason: string, bytes: Buffer, from: number, to: number): void {
    const first = this.#refusal(reason)
    let end = to
    while (end > from && (bytes[end - 1] === LINE_FEED || bytes[end - 1] === CARRIAGE_RETURN)) end -= 1
    this.#item(bytes, from, end, ESCAPED)
    this.#close(first)
  }

  #refusal(reason: string): number {
    const start = refusedLineStart('DOCUMENT_ROW_INVALID', reason)
    this.#reserve(start.length)
    this.#copy(start, 0, start.length)
    return this.#at
  }

  #close(first: number): void {
    this.#out[first] = BRACKET
    this.#reserve(2)
    this.#out[this.#at++] = CLOSING_BRACKET
    this.#out[this.#at++] = LINE_FEED
  }

  #item(bytes: Buffer, start: number, end: number, mark: number): void {
    this.#reserve((end - start) * 6 + 4)
    this.#out[this.#at++] = COMMA
    this.#out[this.#at++] = QUOTATION
    this.#cell(bytes, start, end, mark)
  }

  /** Writes a cell and the quotation mark behind it. There is room. */
  #cell(bytes: Buffer, start: number, end: number, mark: number): void {
    if (mark === 0) this.#copy(bytes, start, end)
    else this.#escaped(bytes, start, end, (mark & DOUBLED) !== 0)
    this.#out[this.#at++] = QUOTATION
  }

  #copy(bytes: Buffer, start: number, end: number): void {
    const out = this.#out
    let to = this.#at
    if (end - start < SHORT_BYTES) for (let at = start; at < end; at += 1) out[to++] = bytes[at] as number
    else to += bytes.copy(out, to, start, end)
    this.#at = to
  }

  /** `isDoubled`: a quote stands twice for once, or behind a backslash. */
  #escaped(bytes: Buffer, start: number, end: number, isDoubled: boolean): void {
    const out = this.#out
    const quote = isDoubled ? this.#quotation.byte : undefined
    const slash = isDoubled && this.#quotation.isSlashed ? BACKSLASH : undefined
    let to = this.#at
    for (let at = start; at < end; at += 1) {
      let byte = bytes[at] as number
      if (byte === quote) at += 1
      else if (byte === slash && (bytes[at + 1] === quote || bytes[at + 1] === slash)) {
        at += 1
        byte = bytes[at] as number
      }
      if (byte >= 0x20 && byte !== QUOTATION && byte !== BACKSLASH) out[to++] = byte
      else {
        const escape = escapes[byte] as string
        for (let letter = 0; letter < escape.length; letter += 1) out[to++] = escape.charCodeAt(letter)
      }
    }
    this.#at = to
  }

  /** Writes a field that is no text. Each character of the value is one byte. */
  #value(column: Column, value: string): void {
    this.#reserve(column.prefix.length + value.length + 2)
    this.#copy(column.prefix, 0, column.prefix.length - 1)
    for (let at = 0; at < value.length; at += 1) this.#out[this.#at++] = value.charCodeAt(at)
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes
    if (needed <= this.#out.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#out.length * 2, needed))
    this.#out.copy(larger, 0, 0, this.#at)
    this.#out = larger
  }
}

/** Bytes of a cell that a reason shows. */
const SHOWN_BYTES = 40

function shownCell(bytes: Buffer, start: number, end: number): string {
  const isLong = end - start > SHOWN_BYTES
  return visible(bytes.toString('utf8', start, isLong ? start + SHOWN_BYTES : end)) + (isLong ? '…' : '')
}

/** How JSON writes the bytes that it cannot take as they are, and others before the last of them. */
export const escapes = Array.from({ length: BACKSLASH + 1 }, (_, byte) =>
  JSON.stringify(String.fromCharCode(byte)).slice(1, -1),
)
