/** Judges one line in plain JavaScript. The kernel must agree with it, and leaves difficult lines to it. */
import { failure } from '../failure/failure.js'
import type { Operation, Origin, Refused } from '../flow.js'
import { CARRIAGE_RETURN, LINE_FEED } from '../text/bytes.js'
import { type ActionTemplate, actionLine, ownId } from './action-line.js'
import { lineProblem } from './check-line.js'
import type { Position } from './open-batch.js'

export interface LineRules {
  readonly operation: Operation
  readonly maxDocumentBytes: number
}

/**
 * Returns the action line of the document `bytes[from, to)`, or why it is not sent. The line is not blank, and may
 * lack its line end. `utf8`: the bytes are known to be valid UTF-8.
 */
export function judgeLine(
  bytes: Buffer,
  from: number,
  to: number,
  utf8: boolean,
  template: ActionTemplate,
  at: Position,
  { operation, maxDocumentBytes }: LineRules,
): string | Refused {
  const refused = (type: Refused['type'], reason: string): Refused => {
    const id = ownId(template, at.document)
    return {
      document: Buffer.from(withoutLineEnd(bytes.subarray(from, to))),
      operation,
      ...(id === undefined ? {} : { id }),
      status: 0,
      type,
      reason,
      origin: originOf(at),
      attempts: 0,
    }
  }
  const problem = lineProblem(bytes, from, to, utf8)
  if (problem !== undefined) return refused('DOCUMENT_NOT_JSON', failure('DOCUMENT_NOT_JSON', { problem }).message)
  if (to - from > maxDocumentBytes) {
    const evidence = { bytes: to - from, limit: maxDocumentBytes }
    return refused('DOCUMENT_TOO_LARGE', failure('DOCUMENT_TOO_LARGE', evidence).message)
  }
  const action = actionLine(template, at.document, () => bytes.toString('utf8', from, to))
  return typeof action === 'string'
    ? action
    : refused('DOCUMENT_ID_INVALID', failure('DOCUMENT_ID_INVALID', { ...action }).message)
}

export function originOf({ input, kind, document, line, offset }: Position): Origin {
  return kind === 'lines' ? { input: input.name, document, line, offset } : { input: input.name, document }
}

export function withoutLineEnd(line: Buffer): Buffer {
  let end = line.length
  if (line[end - 1] === LINE_FEED) end -= 1
  if (line[end - 1] === CARRIAGE_RETURN) end -= 1
  return line.subarray(0, end)
}
