import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'
import { type MediaType, mediaTypeOf } from './documents-in.js'

const TYPES = 'application/x-ndjson, application/ndjson, application/json'
const LONGEST_KEY = 255

/** What the headers of a post say of its body. */
export interface Head {
  readonly type: MediaType
  readonly isGzip: boolean
  /** For idempotency, as the caller wrote it. */
  readonly key: string | undefined
}

/** Refused here, a request costs neither memory nor the sending of its body. */
export function readHead(headers: IncomingHttpHeaders, maxBody: number): Head | { readonly refused: Answer } {
  const type = mediaTypeOf(headers['content-type'])
  if (type === undefined)
    return { refused: refusal(415, `Content-Type must be one of ${TYPES}`, { 'accept-post': TYPES }) }
  const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (encoding !== 'identity' && encoding !== 'gzip')
    return { refused: refusal(415, 'Content-Encoding must be gzip, or absent', { 'accept-encoding': 'gzip' }) }
  const key = keyOf(headers['idempotency-key'])
  if (key === false) return { refused: refusal(400, `Idempotency-Key must have 1 to ${LONGEST_KEY} characters`) }
  if (Number(headers['content-length'] ?? 0) > maxBody) return { refused: tooLarge(maxBody) }
  return { type, isGzip: encoding === 'gzip', key }
}

/** Undefined: there is none. False: it is none that can be used. */
function keyOf(header: string | readonly string[] | undefined): string | undefined | false {
  if (header === undefined) return undefined
  return typeof header === 'string' && header !== '' && header.length <= LONGEST_KEY ? header : false
}

/** What a caller is told: a status, and JSON. */
export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: { error }, headers }
}

/** By its Content-Length already, or once it has come. */
export function tooLarge(maxBody: number): Answer {
  return refusal(413, `a request may have at most ${maxBody} bytes, also after decompression`)
}

export interface Guard {
  allows(request: Pick<IncomingMessage, 'headers'>): boolean
}

/** Lets in who brings the token; everybody where there is none. How long it takes tells nothing of the token. */
export function bearerGuard(token: string | undefined): Guard {
  if (token === undefined) return { allows: () => true }
  const wanted = digest(token)
  return {
    allows({ headers: { authorization = '' } }) {
      const [, brought = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
      return timingSafeEqual(digest(brought), wanted)
    },
  }
}

/** Alike in length, whatever is compared. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
