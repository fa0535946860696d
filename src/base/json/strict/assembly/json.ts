/**
 * Strict JSON (RFC 8259), one object a line, or an object on many lines. A line ends in a line feed, which no token may hold: so
 * nothing here runs past it, and nothing looks for the end of the memory. Text that may hold line feeds ends in a zero byte instead. That the bytes are
 * UTF-8 is checked elsewhere.
 */
import { foundField, isFieldWanted, noField, wantedField } from './fields'
import { closingQuote, marksFrom, originOf } from './marks'

const TAB: u8 = 0x09
const LINE_FEED: u8 = 0x0a
const RETURN: u8 = 0x0d
const SPACE: u8 = 0x20
const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const NINE: u8 = 0x39
const COLON: u8 = 0x3a
const BRACKET: u8 = 0x5b
const LOWER_F: u8 = 0x66
const BRACE: u8 = 0x7b
/** From an opening bracket or brace to the closing one. */
const TO_CLOSING: u8 = 2
/** The bit that a brace has and a bracket has not. */
const TO_BRACE: u8 = 0x20

/** The usual bytes between tokens, two at once. */
const QUOTE_COLON: u16 = 0x3a22
const COMMA_QUOTE: u16 = 0x222c

const TRUE: u32 = 0x65757274
const ALSE: u32 = 0x65736c61
const NULL: u32 = 0x6c6c756e

/**
 * Levels are kept as the bits of one register, the innermost lowest: 1 in an object, 0 in an array. The outermost is an object,
 * so the highest 1 tells the depth. Elasticsearch itself takes no more than 20 levels of objects unless told otherwise, so
 * lines deeper than 64 are rare: they are left to JSON.parse.
 */
const OBJECT: u64 = 1
const DEEPEST: u64 = 1 << 63

/** Returns the offset after the object that begins at `from`. Returns 0 if JavaScript must look at the line. */
export function endOfObject(from: usize): usize {
  return checkObject(from, false, false)
}

/** Returns the same offset, and finds the wanted fields on the way. */
export function endOfObjectWithFields(from: usize): usize {
  noField()
  return checkObject(from, true, false)
}

/** The end of what `squeezedObject` has written. */
export let squeezedEnd: usize = 0
/** From here on nothing has been copied behind it yet. */
let copiedTo: usize = 0

/** Returns the same offset for an object on many lines, and copies the object to `to` without white space between its tokens. */
export function squeezedObject(from: usize, to: usize): usize {
  squeezedEnd = to
  copiedTo = from
  const end = checkObject(from, false, true)
  if (end != 0) copyTo(end)
  return end
}

/** Written out three times: where no field is looked for, what looks would still keep registers from the rest. */
// @ts-ignore: decorator
@inline
function checkObject(from: usize, looks: bool, squeezes: bool): usize {
  if (load<u8>(from) != BRACE) return 0
  let at = from + 1
  if (load<u8>(at) <= SPACE) at = passSpace(at, squeezes)
  if (load<u8>(at) == BRACE + TO_CLOSING) return at + 1
  let levels: u64 = OBJECT
  /** The levels at which keys are looked at: the outermost one, and none (0) once all fields are found. */
  let lookedAt: u64 = OBJECT
  let value: usize = 0
  /**
   * The marks of the bytes from `at` on, as far as they are at hand, each cleared once it is passed. Bit 0 is the byte at `origin`.
   * Between strings only white space is marked: where there is some, they are dropped. So before a string its opening quote is
   * the first.
   */
  let marks: u64 = 0
  let origin: usize = 0
  while (true) {
    // Here a member begins, or an element.
    let wanted: u32 = 0
    if (levels & OBJECT) {
      if (load<u8>(at) != QUOTE) return 0
      const key = at + 1
      marks &= marks - 1
      if (marks == 0) {
        marks = marksFrom(key)
        origin = originOf(marks, key)
      }
      let end = origin + <usize>ctz(marks)
      if (load<u16>(end) == QUOTE_COLON) {
        marks &= marks - 1
        at = end + 2
      } else {
        marks = 0
        end = closingQuote(key)
        if (end == 0) return 0
        at = end + 1
        if (load<u8>(at) <= SPACE) at = passSpace(at, squeezes)
        if (load<u8>(at) != COLON) return 0
        at += 1
      }
      if (looks && levels == lookedAt) {
        wanted = wantedField(key, end)
        value = afterSpace(at)
      }
    }
    let first = load<u8>(at)
    if (first <= SPACE) {
      marks = 0
      at = passSpace(at, squeezes)
      first = load<u8>(at)
    }
    if (first == QUOTE) {
      marks &= marks - 1
      if (marks == 0) {
        marks = marksFrom(at + 1)
        origin = originOf(marks, at + 1)
      }
      let end = origin + <usize>ctz(marks)
      if (load<u8>(end) == QUOTE) marks &= marks - 1
      else {
        marks = 0
        end = closingQuote(at + 1)
        if (end == 0) return 0
      }
      at = end + 1
    } else if (first <= NINE) {
      at = endOfNumber(at)
      if (at == 0) return 0
    } else if ((first | TO_BRACE) == BRACE) {
      at += 1
      if (squeezes && levels >= DEEPEST) return 0
      if (load<u8>(at) <= SPACE) {
        marks = 0
        at = passSpace(at, squeezes)
      }
      if (load<u8>(at) != first + TO_CLOSING) {
        if (levels >= DEEPEST || (looks && wanted != 0)) return 0
        levels = (levels << 1) | u64(first == BRACE)
        continue
      }
      at += 1
    } else {
      const literal = load<u32>(at)
      if (literal == TRUE || literal == NULL) at += 4
      else if (first == LOWER_F && load<u32>(at, 1) == ALSE) at += 5
      else return 0
    }
    if (looks && wanted != 0) {
      if (!foundField(wanted, value, at)) return 0
      if (!isFieldWanted()) lookedAt = 0
    }
    // Behind a value: the next one, as a rule at once, or the ends of as many levels as end here.
    if (load<u16>(at) == COMMA_QUOTE) {
      at += 1
      continue
    }
    let next = load<u8>(at)
    while (next != COMMA) {
      if (next == closing(levels)) {
        at += 1
        levels >>= 1
        if (levels == 0) return at
      } else {
        if (next > SPACE) return 0
        marks = 0
        at = passSpace(at, squeezes)
        // An invalid byte, usually a line feed.
        if (load<u8>(at) <= SPACE) return 0
      }
      next = load<u8>(at)
    }
    at += 1
    if (load<u8>(at) <= SPACE) {
      marks = 0
      at = passSpace(at, squeezes)
    }
  }
}

