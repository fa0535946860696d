/**
 * Marks: a bit for each byte, set for quotes, backslashes and control characters. They are made ahead of the parser, piece by
 * piece, so that a string's end is found from a few bits, and not by looking at its bytes again and again.
 */
import { MARKED_BYTES, MARKS } from '../layout'

/** So many bytes make one word of marks. */
const BLOCK_BYTES: usize = 64

/** The bytes of [markedFrom, markedTo) have marks. Whole blocks. */
let markedFrom: usize = 0
let markedTo: usize = 0

/** There are new bytes. */
export function noMarks(): void {
  markedFrom = 0
  markedTo = 0
}

/** The first marked byte at or behind `from`, or 0 where none is near, or none is known. */
// @ts-ignore: decorator
@inline
export function nearMark(from: usize): usize {
  if (from - markedFrom >= markedTo - markedFrom) return 0
  const bits = load<u64>(MARKS + ((from - markedFrom) >> 3)) >> u64(from & 7)
  return bits == 0 ? 0 : from + <usize>ctz(bits)
}

/** The first marked byte at or behind `from`, which a line feed is too. */
export function nextMark(from: usize): usize {
  let at = from
  while (true) {
    if (at - markedFrom >= markedTo - markedFrom) markFrom(at)
    const bits = load<u64>(MARKS + ((at - markedFrom) >> 6 << 3)) >> u64(at & 63)
    if (bits != 0) return at + <usize>ctz(bits)
    at = (at | 63) + 1
  }
}

function markFrom(at: usize): void {
  markedFrom = at & ~(BLOCK_BYTES - 1)
  markedTo = markedFrom + MARKED_BYTES
  let word: usize = MARKS
  for (let block = markedFrom; block < markedTo; block += BLOCK_BYTES) {
    store<u64>(word, marksOf(block))
    word += 8
  }
  // Behind them everything is marked.
  store<u64>(word, u64.MAX_VALUE)
}

// @ts-ignore: decorator
@inline
function marksOf(at: usize): u64 {
  const low = marks16(v128.load(at)) | (marks16(v128.load(at, 16)) << 16)
  const high = marks16(v128.load(at, 32)) | (marks16(v128.load(at, 48)) << 16)
  return u64(low) | (u64(high) << 32)
}

// @ts-ignore: decorator
@inline
function marks16(bytes: v128): u32 {
  // With bit 1 turned over a quote is 0x20 and all control characters still lie below: one comparison for both.
  const turned = v128.xor(bytes, i8x16.splat(0x02))
  const quotesAndControls = i8x16.le_u(turned, i8x16.splat(0x20))
  const backslashes = i8x16.eq(bytes, i8x16.splat(0x5c))
  return u32(i8x16.bitmask(v128.or(quotesAndControls, backslashes)))
}
