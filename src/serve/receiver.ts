/** The HTTP server: it listens, finds who answers a request, writes the answer, and is closed without cutting one off. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Answer, bearerGuard, refusal } from './request-head.js'
import { Room } from './read-body.js'
import type { ServeStatus } from './serve-options.js'
import { type Intake, type OpenIntake, takePost } from './take-post.js'

/** A request has so long to come in whole; then its connection is closed. */
const REQUEST_MS = 120_000
const HEADERS_MS = 20_000
/** Longer than the minute for which many load balancers keep a connection, so that none of them uses one that is being closed. */
const IDLE_MS = 75_000
/** Bodies of all requests under way, at least. */
const ROOM_BYTES = 64_000_000

export interface Receiving extends Intake {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** Undefined: nobody is asked for one. */
  readonly token: string | undefined
  /** How things are; asked for by GET /health. */
  status(): ServeStatus
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

/** Rejects with the error of the system where the address cannot be had. */
export async function startReceiver(receiving: Receiving): Promise<Receiver> {
  const answers: Record<string, number> = {}
  const underway = new Set<Promise<void>>()
  let accepted = 0
  let isClosing = false
  const intake: OpenIntake = {
    ...receiving,
    guard: bearerGuard(receiving.token),
    room: new Room(Math.max(ROOM_BYTES, 4 * receiving.maxBody)),
    isClosing: () => isClosing,
    async store(request) {
      const stored = await receiving.store(request)
      if (stored === 'stored') accepted += request.documents
      return stored
    },
  }

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
      return refusal(500, 'the request failed, and its documents may not be stored')
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
    if (path === '/health' && isRead) return health(receiving.status(), intake.guard.allows(request))
    if (path !== receiving.path) return refusal(404, `there is nothing at this path. Post to ${receiving.path}`)
    if (request.method !== 'POST') return refusal(405, 'send documents with POST', { allow: 'POST' })
    const answer = await takePost(request, response, intake)
    if (answer !== undefined) answers[answer.status] = (answers[answer.status] ?? 0) + 1
    return answer
  }
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

/** Where a token is needed, only who has it is told more than whether documents are accepted. */
function health(status: ServeStatus, isTold: boolean): Answer {
  const isOpen = status.state === 'ok' || status.state === 'blocked'
  return { status: isOpen ? 200 : 503, body: isTold ? { ...status } : { state: status.state } }
}
