/**
 * Marks a line that a format refuses, so that its reason travels with it: the mark, the reason, the mark, then the document for the
 * dead letters. No JSON begins so.
 */
const MARK = 0x1f

/** Returns what stands before the document. The reason holds no control characters. */
export function refusedLineStart(reason: string): Buffer {
  return Buffer.from(`\u001f${reason}\u001f`)
}

/** Returns the reason of the line `bytes[from, to)`, and where its document begins. Undefined for every other line. */
export function refusedLineIn(
  bytes: Buffer,
  from: number,
  to: number,
): { readonly reason: string; readonly from: number } | undefined {
  if (bytes[from] !== MARK) return undefined
  const end = bytes.indexOf(MARK, from + 1)
  return end === -1 || end >= to ? undefined : { reason: bytes.toString('utf8', from + 1, end), from: end + 1 }
}
