/** A post on its way to the disk: its token, its headers, its body, its documents; and what its caller is told of each. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isSluiceError } from '../failure/sluice-error.js'
import { type Answer, type Guard, type Head, readHead, refusal, tooLarge } from './request-head.js'
import { type Documents, documentsIn } from './documents-in.js'
import { hashOf } from './journal.js'
import { type ReadBody, type Room, readBody } from './read-body.js'
import type { Stored } from './recent-keys.js'
import type { Request } from './segment.js'

/** Where documents go, and how many of them may. */
export interface Intake {
  /** Bytes of a request, also once it is decompressed. */
  readonly maxBody: number
  /** Bytes that may wait on the disk. */
  readonly spoolLimit: number
  /** Bytes that wait on the disk. */
  waiting(): number
  /** Resolves when it is on the disk. */
  store(request: Request): Promise<Stored>
  /** Seconds after which it is worth another try, where the spool is full. */
  retryAfter(): number
}

export interface OpenIntake extends Intake {
  readonly guard: Guard
  readonly room: Room
  /** It is being stopped: only what is under way is still taken. */
  isClosing(): boolean
}

/** Undefined: the caller went away, and nothing is stored. Rejects with what nobody foresaw. */
export async function takePost(
  request: IncomingMessage,
  response: ServerResponse,
  intake: OpenIntake,
): Promise<Answer | undefined> {
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

async function takeBody(read: ReadBody, { type, key }: Head, intake: Intake): Promise<Answer | undefined> {
  if ('refused' in read) return refusedBody(read.refused, intake)
  const found = documentsIn(read.body, type)
  if ('problem' in found) return { status: found.status, body: { error: found.problem, line: found.line } }
  if (found.documents === 0) return { status: 200, body: { accepted: 0 } }
  // Only now it is known how many bytes the documents are.
  if (intake.waiting() + found.bytes.length > intake.spoolLimit) return behind(intake)
  return await store(found, key, intake)
}

async function store({ bytes, documents }: Documents, key: string | undefined, intake: Intake): Promise<Answer> {
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

/** Throws what is not of the disk. */
function unwritten(error: unknown): Answer {
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
): Answer | undefined {
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

function behind(intake: Intake): Answer {
  const after = String(intake.retryAfter())
  return refusal(429, 'too many documents wait to be loaded. Try again later', { 'retry-after': after })
}
