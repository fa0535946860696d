/** Passes parts of text that is known to be valid JSON. Each function returns the offset behind the part. */
import { SPACE } from '../text/bytes.js'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export function passSpace(bytes: Buffer, from: number): number {
  let at = from
  while ((bytes[at] as number) <= SPACE) at += 1
  return at
}

export function passString(bytes: Buffer, from: number): number {
  let at = from + 1
  for (let byte = bytes[at]; byte !== QUOTE && byte !== undefined; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1
  return at + 1
}

export function passValue(bytes: Buffer, from: number): number {
  const first = bytes[from]
  if (first === QUOTE) return passString(bytes, from)
  let at = from
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) {
    for (let byte = bytes[at] as number; byte > SPACE; byte = bytes[at] as number) {
      if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) break
      at += 1
    }
    return at
  }
  let depth = 0
  do {
    const byte = bytes[at] as number
    if (byte === QUOTE) at = passString(bytes, at)
    else {
      // Brackets and braces differ by one bit.
      if ((byte | SPACE) === OPEN_OBJECT) depth += 1
      else if ((byte | SPACE) === CLOSE_OBJECT) depth -= 1
      at += 1
    }
  } while (depth > 0 && at < bytes.length)
  return at
}
