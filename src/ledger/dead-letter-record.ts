/**
 * Writes a rejected document as one NDJSON line, with the reason and everything that a replay needs. Keeps the
 * document's bytes: as `document` if they are a JSON object, as `line` if they are other text, as `base64` if they
 * are not UTF-8 or too long to hold. The author comes first, so that readers find the author without reading the
 * rest.
 */
import { isUtf8 } from 'node:buffer'
import type { Destination, Operation, Refused } from '../flow.js'

/** Longer text goes as base64: escaped, it could grow past what a string can hold. */
const LONGEST_TEXT = 16 << 20

/** Whose a record is. */
export interface Author {
  readonly run: string
  /** Letters and digits. Unique for each process, because runs of the same name may write to one file. */
  readonly writer: string
}

/** Fields that every record of a process shares. */
export interface Stamp extends Author {
  readonly destination: Destination
}

export function record(refused: Refused, stamp: Stamp | undefined): Buffer {
  const { document, type, reason } = refused
  const start = `{${head(refused, stamp)},"reason":${JSON.stringify(reason)},`
  const isObject = !isText.has(type)
  if (isObject) return Buffer.concat([Buffer.from(`${start}"document":`), document, Buffer.from('}\n')])
  const bytes = Buffer.from(document)
  const kept =
    bytes.length <= LONGEST_TEXT && isUtf8(bytes)
      ? `"line":${JSON.stringify(bytes.toString('utf8'))}`
      : `"base64":"${bytes.toString('base64')}"`
  return Buffer.from(`${start}${kept}}\n`)
}

/** Codes of lines that are no object, or that could not be parsed. */
const isText = new Set(['DOCUMENT_NOT_JSON', 'DOCUMENT_TOO_LARGE', 'DEAD_LETTER_BROKEN'])

/** The fields that a record begins with, without braces. */
export function head(refused: Omit<Refused, 'document' | 'reason'>, stamp: Stamp | undefined): string {
  const { operation, origin, id, routing, status, type, attempts } = refused
  const destination = refused.destination ?? stamp?.destination
  const { run, writer } = stamp ?? {}
  const fields = { operation, run, writer, origin, ...destination, id, routing, status, type, attempts }
  return JSON.stringify(fields).slice(1, -1)
}

/** Returns the possible beginnings of an author's records, with bytes as characters. */
export function openingsOf({ run, writer }: Author): readonly string[] {
  const operations: readonly Operation[] = ['create', 'index']
  return operations.map(operation => {
    const opening = `${JSON.stringify({ operation, run, writer }).slice(0, -1)},`
    return Buffer.from(opening).toString('latin1')
  })
}
