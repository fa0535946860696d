/** The HTTP side: who may post, what is taken, and how each is answered. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { isSluiceError } from '../failure/sluice-error.js'
import { type Guard, bearerGuard } from './bearer.js'
import { type Documents, type MediaType, documentsIn, mediaTypeOf } from './documents-in.js'
import { hashOf } from './journal.js'
import { type ReadBody, Room, readBody } from './read-body.js'
import type { ServeStatus } from './serve-options.js'
import type { Request } from './segment.js'
import type { Stored } from './spool.js'

/** A request has so long to come in whole; then its connection is closed. */
const REQUEST_MS = 120_000
const HEADERS_MS = 20_000
/** Longer than the minute for which many load balancers keep a connection, so that none of them uses one that is being closed. */
const IDLE_MS = 75_000
/** Bodies of all requests under way, at least. */
const ROOM_BYTES = 64_000_000
const LONGEST_KEY = 255

export interface Receiving {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** Undefined: nobody is asked for one. */
  readonly token: string | undefined
  readonly maxBody: number
  readonly spoolLimit: number
  /** Bytes that wait on the disk. */
  waiting(): number
  /** Resolves when it is on the disk. */
  store(request: Request): Promise<Stored>
  /** How things are; asked for by GET /health. */
  status(): ServeStatus
  /** Seconds after which it is worth another try, where the spool is full. */
  retryAfter(): number
  /** What nobody foresaw went wrong. */
  onBug(error: unknown): void
}

export interface Receiver {
  readonly port: number
  /** Answers to those that posted, by their status. */
  readonly answers: Readonly<Record<string, number>>
  /** Documents that were acknowledged. */
  readonly accepted: number
  /**
   * Accepts nothing more. Resolves when what is under way is answered, or `givenUp` aborts: then connections are closed under it.
   */
  close(givenUp: AbortSignal): Promise<void>
}

