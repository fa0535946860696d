import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'
import { type MediaType, mediaTypeOf } from './documents-in.js'

const TYPES = 'application/x-ndjson, application/ndjson, application/json'
const LONGEST_KEY = 255

/** The properties of a post's body, from its headers. */
export interface Head {
  readonly type: MediaType
  readonly isGzip: boolean
  /** The idempotency key, as the caller wrote it. */
  readonly key: string | undefined
}

/** Reads the headers. A request that is rejected here needs no memory, and its body is not sent. */
export function readHead(headers: IncomingHttpHeaders, maxBody: number): Head | { readonly refused: PostAnswer } {
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

/** Returns undefined if there is no key, and false if the key cannot be used. */
function keyOf(header: string | readonly string[] | undefined): string | undefined | false {
  if (header === undefined) return undefined
  return typeof header === 'string' && header !== '' && header.length <= LONGEST_KEY ? header : false
}

/** The answer to a caller: a status and JSON. */
export interface PostAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

export function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): PostAnswer {
  return { status, body: { error }, headers }
}

/** Rejects a request by its Content-Length, or after reading it. */
export function tooLarge(maxBody: number): PostAnswer {
  return refusal(413, `a request may have at most ${maxBody} bytes, also after decompression`)
}

export interface TokenGuard {
  allows(request: Pick<IncomingMessage, 'headers'>): boolean
}

/** Accepts callers with the token, or all callers if there is none. The time of the check reveals nothing about the token. */
export function bearerGuard(token: string | undefined): TokenGuard {
  if (token === undefined) return { allows: () => true }
  const wanted = digest(token)
  return {
    allows({ headers: { authorization = '' } }) {
      const [, brought = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
      return timingSafeEqual(digest(brought), wanted)
    },
  }
}

/** Makes texts of any length equally long, to compare them in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
