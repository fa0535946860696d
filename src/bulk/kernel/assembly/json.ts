/**
 * Strict JSON (RFC 8259), one object a line. A line ends in a line feed, which no token may hold: so nothing here runs past
 * it, and no end of memory has to be looked for. That the bytes are UTF-8 has been checked before.
 */
import { foundField, isFieldWanted, noField, wantedField } from './fields'
import { endOfNumber } from './numbers'
import { endOfString } from './strings'

const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const COLON: u8 = 0x3a
const BRACKET: u8 = 0x5b
const BRACE: u8 = 0x7b
/** From an opening bracket or brace to the closing one. */
const TO_CLOSING: u8 = 2

const TRUE: u32 = 0x65757274
const ALSE: u32 = 0x65736c61
const NULL: u32 = 0x6c6c756e

/**
 * Levels are kept as the bits of one register. Elasticsearch itself takes no more than 20 levels of objects unless told
 * otherwise, so deeper lines are rare: they are left to JSON.parse.
 */
const MAX_DEPTH: u32 = 64

/** Behind the object that begins at `from`, or 0 where JavaScript has to look at the line. */
export function endOfObject(from: usize): usize {
  noField()
  if (load<u8>(from) != BRACE) return 0
  let at = afterSpace(from + 1)
  if (load<u8>(at) == BRACE + TO_CLOSING) return at + 1
  let depth: u32 = 1
  /** A bit for each level, the innermost lowest: 1 in an object, 0 in an array. */
  let levels: u64 = 1
  while (true) {
    // Here a member begins, or an element.
    let wanted: u32 = 0
    if (levels & 1) {
      if (load<u8>(at) != QUOTE) return 0
      const key = at + 1
      at = endOfString(key)
      if (at == 0) return 0
      if (depth == 1 && isFieldWanted()) wanted = wantedField(key, at - 1)
      at = afterSpace(at)
      if (load<u8>(at) != COLON) return 0
      at = afterSpace(at + 1)
    }
    const value = at
    const first = load<u8>(at)
    if (first == QUOTE) {
      at = endOfString(at + 1)
      if (at == 0) return 0
    } else if (first == BRACE || first == BRACKET) {
      at = afterSpace(at + 1)
      if (load<u8>(at) != first + TO_CLOSING) {
        if (depth == MAX_DEPTH || wanted != 0) return 0
        depth += 1
        levels = (levels << 1) | u64(first == BRACE)
        continue
      }
      at += 1
    } else if (load<u32>(at) == TRUE || load<u32>(at) == NULL) at += 4
    else if (load<u32>(at + 1) == ALSE && first == 0x66) at += 5
    else {
      at = endOfNumber(at)
      if (at == 0) return 0
    }
    if (wanted != 0 && !foundField(wanted, value, at)) return 0
    // Behind a value: the next one, or the ends of as many levels as end here.
    while (true) {
      at = afterSpace(at)
      const next = load<u8>(at)
      if (next == COMMA) break
      if (next != (levels & 1 ? BRACE : BRACKET) + TO_CLOSING) return 0
      at += 1
      levels >>= 1
      depth -= 1
      if (depth == 0) return at
    }
    at = afterSpace(at + 1)
  }
}

/** Past the white space that may stand within a line. */
// @ts-ignore: decorator
@inline
export function afterSpace(from: usize): usize {
  let at = from
  let byte = load<u8>(at)
  // Written as a rule without any: one comparison then.
  while (byte <= 0x20) {
    if (byte != 0x20 && byte != 0x09 && byte != 0x0d) break
    at += 1
    byte = load<u8>(at)
  }
  return at
}