/** An answer in JSON. */
interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** Rejects with the error of the system where the address cannot be had. */
export async function startReceiver(receiving: Receiving): Promise<Receiver> {
  const answers: Record<string, number> = {}
  const underway = new Set<Promise<void>>()
  const room = new Room(Math.max(ROOM_BYTES, 4 * receiving.maxBody))
  const guard = bearerGuard(receiving.token)
  let accepted = 0
  let isClosing = false

  const times = { requestTimeout: REQUEST_MS, headersTimeout: HEADERS_MS, keepAliveTimeout: IDLE_MS }
  const { tls } = receiving
  const server = tls === undefined ? createServer(times) : createTlsServer({ ...times, ...tls })
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // Who goes away is noticed where the body is read.
    for (const stream of [request, response]) stream.on('error', () => undefined)
    const answered = respond(request, response).finally(() => underway.delete(answered))
    underway.add(answered)
  }
  server.on('request', listener)
  // Whoever asks first whether to send the body is told by what it is told of the request.
  server.on('checkContinue', listener)
  await listen(server, receiving)
  server.on('error', receiving.onBug)

  return {
    port: (server.address() as AddressInfo).port,
    answers,
    get accepted() {
      return accepted
    },
    async close(givenUp) {
      isClosing = true
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      const giveUp = () => server.closeAllConnections()
      if (givenUp.aborted) giveUp()
      givenUp.addEventListener('abort', giveUp)
      while (underway.size > 0) await Promise.all(underway)
      // Those that were kept open have been told to close.
      server.closeAllConnections()
      await closed
      givenUp.removeEventListener('abort', giveUp)
    },
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await answerTo(request, response).catch((error: unknown): Answer => {
      receiving.onBug(error)
      return refusal(500, 'it failed: nothing is known to be stored')
    })
    if (answer === undefined || response.destroyed) return
    const { status, body, headers } = answer
    const text = `${JSON.stringify(body)}\n`
    const closing = isClosing ? { connection: 'close' } : {}
    response.writeHead(status, { 'content-type': 'application/json', ...headers, ...closing })
    await new Promise<void>(resolve => {
      response.once('close', resolve)
      response.end(request.method === 'HEAD' ? '' : text, resolve)
    })
  }

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<Answer | undefined> {
    const [path] = (request.url ?? '/').split('?')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path === '/health' && isRead) return health(receiving.status(), guard.allows(request))
    if (path !== receiving.path) return refusal(404, `there is nothing at this path: post to ${receiving.path}`)
    if (request.method !== 'POST') return refusal(405, 'documents are posted (POST)', { allow: 'POST' })
    const answer = await post(request, response, guard)
    if (answer !== undefined) answers[answer.status] = (answers[answer.status] ?? 0) + 1
    return answer
  }

  async function post(
    request: IncomingMessage,
    response: ServerResponse,
    { allows }: Guard,
  ): Promise<Answer | undefined> {
    if (!allows(request)) {
      return refusal(401, 'a bearer token is needed: Authorization: Bearer TOKEN', { 'www-authenticate': 'Bearer' })
    }
    const { headers } = request
    if (isClosing) return refusal(503, 'it is being stopped: try again later', { 'retry-after': '5' })
    const type = mediaTypeOf(headers['content-type'])
    if (type === undefined) return refusal(415, `Content-Type has to be one of ${TYPES}`, { 'accept-post': TYPES })
    const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
    if (encoding !== 'identity' && encoding !== 'gzip')
      return refusal(415, 'Content-Encoding has to be gzip, or none', { 'accept-encoding': 'gzip' })
    const key = keyOf(headers['idempotency-key'])
    if (key === false) return refusal(400, `Idempotency-Key has to be one of 1 to ${LONGEST_KEY} characters`)
    if (Number(headers['content-length'] ?? 0) > receiving.maxBody) return tooLarge()
    if (receiving.waiting() >= receiving.spoolLimit) return behind()
    if (headers.expect !== undefined) response.writeContinue()
    return await readBody(
      request,
      { maxBody: receiving.maxBody, room },
      encoding === 'gzip',
      async read => await take(read, type, key),
    )
  }

  async function take(read: ReadBody, type: MediaType, key: string | undefined): Promise<Answer | undefined> {
    if ('refused' in read) return refusedBody(read.refused)
    const found = documentsIn(read.body, type)
    if ('problem' in found) return { status: found.status, body: { error: found.problem, line: found.line } }
    if (found.documents === 0) return { status: 200, body: { accepted: 0 } }
    if (receiving.waiting() + found.bytes.length > receiving.spoolLimit) return behind()
    return await store(found, key)
  }

  async function store({ bytes, documents }: Documents, key: string | undefined): Promise<Answer> {
    const keyed = key === undefined ? {} : { key: hashOf(key) }
    try {
      const stored = await receiving.store({ bytes, documents, sha256: hashOf(bytes), ...keyed })
      if (stored === 'other') return refusal(422, 'this Idempotency-Key was used with other documents')
      if (stored === 'known') return { status: 200, body: { accepted: documents, repeated: true } }
      accepted += documents
      return { status: 202, body: { accepted: documents } }
    } catch (error) {
      if (!isSluiceError(error)) throw error
      const { code } = (error.cause ?? {}) as NodeJS.ErrnoException
      const isFull = code === 'ENOSPC' || code === 'EDQUOT'
      const problem = isFull
        ? 'the disk is full: nothing was stored'
        : 'it cannot be written to the disk: nothing was stored'
      return refusal(isFull ? 507 : 503, problem, { 'retry-after': '30' })
    }
  }

  function refusedBody(why: Extract<ReadBody, { readonly refused: string }>['refused']): Answer | undefined {
    switch (why) {
      case 'gone':
        return undefined
      case 'busy':
        return refusal(429, 'too many requests are under way', { 'retry-after': '1' })
      case 'not gzip':
        return refusal(400, 'the body is not whole gzip data, as Content-Encoding says')
      case 'too large':
        return tooLarge()
    }
  }

  function tooLarge(): Answer {
    return refusal(413, `a request may have ${receiving.maxBody} bytes, also once it is decompressed`)
  }

  function behind(): Answer {
    const after = String(receiving.retryAfter())
    return refusal(429, 'too much is waiting to be loaded: try again later', { 'retry-after': after })
  }
}

const TYPES = 'application/x-ndjson, application/ndjson, application/json'

function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: { error }, headers }
}

/** Where a token is needed, only who has it is told more than whether documents are accepted. */
function health(status: ServeStatus, isTold: boolean): Answer {
  const isOpen = status.state === 'ok' || status.state === 'blocked'
  return { status: isOpen ? 200 : 503, body: isTold ? { ...status } : { state: status.state } }
}

/** Undefined: there is none. False: it is none that can be used. */
function keyOf(header: string | readonly string[] | undefined): string | undefined | false {
  if (header === undefined) return undefined
  return typeof header === 'string' && header !== '' && header.length <= LONGEST_KEY ? header : false
}

async function listen(server: Server, { host, port }: Pick<Receiving, 'host' | 'port'>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
