import { nextMark } from './marks'
const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c

/** The characters of short escapes, a bit for each: those below 64, and those above. */
const LOW: u64 = (1 << 0x22) | (1 << 0x2f)
const HIGH: u64 = (1 << 0x1c) | (1 << 0x22) | (1 << 0x26) | (1 << 0x2e) | (1 << 0x32) | (1 << 0x34)

/** Where the last escape stood: a string holds one if that is not before it. */
export let lastEscape: usize = 0

export function noEscape(): void {
  lastEscape = 0
}

/** The closing quote of the string that has its first byte at `from`; 0 where it is broken. */
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

/** Behind the escape whose backslash stands at `at`; 0 where there is no such escape. */
// @ts-ignore: decorator
@inline
function endOfEscape(at: usize): usize {
  const byte = load<u8>(at, 1)
  if ((((byte & 0x40 ? HIGH : LOW) >> (byte & 0x3f)) & u64(byte < 0x80)) != 0) return at + 2
  if (byte != 0x75) return 0
  return isHex(at + 2) && isHex(at + 3) && isHex(at + 4) && isHex(at + 5) ? at + 6 : 0
}

function isHex(at: usize): bool {
  const byte = load<u8>(at)
  const lower = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66)
}
