/** Takes a post to the disk: checks its token, headers, body and documents, and answers its caller. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { isSluiceError } from '../../base/failure/failure.js'
import { type CountedLines, documentsIn, type MediaType, mediaTypeOf } from './documents-in.js'
import { hashOf, type Request } from './segment.js'
import { type ReadBody, readBody, type RefusedBody } from './read-body.js'
import type { Room } from './room.js'
import type { SpoolRoom } from './spool-room.js'
import type { StoredRequest } from './recent-keys.js'

const TYPES = 'application/x-ndjson, application/ndjson, application/json, application/*+json'
const LONGEST_KEY = 255
/** Hashing this many bytes takes a few milliseconds. */
const HASHED_BYTES = 1 << 20

export interface Intake {
  /** Most bytes of a request, also after decompression. */
  readonly maxBody: number
  readonly maxDocuments: number
  readonly spoolRoom: Pick<SpoolRoom, 'isFull' | 'take'>
  store(request: Request): Promise<StoredRequest>
  /** Retry-After in seconds, for a full spool. */
  retryAfter(): number
}

export interface OpenIntake extends Intake {
  readonly isAllowed: TokenGuard
  readonly room: Room
  readonly turns: Turns
  /** Whether `serve` stops: it still takes current requests, but no new ones. */
  isClosing(): boolean
}

/** Stores the documents and returns the answer. Returns undefined if the caller closed the connection: then nothing is stored. */
export async function takePost(
  request: IncomingMessage,
  response: ServerResponse,
  intake: OpenIntake,
): Promise<PostAnswer | undefined> {
  const { maxBody } = intake
  if (!intake.isAllowed(request)) return unauthorized
  if (intake.isClosing()) return refusal(503, 'sluice serve is stopping. Try again later', { 'retry-after': '5' })
  const head = readHead(request.headers, maxBody)
  if ('refused' in head) return head.refused
  if (intake.spoolRoom.isFull) return behind(intake)
  if (request.headers.expect !== undefined) response.writeContinue()
  return await readBody(request, intake, head.isGzip, async read => await takeBody(read, head, intake))
}

async function takeBody(read: ReadBody, { type, key }: Head, intake: OpenIntake): Promise<PostAnswer | undefined> {
  if ('refused' in read) return refusedBody(read.refused, intake)
  const { maxDocuments, turns } = intake
  const found = await documentsIn(read, type, { maxDocuments, turn: async () => await turns.next() })
  if ('problem' in found) return { status: found.status, body: { error: found.problem, line: found.line } }
  if (found.documents === 0) return { status: 200, body: { accepted: 0 } }
  return await store(found, key, intake)
}

async function store(
  { bytes, documents }: CountedLines,
  key: string | undefined,
  intake: OpenIntake,
): Promise<PostAnswer> {
  const keyed = key === undefined ? {} : { key: hashOf(key) }
  try {
    const sha256 = await hashInTurns(bytes, intake.turns)
    // Nothing may wait between this look and the store: requests that came meanwhile count.
    if (!intake.spoolRoom.take(bytes.length)) return behind(intake)
    const stored = await intake.store({ bytes, documents, sha256, ...keyed })
    if (stored === 'other') return refusal(422, 'this Idempotency-Key was used with other documents')
    if (stored === 'known') return { status: 200, body: { accepted: documents, repeated: true } }
    return { status: 202, body: { accepted: documents } }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
    const isFull = code === 'ENOSPC' || code === 'EDQUOT'
    const problem = isFull
      ? 'the disk is full. Sluice stored nothing'
      : 'Sluice cannot write to the disk, and stored nothing'
    return refusal(isFull ? 507 : 503, problem, { 'retry-after': '30' })
  }
}

/** Hashes a large body piece by piece, so that others are answered meanwhile. */
async function hashInTurns(bytes: Uint8Array, turns: Turns): Promise<string> {
  const hash = createHash('sha256')
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    if (at > 0) await turns.next()
    hash.update(bytes.subarray(at, at + HASHED_BYTES))
  }
  return hash.digest('hex')
}

function refusedBody(why: RefusedBody, { maxBody }: Intake): PostAnswer | undefined {
  switch (why) {
    case 'gone':
      return undefined
    case 'busy':
      return refusal(429, 'there are too many requests at once', { 'retry-after': '1' })
    case 'not gzip':
      return refusal(400, 'the body is not complete gzip data, although Content-Encoding says gzip')
    case 'too many pieces':
      return refusal(400, 'the body comes in too many small pieces', { connection: 'close' })
    case 'too large':
      return tooLarge(maxBody)
  }
}

function behind(intake: Intake): PostAnswer {
  const after = String(intake.retryAfter())
  return refusal(429, 'too many documents wait to be loaded. Try again later', { 'retry-after': after })
}

/** The properties of a post's body, from its headers. */
interface Head {
  readonly type: MediaType
  readonly isGzip: boolean
  readonly key: string | undefined
}

/** Reads the headers. A request that is rejected here needs no memory, and its body is not sent. */
function readHead(headers: IncomingHttpHeaders, maxBody: number): Head | { readonly refused: PostAnswer } {
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

export interface PostAnswer {
  readonly status: number
  /** Text is sent as it is. */
  readonly body: Readonly<Record<string, unknown>> | string
  readonly headers?: Readonly<Record<string, string>>
}

export const unauthorized = refusal(401, 'send a bearer token: Authorization: Bearer TOKEN', {
  'www-authenticate': 'Bearer',
})

export function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): PostAnswer {
  return { status, body: { error }, headers }
}

/** Rejects a request by its Content-Length, or after reading it. */
function tooLarge(maxBody: number): PostAnswer {
  return refusal(413, `a request may have at most ${maxBody} bytes, also after decompression`)
}

type TokenGuard = (request: IncomingMessage) => boolean

/** Accepts callers with the token, or all callers if there is none. The time of the check reveals nothing about the token. */
export function bearerGuard(token: string | undefined): TokenGuard {
  if (token === undefined) return () => true
  const wanted = digest(token)
  return ({ headers: { authorization = '' } }) => {
    const [, brought = ''] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
    return timingSafeEqual(digest(brought), wanted)
  }
}

/** Makes texts of any length equally long, to compare them in constant time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Shares the event loop: of all long tasks, one continues in each round. Between two rounds, short requests are answered. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when the caller may continue for some milliseconds. */
  async next(): Promise<void> {
    await (this.#last = this.#last.then(nextRound))
  }
}

async function nextRound(): Promise<void> {
  await new Promise<void>(resolve => setImmediate(resolve))
}
