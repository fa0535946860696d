/**
 * Marks lines that a function made of one line of an input, so that this line is counted once: the mark, `+`, then a document that
 * others of the same line follow. The last one has no mark. The mark and `-` stand for a line of which nothing comes, or nothing more.
 * No JSON begins so.
 */
const MARK = 0x1d
const PLUS = 0x2b
const MINUS = 0x2d

/** Bytes before a document that others follow. */
export const LINE_PART_BYTES = 2

export const MORE_FOLLOWS = Buffer.from([MARK, PLUS])
export const NOTHING_COMES = Buffer.from([MARK, MINUS])

/** Returns whether a line begins like one of these. */
export function mayBePart(bytes: Uint8Array, from: number): boolean {
  return bytes[from] === MARK
}

/** Returns undefined for a line without a mark. */
export function partOf(bytes: Uint8Array, from: number): 'more' | 'nothing' | undefined {
  if (bytes[from] !== MARK) return undefined
  return bytes[from + 1] === PLUS ? 'more' : bytes[from + 1] === MINUS ? 'nothing' : undefined
}

/** Returns the number of a document in the ids of Sluice's own. `within`: how many documents of the same line come before it. */
export function partNumber(document: number, within: number | undefined): number | string {
  return within === undefined || within === 0 ? document : `${document}.${within + 1}`
}
