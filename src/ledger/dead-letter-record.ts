/**
 * A rejected document as one NDJSON line, with everything that is needed to see why and to send it again. Its own bytes are kept:
 * as `document` where they are a JSON object, as `line` where they are other text, as `base64` where they are not UTF-8 or too
 * long to hold.
 */
import { isUtf8 } from 'node:buffer'
import type { Refused } from '../flow.js'

/** Longer text goes as base64: escaped, it could grow past what a string can hold. */
const LONGEST_TEXT = 16 << 20

export function record(refused: Refused): Buffer {
  const { document, type, reason } = refused
  const start = `{${head(refused)},"reason":${JSON.stringify(reason)},`
  const isObject = type !== 'DOCUMENT_NOT_JSON' && type !== 'DOCUMENT_TOO_LARGE'
  if (isObject) return Buffer.concat([Buffer.from(`${start}"document":`), document, Buffer.from('}\n')])
  const bytes = Buffer.from(document)
  const kept =
    bytes.length <= LONGEST_TEXT && isUtf8(bytes)
      ? `"line":${JSON.stringify(bytes.toString('utf8'))}`
      : `"base64":"${bytes.toString('base64')}"`
  return Buffer.from(`${start}${kept}}\n`)
}

/** The fields that a record begins with, without braces. */
export function head({ operation, id, status, type, origin, attempts }: Omit<Refused, 'document' | 'reason'>): string {
  return JSON.stringify({ operation, id, status, type, origin, attempts }).slice(1, -1)
}
