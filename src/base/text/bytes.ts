/**
 * Lines as bytes: their blanks and ends, and marks at their start. A format marks a line that carries more than a document for its
 * batcher: its action, or why it is refused.
 */
import type { ConditionKind } from '../operation.js'

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

/** For fewer bytes, the view that a copy needs costs more than a loop. */
const FEW_BYTES = 64

/** Copies `from[start, end)`. Returns the offset behind the copy. */
export function copyBytes(from: Buffer, start: number, end: number, to: Buffer, at: number): number {
  const length = end - start
  if (length > FEW_BYTES) from.copy(to, at, start, end)
  else for (let byte = 0; byte < length; byte += 1) to[at + byte] = from[start + byte] as number
  return at + length
}

/**
 * Marks a line that carries its own action, so that id and routing travel with its document: the mark, the operation if it is not that
 * of the run, a letter if the address ends in a condition, the address as an action line has it, the mark, then the document. No JSON
 * begins so, and no JSON holds the mark.
 */
export const ACTION_MARK = 0x1e

/** Upper case, as no operation is. */
export const conditionLetters = { version: 0x56, sequence: 0x53 } as const

const BRACE = 0x7b

/** Where the parts of such a line begin. The operation begins behind the mark. */
export interface CarriedAction {
  /** Behind the operation. */
  operationEnd: number
  condition: ConditionKind | undefined
  /** The opening brace of the address. */
  address: number
  /** The document. The mark stands before it. */
  document: number
}

/** Finds the parts of the line that begins at `from`. Returns false if it carries no action. */
export function findAction(bytes: Buffer, from: number, found: CarriedAction): boolean {
  if (bytes[from] !== ACTION_MARK) return false
  const end = bytes.indexOf(ACTION_MARK, from + 1)
  let address = from + 1
  while (address < end && bytes[address] !== BRACE) address += 1
  if (end === -1 || address === end) return false
  const letter = bytes[address - 1]
  found.condition =
    letter === conditionLetters.version ? 'version' : letter === conditionLetters.sequence ? 'sequence' : undefined
  found.operationEnd = found.condition === undefined ? address : address - 1
  found.address = address
  found.document = end + 1
  return true
}

/**
 * Marks a line that is refused before it is framed, so that its reason travels with it: the mark, the code of the failure, a blank, the
 * problem, the mark, then the line for the dead letters, with its action if lines of its kind carry one. No JSON begins so.
 */
const REFUSED_MARK = 0x1f

type RefusedCode =
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
  return bytes[from] === REFUSED_MARK
}

/** Returns why the line `bytes[from, to)` is refused, and where its document begins. Undefined for every other line. */
export function refusedLineIn(
  bytes: Buffer,
  from: number,
  to: number,
): { readonly code: RefusedCode; readonly problem: string; readonly from: number } | undefined {
  if (bytes[from] !== REFUSED_MARK) return undefined
  const end = bytes.indexOf(REFUSED_MARK, from + 1)
  if (end === -1 || end >= to) return undefined
  const [code = '', ...words] = bytes.toString('utf8', from + 1, end).split(' ')
  return { code: code as RefusedCode, problem: words.join(' '), from: end + 1 }
}

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
