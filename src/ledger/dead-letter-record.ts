/**
 * A rejected document as one NDJSON line, with everything that is needed to see why and to send it again. Its own bytes are kept:
 * as `document` where they are a JSON object, as `line` where they are other text, as `base64` where they are not UTF-8 or too
 * long to hold. What tells whose record it is stands first, where it is found without reading the rest.
 */
import { isUtf8 } from 'node:buffer'
import type { Destination, Refused } from '../flow.js'

/** Longer text goes as base64: escaped, it could grow past what a string can hold. */
const LONGEST_TEXT = 16 << 20

/** What every record of a run says. */
export interface Stamp {
  readonly run: string
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

/** Refused because it is no object, or none that could be looked at. */
const isText = new Set(['DOCUMENT_NOT_JSON', 'DOCUMENT_TOO_LARGE', 'DEAD_LETTER_BROKEN'])

/** The fields that a record begins with, without braces. */
export function head(refused: Omit<Refused, 'document' | 'reason'>, stamp: Stamp | undefined): string {
  const { operation, origin, id, routing, status, type, attempts } = refused
  const destination = refused.destination ?? stamp?.destination
  const fields = { operation, run: stamp?.run, origin, ...destination, id, routing, status, type, attempts }
  return JSON.stringify(fields).slice(1, -1)
}
