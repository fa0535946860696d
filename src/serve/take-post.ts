/** Takes a post to the disk: checks its token, headers, body and documents, and answers its caller. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isSluiceError } from '../failure/sluice-error.js'
import { type Head, type PostAnswer, readHead, refusal, type TokenGuard, tooLarge } from './request-head.js'
import { type Documents, documentsIn } from './documents-in.js'
import { hashOf, type Request } from './segment.js'
import { type ReadBody, readBody, type Room } from './read-body.js'
import type { StoredRequest } from './recent-keys.js'

/** Where documents go, and the limits. */
export interface Intake {
  /** Most bytes of a request, also after decompression. */
  readonly maxBody: number
  /** Most bytes that may wait on the disk. */
  readonly spoolLimit: number
  /** Bytes that wait on the disk. */
  waiting(): number
  /** Resolves when the request is on the disk. */
  store(request: Request): Promise<StoredRequest>
  /** Retry-After in seconds, for a full spool. */
  retryAfter(): number
}

export interface OpenIntake extends Intake {
  readonly guard: TokenGuard
  readonly room: Room
  /** Whether `serve` stops: it still takes current requests, but no new ones. */
  isClosing(): boolean
}

/** Stores the documents and returns the answer. Returns undefined if the caller closed the connection: then nothing is stored. */
export async function takePost(
  request: IncomingMessage,
  response: ServerResponse,
  intake: OpenIntake,
): Promise<PostAnswer | undefined> {
  const { guard, room, maxBody } = intake
  if (!guard.allows(request))
    return refusal(401, 'send a bearer token: Authorization: Bearer TOKEN', { 'www-authenticate': 'Bearer' })
  if (intake.isClosing()) return refusal(503, 'sluice serve is stopping. Try again later', { 'retry-after': '5' })
  const head = readHead(request.headers, maxBody)
  if ('refused' in head) return head.refused
  if (intake.waiting() >= intake.spoolLimit) return behind(intake)
  if (request.headers.expect !== undefined) response.writeContinue()
  return await readBody(request, { maxBody, room }, head.isGzip, async read => await takeBody(read, head, intake))
}

async function takeBody(read: ReadBody, { type, key }: Head, intake: Intake): Promise<PostAnswer | undefined> {
  if ('refused' in read) return refusedBody(read.refused, intake)
  const found = documentsIn(read.body, type)
  if ('problem' in found) return { status: found.status, body: { error: found.problem, line: found.line } }
  if (found.documents === 0) return { status: 200, body: { accepted: 0 } }
  // The size of the documents is known only now.
  if (intake.waiting() + found.bytes.length > intake.spoolLimit) return behind(intake)
  return await store(found, key, intake)
}

async function store({ bytes, documents }: Documents, key: string | undefined, intake: Intake): Promise<PostAnswer> {
  const keyed = key === undefined ? {} : { key: hashOf(key) }
  try {
    const stored = await intake.store({ bytes, documents, sha256: hashOf(bytes), ...keyed })
    if (stored === 'other') return refusal(422, 'this Idempotency-Key was used with other documents')
    if (stored === 'known') return { status: 200, body: { accepted: documents, repeated: true } }
    return { status: 202, body: { accepted: documents } }
  } catch (error) {
    return unwritten(error)
  }
}

/** Answers a failure of the disk. Throws any other error. */
function unwritten(error: unknown): PostAnswer {
  if (!isSluiceError(error)) throw error
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
  const isFull = code === 'ENOSPC' || code === 'EDQUOT'
  const problem = isFull
    ? 'the disk is full. Sluice stored nothing'
    : 'Sluice cannot write to the disk, and stored nothing'
  return refusal(isFull ? 507 : 503, problem, { 'retry-after': '30' })
}

function refusedBody(
  why: Extract<ReadBody, { readonly refused: string }>['refused'],
  { maxBody }: Intake,
): PostAnswer | undefined {
  switch (why) {
    case 'gone':
      return undefined
    case 'busy':
      return refusal(429, 'there are too many requests at once', { 'retry-after': '1' })
    case 'not gzip':
      return refusal(400, 'the body is not complete gzip data, although Content-Encoding says gzip')
    case 'too large':
      return tooLarge(maxBody)
  }
}

function behind(intake: Intake): PostAnswer {
  const after = String(intake.retryAfter())
  return refusal(429, 'too many documents wait to be loaded. Try again later', { 'retry-after': after })
}
