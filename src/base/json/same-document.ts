const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

/** Returns whether two JSON documents differ at most in the white space between their parts. */
export function isSameDocument(one: Buffer, other: Buffer): boolean {
  if (one.equals(other)) return true
  let at = 0
  let otherAt = 0
  let isInText = false
  for (;;) {
    if (!isInText) {
      while ((one[at] ?? QUOTE) <= SPACE) at += 1
      while ((other[otherAt] ?? QUOTE) <= SPACE) otherAt += 1
    }
    const byte = one[at]
    if (byte !== other[otherAt]) return false
    if (byte === undefined) return true
    if (isInText && byte === BACKSLASH) {
      if (one[at + 1] !== other[otherAt + 1]) return false
      at += 1
      otherAt += 1
    } else if (byte === QUOTE) isInText = !isInText
    at += 1
    otherAt += 1
  }
}
