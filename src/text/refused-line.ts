/**
 * Marks a line that is refused before it is framed, so that its reason travels with it: the mark, the code of the failure, a blank, the
 * problem, the mark, then the document for the dead letters. No JSON begins so.
 */
const MARK = 0x1f

export type RefusedCode =
  | 'DOCUMENT_ROW_INVALID'
  | 'DOCUMENT_HIT_INVALID'
  | 'DOCUMENT_NOT_EDITED'
  | 'DOCUMENT_NOT_TRANSFORMED'
  | 'DOCUMENT_NOT_JSON'

/** Returns what stands before the document. The problem holds no control characters. */
export function refusedLineStart(code: RefusedCode, problem: string): Buffer {
  return Buffer.from(`\u001f${code} ${problem}\u001f`)
}

/** Returns whether a line begins like one that is refused. */
export function mayBeRefusedLine(bytes: Buffer, from: number): boolean {
  return bytes[from] === MARK
}

/** Returns why the line `bytes[from, to)` is refused, and where its document begins. Undefined for every other line. */
export function refusedLineIn(
  bytes: Buffer,
  from: number,
  to: number,
): { readonly code: RefusedCode; readonly problem: string; readonly from: number } | undefined {
  if (bytes[from] !== MARK) return undefined
  const end = bytes.indexOf(MARK, from + 1)
  if (end === -1 || end >= to) return undefined
  const [code = '', ...words] = bytes.toString('utf8', from + 1, end).split(' ')
  return { code: code as RefusedCode, problem: words.join(' '), from: end + 1 }
}
