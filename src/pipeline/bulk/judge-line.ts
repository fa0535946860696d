/** Judges one line in plain JavaScript. The kernel must agree with it, and leaves difficult lines to it. */
import { isUtf8 } from 'node:buffer'
import { failure } from '../../base/failure/failure.js'
import type { Refused } from '../../base/flow.js'
import { isWhiteSpace, refusedLineIn } from '../../base/text/bytes.js'
import { actionLine, type ActionProblem, type ActionTemplate } from './action-line.js'
import { endOfValue, jsonFault, NO_FAULT } from '../../base/json/json-fault.js'
import type { Position } from './open-batch.js'

/** Why a line is not sent. Shared by all lines with the same problem. */
export type Why = Pick<Refused, 'status' | 'type' | 'reason'>

/**
 * Returns the action line of the document `bytes[from, to)`, or why it is not sent. The line is not blank, and may
 * lack its line end. `utf8`: the bytes are known to be valid UTF-8. `isSuspect`: the kernel left it. `number`: what an id of Sluice's own ends with.
 */
export function judgeLine(
  bytes: Buffer,
  from: number,
  to: number,
  utf8: boolean,
  isSuspect: boolean,
  template: ActionTemplate,
  number: number | string,
  maxDocumentBytes: number,
): string | Why {
  const unsendable = whyUnsendable(bytes, from, to, utf8, maxDocumentBytes, isSuspect)
  const action = unsendable ?? actionLine(template, number, () => bytes.toString('utf8', from, to))
  if (typeof action === 'string' || 'type' in action) return action
  return idInvalid(action)
}

/** Returns why the bytes cannot be sent as a document, whatever its id. */
export function whyUnsendable(
  bytes: Buffer,
  from: number,
  to: number,
  utf8: boolean,
  limit: number,
  isSuspect = false,
): Why | undefined {
  const problem = lineProblem(bytes, from, to, utf8, isSuspect)
  if (problem !== undefined) return notJson(problem)
  if (to - from <= limit) return undefined
  const { message: reason } = failure('DOCUMENT_TOO_LARGE', { bytes: to - from, limit })
  return { status: 0, type: 'DOCUMENT_TOO_LARGE', reason }
}

export function idInvalid({ of, ...problem }: ActionProblem): Why {
  const type = of === undefined ? 'DOCUMENT_ID_INVALID' : codes[of]
  const { message: reason } = failure(type, problem)
  return { status: 0, type, reason }
}

const codes = { index: 'DOCUMENT_INDEX_INVALID', version: 'DOCUMENT_VERSION_INVALID' } as const

/** Returns why a line was refused before, and where the document begins in it. Undefined: it is a line like any other. */
export function refusedBefore(
  bytes: Buffer,
  from: number,
  to: number,
  { kind }: Pick<Position, 'kind'>,
): { readonly why: Why; readonly from: number } | undefined {
  // Lines that stand so in an input say nothing about themselves.
  const refused = kind === 'lines' || kind === 'range' ? undefined : refusedLineIn(bytes, from, to)
  if (refused === undefined) return undefined
  const { code: type, problem } = refused
  const { message: reason } = failure(type, { problem })
  return { why: { status: 0, type, reason }, from: refused.from }
}

/** More kinds of problems than this have a reason of their own each time. */
const MOST_KNOWN = 4096
const known = new Map<string, Why>()

function notJson(problem: string): Why {
  const before = known.get(problem)
  if (before !== undefined) return before
  const why = { status: 0, type: 'DOCUMENT_NOT_JSON', reason: failure('DOCUMENT_NOT_JSON', { problem }).message }
  if (known.size < MOST_KNOWN) known.set(problem, why)
  return why
}

const BRACE = 0x7b
/** The values of a longer line could take all memory. */
const LONGEST_PARSED = 1 << 20

/**
 * Returns why a line is no document: a document is exactly one JSON object (RFC 8259) in UTF-8. `utf8`: the bytes are
 * known to be valid UTF-8. `isSuspect`: the kernel did not take it for a document, so it probably is none. The answer is the same.
 */
export function lineProblem(
  bytes: Buffer,
  from: number,
  to: number,
  utf8: boolean,
  isSuspect = false,
): string | undefined {
  if (!utf8 && !isUtf8(bytes.subarray(from, to))) return 'it is not valid UTF-8'
  const isLong = to - from > LONGEST_PARSED
  const isChecked = isSuspect || isLong
  const fault = isChecked ? jsonFault(bytes, from, to) : NO_FAULT
  if (fault !== NO_FAULT) return isSecondObject(bytes, from, to, fault) ? SEVERAL : brokenAt(fault)
  let first = from
  while (isWhiteSpace(bytes[first])) first += 1
  const isObject = bytes[first] === BRACE
  // Only what may be sent needs the word of both.
  const problem = isLong || (isChecked && !isObject) ? undefined : parseProblem(bytes, from, to)
  return problem ?? (isObject ? undefined : `it is ${kindOf(bytes[first])}`)
}

function parseProblem(bytes: Buffer, from: number, to: number): string | undefined {
  // JSON's grammar lies in ASCII, and the bytes are known to be UTF-8: reading them as Latin-1 gives the same verdict, faster.
  const text = bytes.toString('latin1', from, to)
  try {
    JSON.parse(text)
    return undefined
  } catch {
    // The message of the parser names another position in each version of Node, or none.
    const fault = jsonFault(bytes, from, to)
    return isSecondObject(bytes, from, to, fault) ? SEVERAL : brokenAt(fault)
  }
}

const SEVERAL = 'it holds several JSON objects, and --format json loads each of them'

/** Returns whether the fault is only that another object begins behind the first one. */
function isSecondObject(bytes: Buffer, from: number, to: number, fault: number): boolean {
  if (fault <= 0 || bytes[from + fault] !== BRACE) return false
  const end = endOfValue(bytes, from, to)
  return typeof end === 'number' && end === from + fault && bytes[from] === BRACE
}

/** Texts of the positions that come again and again. */
const places: string[] = []
const MOST_PLACES = 2048

function brokenAt(position: number): string {
  if (position < 0 || position >= MOST_PLACES) return brokenText(position)
  return (places[position] ??= brokenText(position))
}

function brokenText(position: number): string {
  return position < 0 ? 'broken JSON' : `broken JSON at byte ${position} of the line`
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
