/**
 * Writes rows of CSV as lines of NDJSON. A row that is unusual stops it, and JavaScript settles that row. All memory is JavaScript's: nothing
 * is allocated here.
 */
import { COLUMN_BYTES, COLUMN_FLAGS, COLUMN_KIND, COLUMN_TEXT, COLUMN_TEXT_BYTES, COLUMNS, KIND_TEXT, READ_AS_IT_STANDS, READ_MISSING, READ_TEXT, READ_UNFIT, SPARE_BYTES, STOP_END, STOP_ROOM, STOP_ROW, WRITES_NULL } from '../layout'
import { cellEnd, cellStart, closedAt, CR, delimiterByte, IS_DOUBLED, escapeLength, jsonOf, findCell, innerLines, LF, nextMarked, noInnerLines, prepareMarks, quoteByte, seek } from './cells'
import { AS_FALSE, AS_JSON, AS_TEXT, AS_TRUE, IS_MISSING, valueOf, prepareValues } from './values'

/** Asks JavaScript for the value of a cell. It writes the JSON to `to`, and returns its length, or returns what the cell is. */
declare function readCell(column: usize, start: usize, end: usize, mark: u32, to: usize): i32

const BRACE: u8 = 0x7b
const CLOSING_BRACE: u8 = 0x7d
const QUOTATION: u8 = 0x22
const NULL: u32 = 0x6c6c756e
const TRUE: u32 = 0x65757274
const FALS: u32 = 0x736c6166
const LETTER_E: u8 = 0x65

/** What `row` returns for a row that it has written. No STOP has this number. */
const WRITTEN: u32 = 99

/** The results of the last call: the start of the row that was not written, the end of the lines, and the lines that its rows take in the file. */
export let rowsTo: usize = 0
export let linesTo: usize = 0
export let linesTaken: u32 = 0

let columnsEnd: usize = 0

/** Sets how the file is written. Its columns have been laid down. A `quote` of 0 is none. */
export function prepareTable(columns: usize, delimiter: u8, quote: u8, longestMissing: usize, truths: usize, words: usize): void {
  columnsEnd = <usize>COLUMNS + columns * COLUMN_BYTES
  prepareMarks(delimiter, quote)
  prepareValues(longestMissing, truths, words)
}

/** Writes the rows of [from, to) to `out`, but not beyond `end`. A line feed stands at `to`. `isUtf8`: its bytes need no look. */
export function write(from: usize, to: usize, out: usize, end: usize, isUtf8: bool): u32 {
  rowsTo = from
  linesTo = out
  linesTaken = 0
  seek(from, isUtf8)
  while (rowsTo < to) {
    const stop = row(rowsTo, to, end)
    if (stop != WRITTEN) return stop
  }
  return STOP_END
}

