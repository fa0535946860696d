/**
 * Finds the ends of cells by marks: a bit for each byte that may end a cell, or that JSON cannot take as it stands. They are made for 64 bytes
 * at a time, without a branch. The rules are those of `RowSplitter`.
 */
import { ESCAPES } from '../layout'

export const LF: u8 = 0x0a
export const CR: u8 = 0x0d
const BLANK: u8 = 0x20

/** The marks of a cell: some byte needs an escape, or a quote stands twice. */
const ESCAPED: u32 = 1
export const IS_DOUBLED: u32 = 2

/** The row is not whole, or JavaScript must look at it. */
const CUT: i32 = -1
const UNUSUAL: i32 = -2

export let delimiterByte: u8 = 0
export let quoteByte: u8 = 0
/** Blanks around a cell in quotes belong to no cell if this is a blank. If blanks delimit cells, no byte is. */
let blank: u8 = 0
let hasQuote = false
/** 0x80 if every byte beyond ASCII has a mark, because the text may not be UTF-8. */
let beyondAscii: u8 = 0

/** The 64 bytes at hand, and the marks among them that come next. */
let block: usize = 0
let bits: u64 = 0

/** The cell that `findCell` found, and the byte that ends it. */
export let cellStart: usize = 0
export let cellEnd: usize = 0
export let closedAt: usize = 0
/** Line ends inside the cells of a row. */
export let innerLines: u32 = 0

/** A `quote` of 0 is none. */
export function prepareMarks(delimiter: u8, quote: u8): void {
  delimiterByte = delimiter
  quoteByte = quote
  hasQuote = quote != 0
  blank = delimiter == BLANK ? 0 : BLANK
}

// @ts-ignore: decorator
@inline
export function noInnerLines(): void {
  innerLines = 0
}

/** Begins at `from`. */
export function seek(from: usize, isUtf8: bool): void {
  beyondAscii = isUtf8 ? 0 : 0x80
  block = from & ~63
  bits = marksOf(block) & (<u64>-1 << u64(from & 63))
}

/** Returns the next marked byte. There is one: a line feed behind the rows. */
// @ts-ignore: decorator
@inline
export function nextMarked(): usize {
  while (bits == 0) {
    block += 64
    bits = marksOf(block)
  }
  const at = block + <usize>ctz(bits)
  bits &= bits - 1
  return at
}

function marksOf(from: usize): u64 {
  const delimiters = i8x16.splat(delimiterByte)
  const quotes = i8x16.splat(quoteByte)
  const high = i8x16.splat(beyondAscii)
  const low = marksOf16(v128.load(from), delimiters, quotes, high) | (marksOf16(v128.load(from, 16), delimiters, quotes, high) << 16)
  const upper = marksOf16(v128.load(from, 32), delimiters, quotes, high) | (marksOf16(v128.load(from, 48), delimiters, quotes, high) << 16)
  return u64(low) | (u64(upper) << 32)
}

// @ts-ignore: decorator
@inline
function marksOf16(bytes: v128, delimiters: v128, quotes: v128, high: v128): u32 {
  // A quotation mark with bit 1 turned over is 0x20, and control characters stay below: so both take one comparison.
  const turned = v128.xor(bytes, i8x16.splat(0x02))
  const ofJson = v128.or(i8x16.le_u(turned, i8x16.splat(0x20)), i8x16.eq(bytes, i8x16.splat(0x5c)))
  const ofTable = v128.or(i8x16.eq(bytes, delimiters), i8x16.eq(bytes, quotes))
  return u32(i8x16.bitmask(v128.or(v128.or(ofJson, ofTable), v128.and(bytes, high))))
}

/**
 * Finds the end of a cell whose first mark, at `first`, does not end it. Returns its marks, or why the row cannot be written. A quote is only
 * one at the start of a cell, or behind blanks there.
 */
export function findCell(start: usize, first: usize, to: usize): i32 {
  if (hasQuote && load<u8>(first) == quoteByte && (first == start || isBlank(start, first))) return quotedCell(start, first, to)
  let mark: u32 = 0
  let at = first
  while (true) {
    const byte = load<u8>(at)
    if (byte == delimiterByte || byte == LF || byte == CR) break
    if (byte >= 0x80) return UNUSUAL
    mark |= needsEscape(byte)
    at = nextMarked()
  }
  cellStart = start
  cellEnd = closedAt = at
  return mark
}

function quotedCell(start: usize, opening: usize, to: usize): i32 {
  let mark: u32 = 0
  let at: usize
  while (true) {
    at = nextMarked()
    if (at >= to) return CUT
    const byte = load<u8>(at)
    if (byte == quoteByte) {
      if (at + 1 == to) return CUT
      if (load<u8>(at + 1) != quoteByte) break
      nextMarked()
      mark |= IS_DOUBLED | ESCAPED
    } else if (byte == LF || byte == CR) {
      // Behind blanks, such a quote may be text.
      if (opening != start) return UNUSUAL
      mark |= ESCAPED
      if (byte == LF || load<u8>(at + 1) != LF) innerLines += 1
    } else if (byte >= 0x80) return UNUSUAL
    else mark |= needsEscape(byte)
  }
  cellStart = opening + 1
  cellEnd = at
  const behind = nextMarked()
  const ending = load<u8>(behind)
  if (ending != delimiterByte && ending != LF && ending != CR) return UNUSUAL
  if (!isBlank(at + 1, behind)) return UNUSUAL
  closedAt = behind
  return mark
}

function isBlank(from: usize, to: usize): bool {
  for (let at = from; at < to; at += 1) if (load<u8>(at) != blank) return false
  return true
}

/** Returns how JSON writes a byte: see `ESCAPES`. */
// @ts-ignore: decorator
@inline
export function jsonOf(byte: u8): u64 {
  return load<u64>(<usize>ESCAPES + (<usize>byte << 3))
}

// @ts-ignore: decorator
@inline
export function escapeLength(escape: u64): usize {
  return <usize>(escape >> 56)
}

// @ts-ignore: decorator
@inline
function needsEscape(byte: u8): u32 {
  return u32(escapeLength(jsonOf(byte)) > 1)
}