/** Returns the byte that ends the innermost level. */
// @ts-ignore: decorator
@inline
function closing(levels: u64): u8 {
  return BRACKET + TO_CLOSING + (u8(levels & OBJECT) * TO_BRACE)
}

/** Returns the offset after white space within a line. Usually there is none, so this takes one comparison. */
// @ts-ignore: decorator
@inline
export function afterSpace(from: usize): usize {
  return load<u8>(from) > SPACE ? from : behindSpace(from)
}

// @ts-ignore: decorator
@inline
function passSpace(from: usize, squeezes: bool): usize {
  return squeezes ? squeezeSpace(from) : behindSpace(from)
}

function squeezeSpace(from: usize): usize {
  const end = afterSpaceOnLines(from)
  if (end > from) {
    copyTo(from)
    copiedTo = end
  }
  return end
}

/** Returns the offset after white space of any length, with its line feeds. */
export function afterSpaceOnLines(from: usize): usize {
  let at = from
  while (true) {
    const bytes = v128.load(at)
    const spaces = v128.or(i8x16.eq(bytes, i8x16.splat(SPACE)), i8x16.eq(bytes, i8x16.splat(LINE_FEED)))
    const others = v128.or(i8x16.eq(bytes, i8x16.splat(TAB)), i8x16.eq(bytes, i8x16.splat(RETURN)))
    const rest = u32(i8x16.bitmask(v128.or(spaces, others))) ^ 0xffff
    if (rest != 0) return at + <usize>ctz(rest)
    at += 16
  }
}

/** Copies what stands before `end`, 16 bytes at a time: so up to 15 more. */
// @ts-ignore: decorator
@inline
function copyTo(end: usize): void {
  const to = squeezedEnd
  const from = copiedTo
  const bytes = end - from
  for (let at: usize = 0; at < bytes; at += 16) v128.store(to + at, v128.load(from + at))
  squeezedEnd = to + bytes
}

function behindSpace(from: usize): usize {
  let at = from
  while (true) {
    const byte = load<u8>(at)
    if (byte != SPACE && byte != TAB && byte != RETURN) return at
    at += 1
  }
}

const MINUS: u8 = 0x2d
const PLUS: u8 = 0x2b
const POINT: u8 = 0x2e
const ZERO: u8 = 0x30
const LOWER_E: u8 = 0x65

/** Returns the offset after the number that begins at `from`. Returns 0 if there is none. */
// @ts-ignore: decorator
@inline
export function endOfNumber(from: usize): usize {
  const whole = from + usize(load<u8>(from) == MINUS)
  const others = notDigits(whole)
  let at = others == 0 ? afterDigits(whole + 8) : whole + first(others)
  if (at == whole) return 0
  if (load<u8>(whole) == ZERO && at > whole + 1) return 0
  if (load<u8>(at) == POINT) {
    const fraction = at + 1
    // As a rule the fraction ends within the same eight bytes.
    const behind = others & (others - 1)
    at = behind == 0 ? afterDigits(fraction) : whole + first(behind)
    if (at == fraction) return 0
  }
  if ((load<u8>(at) | 0x20) == LOWER_E) {
    at += 1
    const sign = load<u8>(at)
    if (sign == PLUS || sign == MINUS) at += 1
    const exponent = at
    at = afterDigits(exponent)
    if (at == exponent) return 0
  }
  return at
}

// @ts-ignore: decorator
@inline
function afterDigits(from: usize): usize {
  let at = from
  while (true) {
    const others = notDigits(at)
    if (others != 0) return at + first(others)
    at += 8
  }
}

/** Eight bytes at once: the highest bit of each that is no digit. */
// @ts-ignore: decorator
@inline
function notDigits(at: usize): u64 {
  // Makes 0 to 9 of a digit. Other bytes have their highest bit set then, or get it when 0x76 is added.
  const bytes = load<u64>(at) ^ 0x3030303030303030
  return (bytes | (bytes + 0x7676767676767676)) & 0x8080808080808080
}

// @ts-ignore: decorator
@inline
function first(bits: u64): usize {
  return <usize>(ctz(bits) >> 3)
}
