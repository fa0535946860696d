import { isUtf8 } from 'node:buffer'
import { isWhiteSpace } from '../text/bytes.js'

const BRACE = 0x7b

/** Returns whether a line holds only white space. Its line end may be missing. */
export function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  return firstByte(bytes, from, to) === undefined
}

/** Returns the offset after the last byte before `to` that is not white space. */
export function endWithoutSpace(bytes: Uint8Array, to: number): number {
  let end = to
  while (isWhiteSpace(bytes[end - 1])) end -= 1
  return end
}

/**
 * Returns why a line is no document: a document is exactly one JSON object (RFC 8259) in UTF-8. `utf8`: the bytes are
 * known to be valid UTF-8.
 */
export function lineProblem(bytes: Buffer, from: number, to: number, utf8: boolean): string | undefined {
  if (!utf8 && !isUtf8(bytes.subarray(from, to))) return 'it is not valid UTF-8'
  const first = firstByte(bytes, from, to)
  // JSON's grammar lies in ASCII, and the bytes are known to be UTF-8: reading them as Latin-1 gives the same verdict, faster.
  const text = bytes.toString('latin1', from, to)
  try {
    JSON.parse(text)
  } catch (error) {
    return brokenAt(error)
  }
  return first === BRACE ? undefined : `it is ${kindOf(first)}`
}

function firstByte(bytes: Uint8Array, from: number, to: number): number | undefined {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at]
    if (!isWhiteSpace(byte)) return byte
  }
  return undefined
}

/** The parser's message may quote the document, and not at its end: only the position is taken from it. */
function brokenAt(error: unknown): string {
  const position = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(String(error))?.[1]
  return position === undefined ? 'broken JSON' : `broken JSON at byte ${position} of the line`
}

function kindOf(first: number | undefined): string {
  switch (String.fromCharCode(first ?? 0)) {
    case '[':
      return 'an array'
    case '"':
      return 'a string'
    case 't':
    case 'f':
      return 'true or false'
    case 'n':
      return 'null'
    default:
      return 'a number'
  }
}
