/** Runs the HTTP server: it listens, routes and answers requests, and closes without cutting off an answer. */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { isLoopback } from '../../base/addresses.js'
import { limitConnections, type OpenExchange } from './connections.js'
import { Room } from './room.js'
import type { ServeMetrics, ServeStatus } from './serve-options.js'
import {
  bearerGuard,
  type Intake,
  type OpenIntake,
  type PostAnswer,
  refusal,
  takePost,
  Turns,
  unauthorized,
} from './take-post.js'
import { systemClock } from '../../base/time/clock.js'

/** How long a request may take to arrive. Then the connection is closed. */
const REQUEST_MS = 120_000
const HEADERS_MS = 20_000
/** Longer than the minute that many load balancers keep a connection, so that none of them uses a closing one. */
const IDLE_MS = 75_000
/** Connections that wait to be accepted. If there are more, the system makes callers wait for a second. */
const BACKLOG = 4096

interface Receiving extends Intake {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly tls: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** Undefined if callers need no token. */
  readonly token: string | undefined
  status(): ServeStatus
  /** Absent: there are none to see. `isOpen`: also without the token. */
  readonly metrics?: (Pick<ServeMetrics, 'type' | 'text'> & { readonly isOpen: boolean }) | undefined
  onBug(error: unknown): void
}

export interface Receiver {
  readonly port: number
  readonly answers: Readonly<Record<string, number>>
  readonly accepted: number
  /** Accepts no more requests. Resolves when the current ones are answered. When `givenUp` aborts, closes their connections. */
  close(givenUp: AbortSignal): Promise<void>
}

/** Starts to listen. Rejects with the error of the system if the address cannot be used. */
export async function startReceiver(receiving: Receiving): Promise<Receiver> {
  const answers: Record<string, number> = {}
  const underway = new Set<Promise<void>>()
  let accepted = 0
  let isClosing = false
  const intake: OpenIntake = {
    ...receiving,
    isAllowed: bearerGuard(receiving.token),
    room: new Room(receiving.maxBody + 1, systemClock),
    turns: new Turns(),
    isClosing: () => isClosing,
    async store(request) {
      const stored = await receiving.store(request)
      if (stored === 'stored') accepted += request.documents
      return stored
    },
  }

  const times = { requestTimeout: REQUEST_MS, headersTimeout: HEADERS_MS, keepAliveTimeout: IDLE_MS }
  const { tls } = receiving
  const server =
    tls === undefined ? createServer(times) : createTlsServer({ ...times, handshakeTimeout: HEADERS_MS, ...tls })
  const connections = limitConnections(server)
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // `readBody` notices a caller that closes the connection.
    for (const stream of [request, response]) stream.on('error', () => undefined)
    const exchange = connections.begin(request.socket, intake.isAllowed(request))
    if (exchange === undefined) return
    const answered = respond(request, response, exchange).finally(() => {
      connections.end(request.socket, exchange)
      underway.delete(answered)
    })
    underway.add(answered)
  }
  server.on('request', listener)
  // A caller that asks whether to send the body gets the answer to the request instead of 100.
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
      // Idle connections are closed already.
      server.closeAllConnections()
      await closed
      givenUp.removeEventListener('abort', giveUp)
    },
  }

  async function respond(request: IncomingMessage, response: ServerResponse, exchange: OpenExchange): Promise<void> {
    const answer = await answerTo(request, response).catch((error: unknown): PostAnswer => {
      receiving.onBug(error)
      return refusal(500, 'the request failed, and its documents might not be stored')
    })
    if (answer === undefined || request.socket.destroyed) return
    const { status, body, headers } = answer
    const text = typeof body === 'string' ? body : `${JSON.stringify(body)}\n`
    const closing = isClosing ? { connection: 'close' } : {}
    response.writeHead(status, { 'content-type': 'application/json', ...headers, ...closing })
    await new Promise<void>(resolve => {
      exchange.closed = resolve
      response.end(request.method === 'HEAD' ? '' : text, resolve)
    })
  }

  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<PostAnswer | undefined> {
    if (receiving.token === undefined && !isFromHere(request.headers))
      return refusal(403, 'without a token, Sluice accepts requests to localhost only, and none from web pages')
    const [path] = (request.url ?? '/').split('?')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path === '/health' && isRead) return health(receiving.status(), intake.isAllowed(request))
    if (path === '/metrics' && isRead && receiving.metrics !== undefined)
      return await shownMetrics(receiving.metrics, intake.isAllowed(request))
    if (path !== receiving.path) return refusal(404, `there is nothing at this path. Post to ${receiving.path}`)
    if (request.method !== 'POST') return refusal(405, 'send documents with POST', { allow: 'POST' })
    const answer = await takePost(request, response, intake)
    if (answer !== undefined) answers[answer.status] = (answers[answer.status] ?? 0) + 1
    return answer
  }
}

/**
 * Returns whether a program of this machine sent the request to a name of this machine. A web page can post to any address of the machine
 * that shows it. The browser then sends the page's origin, or the page's own name as host.
 */
function isFromHere({ host = '', origin }: IncomingHttpHeaders): boolean {
  return origin === undefined && isLoopback(host.toLowerCase().replace(/:\d*$/, ''))
}

async function listen(server: Server, { host, port }: Pick<Receiving, 'host' | 'port'>): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, BACKLOG, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function shownMetrics(
  { type, text, isOpen }: NonNullable<Receiving['metrics']>,
  isAllowed: boolean,
): Promise<PostAnswer> {
  if (!isOpen && !isAllowed) return unauthorized
  return { status: 200, body: await text(), headers: { 'content-type': type } }
}

/** Shows the whole status only to callers with the token, if there is one. Others see only whether documents are accepted. */
function health(status: ServeStatus, isTold: boolean): PostAnswer {
  const isOpen = status.state === 'ok' || status.state === 'blocked'
  return { status: isOpen ? 200 : 503, body: isTold ? { ...status } : { state: status.state } }
}
