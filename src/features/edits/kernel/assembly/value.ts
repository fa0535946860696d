/** Passes values in which nothing is named. */
import { afterSpace, endOfNumber, endOfObject } from '../../../../base/json/strict/assembly/json'
import { closingQuote, marksFrom } from '../../../../base/json/strict/assembly/marks'

const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const NINE: u8 = 0x39
const BRACKET: u8 = 0x5b
const CLOSING_BRACKET: u8 = 0x5d
const LOWER_F: u8 = 0x66
const BRACE: u8 = 0x7b

const TRUE: u32 = 0x65757274
const ALSE: u32 = 0x65736c61
const NULL: u32 = 0x6c6c756e

/** Arrays within arrays that are passed here. */
const MOST_ARRAYS: u32 = 64

// @ts-ignore: decorator
@inline
export function isContainer(at: usize): bool {
  const first = load<u8>(at)
  return first == BRACE || first == BRACKET
}

/** The closing quote of the string that has its first byte at `from`, or 0 if it is broken. As a rule its mark is at hand. */
// @ts-ignore: decorator
@inline
export function quoteBehind(from: usize): usize {
  const marks = marksFrom(from)
  const end = from + <usize>ctz(marks)
  return u32(marks != 0) & u32(load<u8>(end) == QUOTE) ? end : closingQuote(from)
}

/** The offset behind the value at `at`, or 0 where JavaScript has to look at the line. */
export function endOfJsonValue(at: usize): usize {
  return valueWithin(at, 0)
}

function valueWithin(at: usize, arrays: u32): usize {
  const first = load<u8>(at)
  if (first == QUOTE) {
    const quote = quoteBehind(at + 1)
    return quote == 0 ? 0 : quote + 1
  }
  if (first == BRACE) return endOfObject(at)
  if (first == BRACKET) return arrays == MOST_ARRAYS ? 0 : endOfArray(at, arrays + 1)
  if (first <= NINE) return endOfNumber(at)
  const literal = load<u32>(at)
  if (literal == TRUE || literal == NULL) return at + 4
  return first == LOWER_F && load<u32>(at, 1) == ALSE ? at + 5 : 0
}

function endOfArray(start: usize, arrays: u32): usize {
  let at = afterSpace(start + 1)
  if (load<u8>(at) == CLOSING_BRACKET) return at + 1
  while (true) {
    at = valueWithin(at, arrays)
    if (at == 0) return 0
    at = afterSpace(at)
    const next = load<u8>(at)
    if (next == CLOSING_BRACKET) return at + 1
    if (next != COMMA) return 0
    at = afterSpace(at + 1)
  }
}
