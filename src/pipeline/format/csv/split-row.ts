import type { Quotation } from './quotation.js'

/** The kinds of bytes. The first two continue the cell, and only the second needs an escape in JSON. */
const PLAIN = 0
export const ESCAPED = 1
const DELIMITER = 2
const QUOTE = 3
const CR = 4
const LF = 5
const BACKSLASH = 6

/** The mark of a cell in which a quote stands twice, or behind a backslash. */
export const DOUBLED = 2

/** A row with more cells is only counted: their places would need much more memory than its text. No index has as many fields. */
export const MOST_CELLS = 100_000

/** The cells of a row, as places in its bytes. */
export interface Cells {
  /** For each cell: its first byte, the byte after its last one, and ESCAPED and DOUBLED if they hold. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  readonly marks: readonly number[]
  readonly count: number
}

const BLANK = 0x20
const BACKSLASH_BYTE = 0x5c
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** `cut`: the row continues after these bytes. `open`: the input ends inside a quoted cell. `broken`: text follows a closing quote. */
type FoundRow = 'row' | 'cut' | 'open' | 'broken'

/**
 * Finds the cells of one row after the other (RFC 4180). A row ends with a line feed, a carriage return, or both. A quote is only
 * one at the start of a cell, or behind blanks there. A backslash counts only inside quotes, and only if it may stand there. The same
 * arrays serve every row.
 */
export class RowSplitter implements Cells {
  /** The kinds of bytes in a cell without quotes, and in one with quotes. */
  readonly #bare: Uint8Array
  readonly #quoted: Uint8Array
  readonly #quote: number | undefined
  readonly starts: number[] = []
  readonly ends: number[] = []
  readonly marks: number[] = []
  /** If it is more than MOST_CELLS, the arrays hold only the first MOST_CELLS cells. */
  count = 0
  /** Offset behind the row and its line end. */
  end = 0
  /** Line ends inside its cells. */
  innerLines = 0

  constructor(delimiter: number, { byte: quote, isSlashed }: Quotation) {
    this.#quote = quote
    const kinds = new Uint8Array(256).fill(ESCAPED, 0, 0x20)
    for (const byte of [0x22, 0x5c]) kinds[byte] = ESCAPED
    kinds[CARRIAGE_RETURN] = CR
    kinds[LINE_FEED] = LF
    this.#quoted = Uint8Array.from(kinds)
    if (quote !== undefined) this.#quoted[quote] = QUOTE
    if (isSlashed) this.#quoted[BACKSLASH_BYTE] = BACKSLASH
    this.#bare = kinds
    this.#bare[delimiter] = DELIMITER
  }

  /** Takes the row that begins at `from`, which is not the end of the bytes. `isLast`: no more bytes follow these. */
  next(bytes: Uint8Array, from: number, isLast: boolean): FoundRow {
    const kinds = this.#bare
    const to = bytes.length
    let at = from
    this.innerLines = 0
    for (this.count = 0; ; at += 1) {
      let mark = PLAIN
      let start = at
      let end = at
      const opening = this.#opening(bytes, at)
      const quoted = opening < 0 ? undefined : this.#quotedCell(bytes, at, opening, isLast)
      if (quoted === 'cut' || quoted === 'open') return quoted
      if (quoted === undefined) {
        for (; at < to; at += 1) {
          const kind = kinds[bytes[at] as number] as number
          if (kind > ESCAPED) break
          mark |= kind
        }
        end = at
      } else {
        start = opening + 1
        end = quoted
        mark = this.#mark
        at = this.#afterBlanks(bytes, end + 1)
      }
      if (this.count < MOST_CELLS) {
        this.starts[this.count] = start
        this.ends[this.count] = end
        this.marks[this.count] = mark
      }
      this.count += 1
      if (at >= to) {
        this.end = to
        return isLast ? 'row' : 'cut'
      }
      const kind = kinds[bytes[at] as number]
      if (kind === DELIMITER) continue
      if (kind !== LF && kind !== CR) return 'broken'
      if (kind === CR && at + 1 === to && !isLast) return 'cut'
      this.end = at + (kind === CR && bytes[at + 1] === LINE_FEED ? 2 : 1)
      return 'row'
    }
  }

  #mark = PLAIN

  /** Returns the offset of the quote that opens the cell at `at`, which blanks may precede. -1 if there is none. */
  #opening(bytes: Uint8Array, at: number): number {
    const quote = this.#quote
    if (quote === undefined) return -1
    if (bytes[at] === quote) return at
    if (bytes[at] !== BLANK) return -1
    const from = this.#afterBlanks(bytes, at)
    return bytes[from] === quote ? from : -1
  }

  /** Returns the offset of the closing quote. Undefined if the cell begins with blanks, and holds more than one text in quotes. */
  #quotedCell(bytes: Uint8Array, from: number, opening: number, isLast: boolean): number | 'cut' | 'open' | undefined {
    const isIndented = opening > from
    const closing = this.#closing(bytes, opening + 1, isLast, isIndented)
    if (closing === CUT) return 'cut'
    if (closing === OPEN) return isIndented ? undefined : 'open'
    if (!isIndented) return closing
    const behind = this.#afterBlanks(bytes, closing + 1)
    if (behind >= bytes.length) return isLast ? closing : 'cut'
    return (this.#bare[bytes[behind] as number] as number) > ESCAPED ? closing : undefined
  }

  /** If the delimiter is no blank, blanks around a cell in quotes belong to no cell. */
  #afterBlanks(bytes: Uint8Array, from: number): number {
    let at = from
    if (this.#bare[BLANK] !== DELIMITER) while (bytes[at] === BLANK) at += 1
    return at
  }

  /** Returns the offset of the quote that closes a cell. `isOneLine`: it must close in this line. */
  #closing(bytes: Uint8Array, from: number, isLast: boolean, isOneLine: boolean): number {
    const kinds = this.#quoted
    const to = bytes.length
    this.#mark = PLAIN
    for (let at = from; at < to; at += 1) {
      const kind = kinds[bytes[at] as number] as number
      if (kind === PLAIN) continue
      if (kind === QUOTE) {
        if (at + 1 === to && !isLast) return CUT
        if (bytes[at + 1] !== this.#quote) return at
        this.#mark |= DOUBLED | ESCAPED
        at += 1
        continue
      }
      if (kind === BACKSLASH) {
        if (at + 1 === to && !isLast) return CUT
        const isBefore = bytes[at + 1] === this.#quote || bytes[at + 1] === BACKSLASH_BYTE
        this.#mark |= isBefore ? DOUBLED | ESCAPED : ESCAPED
        if (isBefore) at += 1
        continue
      }
      if (isOneLine && (kind === LF || kind === CR)) return OPEN
      this.#mark |= ESCAPED
      if (kind === LF || (kind === CR && bytes[at + 1] !== LINE_FEED)) this.innerLines += 1
    }
    return isLast ? OPEN : CUT
  }
}

const CUT = -1
const OPEN = -2