function row(from: usize, to: usize, end: usize): u32 {
  let at = from
  let out = linesTo
  let column: usize = COLUMNS
  let isEmpty = true
  noInnerLines()
  while (true) {
    let start = at
    at = nextMarked()
    let ending = load<u8>(at)
    let behind = at
    let mark: u32 = 0
    if (ending != delimiterByte && ending != LF && ending != CR) {
      const found = findCell(start, at, to)
      if (found < 0) return found == -1 ? STOP_END : STOP_ROW
      mark = found
      start = cellStart
      behind = cellEnd
      at = closedAt
      ending = load<u8>(at)
    }
    if (ending != delimiterByte && at >= to) return STOP_END

    const text = <usize>load<u32>(column, COLUMN_TEXT_BYTES)
    const length = behind - start
    if (out + text + (mark == 0 ? length : length * 6) + SPARE_BYTES > end) return STOP_ROOM
    let value = IS_MISSING
    if (length > 0) {
      const kind = load<u8>(column, COLUMN_KIND)
      value = kind == KIND_TEXT ? AS_TEXT : valueOf(column, kind, start, behind, mark)
    }
    // As a rule JSON begins behind the colon, and only a text has a quotation mark there.
    if (value == AS_TEXT) {
      isEmpty = false
      copy(out, <usize>load<u32>(column, COLUMN_TEXT), text)
      out = writeCell(out + text, start, behind, mark)
    } else if (value == IS_MISSING) {
      if (load<u8>(column, COLUMN_FLAGS) & WRITES_NULL) {
        copy(out, <usize>load<u32>(column, COLUMN_TEXT), text)
        store<u32>(out + text - 1, NULL)
        out += text + 3
      }
    } else {
      copy(out, <usize>load<u32>(column, COLUMN_TEXT), text)
      const json = out + text - 1
      if (value == AS_JSON) {
        copy(json, start, length)
        out = json + length
      } else if (value == AS_TRUE) {
        store<u32>(json, TRUE)
        out = json + 4
      } else if (value == AS_FALSE) {
        store<u32>(json, FALS)
        store<u8>(json + 4, LETTER_E)
        out = json + 5
      } else {
        if (json + length * 6 + SPARE_BYTES > end) return STOP_ROOM
        const read = readCell((column - COLUMNS) / COLUMN_BYTES, start, behind, mark, json)
        if (read == READ_UNFIT) return STOP_ROW
        if (read == READ_TEXT) out = writeCell(out + text, start, behind, mark)
        else if (read == READ_AS_IT_STANDS) {
          copy(json, start, length)
          out = json + length
        } else if (read != READ_MISSING) out = json + read
        else if (load<u8>(column, COLUMN_FLAGS) & WRITES_NULL) {
          store<u32>(json, NULL)
          out = json + 4
        }
        if (read == READ_MISSING) value = IS_MISSING
      }
      if (value != IS_MISSING) isEmpty = false
    }

    if (ending == delimiterByte) {
      at += 1
      column += COLUMN_BYTES
      if (column != columnsEnd) continue
      // Many programs end each row with a delimiter.
      ending = load<u8>(at)
      if (ending != LF && ending != CR) return STOP_ROW
      nextMarked()
      if (at >= to) return STOP_END
    } else if (column + COLUMN_BYTES != columnsEnd && (column != COLUMNS || length > 0)) return STOP_ROW
    if (ending == CR) {
      if (at + 1 >= to) return STOP_END
      if (load<u8>(at + 1) == LF) {
        nextMarked()
        at += 1
      }
    }
    finishRow(at + 1, isEmpty ? linesTo : out, isEmpty)
    return WRITTEN
  }
}

/** Each field begins with a comma, so a brace takes the place of the first one. A row of empty cells is a blank line. */
// @ts-ignore: decorator
@inline
function finishRow(next: usize, out: usize, isEmpty: bool): void {
  let at = out
  if (!isEmpty) {
    store<u8>(linesTo, BRACE)
    store<u8>(at, CLOSING_BRACE)
    at += 1
  }
  store<u8>(at, LF)
  linesTo = at + 1
  rowsTo = next
  linesTaken += 1 + innerLines
}

/** Writes a text and the quotation mark behind it. */
// @ts-ignore: decorator
@inline
function writeCell(to: usize, from: usize, end: usize, mark: u32): usize {
  let at = to
  if (mark == 0) {
    copy(at, from, end - from)
    at += end - from
  } else at = writeEscaped(at, from, end, (mark & IS_DOUBLED) != 0)
  store<u8>(at, QUOTATION)
  return at + 1
}

/** `isDoubled`: a quote stands twice for once. */
function writeEscaped(to: usize, from: usize, end: usize, isDoubled: bool): usize {
  let out = to
  for (let at = from; at < end; at += 1) {
    const byte = load<u8>(at)
    if (isDoubled && byte == quoteByte) at += 1
    const escape = jsonOf(byte)
    store<u64>(out, escape)
    out += escapeLength(escape)
  }
  return out
}

/** Copies 16 bytes at a time, so up to 15 more than asked for, and 16 at least. */
// @ts-ignore: decorator
@inline
function copy(to: usize, from: usize, bytes: usize): void {
  let at: usize = 0
  do {
    v128.store(to + at, v128.load(from + at))
    at += 16
  } while (at < bytes)
}
