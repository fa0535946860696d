import { isWhiteSpace } from '../text/bytes.js'
/** Finds the documents in a JSON text: one value, or an array of values. A parser judges their content later. */
export interface Elements {
  readonly elements: readonly { readonly from: number; readonly to: number }[]
  readonly isArray: boolean
  /** The offset of the first byte around them that is not JSON. */
  readonly brokenAt?: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])
const BRACKET = 0x5d

export function elementsOf(bytes: Uint8Array): Elements {
  const start = skipSpace(bytes, 0)
  const end = endOfText(bytes)
  if (start >= end) return { elements: [], isArray: false }
  if (bytes[start] !== 0x5b) return { elements: [{ from: start, to: end }], isArray: false }
  const elements: { from: number; to: number }[] = []
  let at = skipSpace(bytes, start + 1)
  if (bytes[at] === BRACKET) return behind({ elements, isArray: true }, bytes, at)
  for (;;) {
    const to = endOfValue(bytes, at)
    if (to === at) return { elements, isArray: true, brokenAt: at }
    elements.push({ from: at, to })
    at = skipSpace(bytes, to)
    if (bytes[at] === BRACKET) return behind({ elements, isArray: true }, bytes, at)
    if (bytes[at] !== COMMA) return { elements, isArray: true, brokenAt: Math.min(at, bytes.length) }
    at = skipSpace(bytes, at + 1)
  }
}

/** Checks that only white space follows the bracket that closes the array. */
function behind(found: Elements, bytes: Uint8Array, bracket: number): Elements {
  const at = skipSpace(bytes, bracket + 1)
  return at === bytes.length ? found : { ...found, brokenAt: at }
}

/** Returns the offset of the comma or bracket that ends a value of the outermost array. Returns `from` if there is no value. */
function endOfValue(bytes: Uint8Array, from: number): number {
  let depth = 0
  let at = from
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) at = endOfString(bytes, at)
    else if (OPEN.has(byte)) depth += 1
    else if (depth > 0 && CLOSE.has(byte)) depth -= 1
    else if (depth === 0 && (byte === COMMA || CLOSE.has(byte))) break
    at += 1
  }
  let end = Math.min(at, bytes.length)
  while (end > from && isWhiteSpace(bytes[end - 1])) end -= 1
  return end
}

/** Returns the offset of the closing quote, or the end of the text if there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from + 1
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isWhiteSpace(bytes[at])) at += 1
  return at
}

function endOfText(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && isWhiteSpace(bytes[end - 1])) end -= 1
  return end
}
