/**
 * Marks: a bit for each byte, set for what may not stand in a string just so: quotes, backslashes, control characters. They are
 * made ahead of the parser, a piece of the input at a time, without a branch. It then finds the ends of many strings in one
 * register of them, and the processor need not have found one end to look for the next.
 */
import { MARKS, PIECE_BYTES, ZEROS } from '../layout'

const PIECE: usize = PIECE_BYTES
/** The bytes of one word of marks. */
const BLOCK: usize = 64

/** The piece that has marks. Pieces lie at multiples of their size, so an address alone says where its mark is. */
let piece: usize = 0
/** Whether some byte of the pieces so far is not ASCII. */
export let isBeyondAscii = false

/** The input has changed. No piece of it lies at 0. */
export function noMarks(): void {
  piece = 0
  isBeyondAscii = false
}

/** The marks from `from` on, its own the lowest: those of the next 57 bytes at least, or none at all if they are yet to be made. */
// @ts-ignore: decorator
@inline
export function marksFrom(from: usize): u64 {
  if (from - piece >= PIECE) return 0
  return load<u64>(addressOf(from)) >> u64(from & 7)
}

/**
 * Returns the byte that bit 0 of `marks` stands for: `from`. Without marks, `ctz` returns 64, and the caller then finds a zero byte where it
 * looks for a quote. So it need not ask whether there are marks.
 */
// @ts-ignore: decorator
@inline
export function originOf(marks: u64, from: usize): usize {
  return marks == 0 ? <usize>ZEROS - BLOCK : from
}

/** The first marked byte at or behind `from`: there is one before the line is over, the line feed. */
export function nextMark(from: usize): usize {
  let at = from
  while (true) {
    if (at - piece >= PIECE) mark(at & ~(PIECE - 1))
    const marks = marksFrom(at)
    if (marks != 0) return at + <usize>ctz(marks)
    at = (at | 7) + 57
  }
}

// @ts-ignore: decorator
@inline
function addressOf(at: usize): usize {
  return <usize>MARKS + ((at & (PIECE - 1)) >> 3)
}

function mark(from: usize): void {
  piece = from
  // One block more, so that there are marks enough from the last byte on, too.
  const end = from + PIECE + BLOCK
  let word: usize = MARKS
  let all = i8x16.splat(0)
  for (let block = from; block < end; block += BLOCK) {
    const first = v128.load(block)
    const second = v128.load(block, 16)
    const third = v128.load(block, 32)
    const fourth = v128.load(block, 48)
    all = v128.or(all, v128.or(v128.or(first, second), v128.or(third, fourth)))
    const low = marksOf16(first) | (marksOf16(second) << 16)
    const high = marksOf16(third) | (marksOf16(fourth) << 16)
    store<u64>(word, u64(low) | (u64(high) << 32))
    word += 8
  }
  if (i8x16.bitmask(all) != 0) isBeyondAscii = true
}

// @ts-ignore: decorator
@inline
function marksOf16(bytes: v128): u32 {
  // A quote with bit 1 turned over is 0x20, and control characters stay below: so both take one comparison.
  const turned = v128.xor(bytes, i8x16.splat(0x02))
  const quotesAndControls = i8x16.le_u(turned, i8x16.splat(0x20))
  const backslashes = i8x16.eq(bytes, i8x16.splat(0x5c))
  return u32(i8x16.bitmask(v128.or(quotesAndControls, backslashes)))
}

const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c

/** The offset of the last escape. A string holds an escape if this offset is not before the string. */
export let lastEscape: usize = 0

export function noEscape(): void {
  lastEscape = 0
}

/** The closing quote of the string that has its first byte at `from`, however long; 0 where the string is broken. */
export function closingQuote(from: usize): usize {
  let at = nextMark(from)
  while (true) {
    const byte = load<u8>(at)
    if (byte == QUOTE) return at
    if (byte != BACKSLASH) return 0
    lastEscape = at
    const behind = endOfEscape(at)
    if (behind == 0) return 0
    at = nextMark(behind)
  }
}

/** Returns the offset after the escape whose backslash is at `at`. Returns 0 if there is no such escape. */
function endOfEscape(at: usize): usize {
  switch (load<u8>(at + 1)) {
    case 0x22: // "
    case 0x2f: // /
    case 0x5c: // \
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2
    case 0x75: // u
      return isHex(at + 2) && isHex(at + 3) && isHex(at + 4) && isHex(at + 5) ? at + 6 : 0
    default:
      return 0
  }
}

function isHex(at: usize): bool {
  const byte = load<u8>(at)
  const lower = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66)
}
