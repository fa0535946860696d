import { isUtf8 } from 'node:buffer'
import type { Cause, Fault } from './answers.js'
import { DocumentReader, DocumentRefused } from './document-reader.js'
import { JsonCursor, NotJson } from './json-cursor.js'
import type { Mapping } from './mapping.js'

/** How faults describe a document. */
export interface DocumentOptions {
  /** Its id as error messages have it. */
  readonly id: string
  /** Whether error messages may quote the document (`include_source_on_error`). */
  readonly quoteSource: boolean
  /** Whether the bytes are known to be UTF-8. */
  readonly isUtf8: boolean
}

/**
 * Reads the document in `bytes` from `from` to `to` as Elasticsearch does: one object in strict JSON, without duplicate
 * names. Its fields must fit the mapping. Adds new fields to the mapping. Returns the fault if the document cannot be
 * indexed.
 */
export function readDocument(
  mapping: Mapping,
  bytes: Buffer,
  from: number,
  to: number,
  options: DocumentOptions,
): Fault | undefined {
  const hasMark = bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf
  const cursor = new JsonCursor(bytes, hasMark ? from + 3 : from, to)
  try {
    if (!options.isUtf8) checkUtf8(cursor)
    new DocumentReader(mapping, cursor).read()
    mapping.accept()
    return undefined
  } catch (error) {
    mapping.reject()
    if (error instanceof DocumentRefused) return refusedFault(error, cursor, options)
    if (error instanceof NotJson) return notJsonFault(error, cursor, options)
    throw error
  }
}

function checkUtf8(cursor: JsonCursor): void {
  const { bytes, from, to } = cursor
  if (isUtf8(bytes.subarray(from, to))) return
  // Finds the bad byte by halving.
  let good = from
  let bad = to
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (isUtf8(bytes.subarray(from, endOfCharacter(bytes, middle, to)))) good = middle
    else bad = middle
  }
  cursor.fail(`Invalid UTF-8 start byte 0x${(bytes[good] ?? 0).toString(16).padStart(2, '0')}`, good + 1)
}

function endOfCharacter(bytes: Buffer, at: number, to: number): number {
  let end = at
  while (end < to && end < at + 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end++
  return end
}

function refusedFault({ refusal }: DocumentRefused, cursor: JsonCursor, options: DocumentOptions): Fault {
  const at = refusal.at === undefined ? '' : `[1:${refusal.at - cursor.from + 1}] `
  const { type = 'document_parsing_exception', field } = refusal
  const causedBy = refusal.causedBy && located(refusal.causedBy, cursor, options)
  if (!field) return { status: 400, type, reason: at + refusal.reason, ...(causedBy && { causedBy }) }
  const what = `failed to parse field [${field.path}] of type [${field.type}] in document with id '${options.id}'`
  const reason = `${at}${what}. Preview of field's value: '${refusal.reason}'`
  return { status: 400, type, reason, ...(causedBy && { causedBy }) }
}

/** A parser's complaint names its place, and the faults of Elasticsearch's own theirs. */
function located(cause: Cause, cursor: JsonCursor, options: DocumentOptions): Cause {
  const column = cursor.at - cursor.from + 1
  if (cause.type === 'document_parsing_exception')
    return { ...cause, reason: `[1:${cursor.token - cursor.from + 1}] ${cause.reason}` }
  if (cause.type !== 'x_content_parse_exception') return cause
  const tail = sourceTail(cursor, column, options)
  return {
    type: cause.type,
    reason: `[1:${column}] ${cause.reason}${tail}`,
    causedBy: { type: cause.causedBy?.type ?? 'json_parse_exception', reason: `${cause.reason}${tail}` },
  }
}

function notJsonFault(error: NotJson, cursor: JsonCursor, options: DocumentOptions): Fault {
  if (error.limit !== undefined) return exceededFault(error)
  const tail = sourceTail(cursor, error.column, options)
  const reason = error.isEnd
    ? `[1:${error.column}] Unexpected end of file`
    : `[1:${error.column}] ${error.message}${tail}`
  const where = error.isOutside ? `[1:${error.column}] ` : `[1:${error.tokenColumn}] failed to parse: `
  return {
    status: 400,
    type: 'document_parsing_exception',
    reason: where + reason,
    causedBy: {
      type: error.isEnd ? 'x_content_e_o_f_exception' : 'x_content_parse_exception',
      reason,
      causedBy: {
        type: error.isEnd ? 'json_e_o_f_exception' : 'json_parse_exception',
        reason: `${error.message}${tail}`,
      },
    },
  }
}

function exceededFault({ message: reason, limit, tokenColumn }: NotJson): Fault {
  const causedBy = { type: 'stream_constraints_exception', reason }
  return {
    status: 400,
    type: 'document_parsing_exception',
    reason: `[1:${tokenColumn}] failed to parse: ${reason}`,
    causedBy: limit === 'number' ? causedBy : { type: 'x_content_parse_exception', reason, causedBy },
  }
}

/** Describes the position of a parser. Elasticsearch quotes the document unless this is turned off. */
function sourceTail({ bytes, from, to }: JsonCursor, column: number, { quoteSource }: DocumentOptions): string {
  const source = quoteSource
    ? `(byte[])"${bytes.toString('utf8', from, Math.min(to, from + 500))}"`
    : 'REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled)'
  return `\n at [Source: ${source}; line: 1, column: ${column}]`
}
