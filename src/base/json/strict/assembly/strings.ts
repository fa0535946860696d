import { nextMark } from './marks'

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
