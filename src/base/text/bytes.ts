const TAB = 0x09
export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
export const SPACE = 0x20

/** Returns whether JSON takes a byte for white space. */
export function isWhiteSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB
}

/** Returns whether a line holds only white space. Its line end may be missing. */
export function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (!isWhiteSpace(bytes[at])) return false
  return true
}

/** Returns the offset after the last byte before `to` that is not white space. */
export function endWithoutSpace(bytes: Uint8Array, to: number): number {
  let end = to
  while (isWhiteSpace(bytes[end - 1])) end -= 1
  return end
}

/** Returns the offset after the next line feed, or the end of the bytes if there is none. */
export function endOfLine(bytes: Uint8Array, from: number): number {
  const lineFeed = bytes.indexOf(LINE_FEED, from)
  return lineFeed === -1 ? bytes.length : lineFeed + 1
}

export function withoutLineEnd(line: Buffer): Buffer {
  let end = line.length
  if (line[end - 1] === LINE_FEED) end -= 1
  if (line[end - 1] === CARRIAGE_RETURN) end -= 1
  return line.subarray(0, end)
}
