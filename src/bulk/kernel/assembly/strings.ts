const QUOTE: u8 = 0x22
const BACKSLASH: u8 = 0x5c

/** Where the last escape stood: a string holds one if that is not before it. */
export let lastEscape: usize = 0

export function noEscape(): void {
  lastEscape = 0
}

/** Behind the closing quote of the string that has its first byte at `from`; 0 where it is broken. */
// @ts-ignore: decorator
@inline
export function endOfString(from: usize): usize {
  let at = from
  while (true) {
    const bytes = v128.load(at)
    const quotes = i8x16.eq(bytes, i8x16.splat(QUOTE))
    const backslashes = i8x16.eq(bytes, i8x16.splat(BACKSLASH))
    const controls = i8x16.lt_u(bytes, i8x16.splat(0x20))
    const special = i8x16.bitmask(v128.or(v128.or(quotes, backslashes), controls))
    if (special == 0) {
      at += 16
      continue
    }
    at += <usize>ctz(special)
    const byte = load<u8>(at)
    if (byte == QUOTE) return at + 1
    if (byte != BACKSLASH) return 0
    lastEscape = at
    at = endOfEscape(at)
    if (at == 0) return 0
  }
}

/** Behind the escape whose backslash stands at `at`; 0 where there is no such escape. */
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
