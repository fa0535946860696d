/** Says what a cell with a type is. The rules are those of `cell-types.ts`, for what is plain. JavaScript reads all else. */
import { COLUMN_DIGITS, COLUMN_FLAGS, KIND_BOOLEAN, KIND_INFERRED, KIND_NUMBER, KIND_TEXT_OR_MISSING, LONGEST_WORD, MAY_MISS, TAKES_MINUS, TAKES_POINT, WORDS } from '../layout'

export const AS_TEXT: u32 = 0
export const AS_JSON: u32 = 1
export const AS_TRUE: u32 = 2
export const AS_FALSE: u32 = 3
export const IS_MISSING: u32 = 4
/** JavaScript knows. */
const IS_OTHER: u32 = 5

const BLANK: u8 = 0x20
const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e
const ZERO: u8 = 0x30
const NINE: u8 = 0x39
const TRUE: u32 = 0x65757274
const FALS: u32 = 0x736c6166
const LETTER_E: u8 = 0x65
const LOWER_CASE: u64 = 0x2020202020202020

/** This many digits survive in a double. One more may. */
const MOST_DIGITS: u32 = 15

let longestMissing: usize = 0
let truthsEnd: usize = 0
let wordsEnd: usize = 0

export function prepareValues(longest: usize, truths: usize, words: usize): void {
  longestMissing = longest
  truthsEnd = <usize>WORDS + truths * 8
  wordsEnd = <usize>WORDS + words * 8
}

/** `mark`: see `findCell`. A cell with a mark is no plain value. */
export function valueOf(column: usize, kind: u8, start: usize, end: usize, mark: u32): u32 {
  const flags = load<u8>(column, COLUMN_FLAGS)
  if (kind == KIND_TEXT_OR_MISSING) return textOrMissing(start, end)
  if (mark == 0) {
    if (kind == KIND_BOOLEAN) return booleanOf(start, end)
    if (kind == KIND_NUMBER) return isPlain(start, end, flags, load<u8>(column, COLUMN_DIGITS)) ? AS_JSON : IS_OTHER
    if (kind == KIND_INFERRED) {
      // JSON takes blanks around a value.
      let from = start
      let to = end
      while (from < to && load<u8>(from) == BLANK) from += 1
      while (to > from && load<u8>(to - 1) == BLANK) to -= 1
      if (load<u8>(from) <= NINE) {
        if (isPlain(from, to, TAKES_MINUS | TAKES_POINT, MOST_DIGITS)) return AS_JSON
        if (isPlain(from, to, TAKES_MINUS, MOST_DIGITS + 1)) return IS_OTHER
      } else if (isTrueOrFalse(from, to)) return AS_JSON
    }
  }
  if (kind != KIND_INFERRED) return IS_OTHER
  return flags & MAY_MISS ? textOrMissing(start, end) : AS_TEXT
}

/** Blanks around a word for a missing value do not count. */
function textOrMissing(start: usize, end: usize): u32 {
  const mayMiss = end - start <= longestMissing || load<u8>(start) == BLANK || load<u8>(end - 1) == BLANK
  return mayMiss ? IS_OTHER : AS_TEXT
}

function booleanOf(start: usize, end: usize): u32 {
  const length = end - start
  if (length > <usize>LONGEST_WORD) return IS_OTHER
  // No other byte than a letter turns into a letter, and control characters have marks.
  const word = (load<u64>(start) | LOWER_CASE) & ((<u64>1 << u64(length * 8)) - 1)
  for (let at: usize = WORDS; at < wordsEnd; at += 8) if (load<u64>(at) == word) return at < truthsEnd ? AS_TRUE : AS_FALSE
  return IS_OTHER
}

function isTrueOrFalse(start: usize, end: usize): bool {
  const length = end - start
  if (length == 4) return load<u32>(start) == TRUE
  return length == 5 && load<u32>(start) == FALS && load<u8>(start, 4) == LETTER_E
}

/** Returns whether a cell stands as JSON would write it: at most `digits` digits, at most 16 of them. Numbers with leading zeros are codes. */
function isPlain(start: usize, end: usize, flags: u32, digits: u32): bool {
  const isNegative = load<u8>(start) == MINUS
  const first = start + usize(isNegative)
  const length = end - first
  if (length == 0 || length > 16) return false
  const bytes = v128.load(first)
  const all = (<u32>1 << u32(length)) - 1
  const found = u32(i8x16.bitmask(i8x16.le_u(i8x16.sub(bytes, i8x16.splat(ZERO)), i8x16.splat(9)))) & all
  const points = u32(i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(POINT)))) & all
  if ((found | points) != all || (points & (points - 1)) != 0) return false
  // A point stands between digits.
  if ((found & 1) == 0 || points >> u32(length - 1) != 0) return false
  const isWhole = points == 0
  if (isNegative && !(flags & TAKES_MINUS)) return false
  if (!isWhole && !(flags & TAKES_POINT)) return false
  if (load<u8>(first) == ZERO && (isWhole ? isNegative || length > 1 : points != 2)) return false
  return u32(length) - u32(!isWhole) <= digits
}
