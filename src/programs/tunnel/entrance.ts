/** A local port that stands for one destination: tools that know no proxy use it like the destination itself. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createRawServer, type Socket } from 'node:net'
import type { Failure } from '../../base/failure/failure.js'
import { isOfThisMachine } from './callers.js'
import { joinSockets } from './join-sockets.js'
import { listenOnLoopback, type LoopbackPort } from './loopback-port.js'
import { failureOf, type OpenDestination } from '../../route/destination/destination.js'
import { passRequest, type Requests } from './pass-request.js'
import { type CallerRefusal, refuse, refuseTunnel } from './refusals.js'

/** The parts that all entrances of a tunnel share. */
export interface Passage {
  /** Closes a connection on which nothing moves for that time. */
  readonly idleMs: number
  /** Whether requests get the configured credentials. Then callers need the token. */
  readonly hasLogin: boolean
  isKnown(header: string | undefined): boolean
  isClosing(): boolean
  /** Reports a refusal. Returns it as it may be shown. */
  onRefusal(destination: OpenDestination, known: Failure): Failure
}

const HEADERS_MS = 20_000
/** Longer than most tools keep a connection, so that none uses a closing one. */
const KEEP_ALIVE_MS = 75_000

/** A segment `.` or `..` in the path, encoded or not. */
const DOTS = /^[^?#]*[/\\](?:\.|%2e){1,2}(?:[/\\?#]|%2f|%5c|$)/i

export const httpTimes = { requestTimeout: 0, headersTimeout: HEADERS_MS, keepAliveTimeout: KEEP_ALIVE_MS }

export async function openEntrance(to: OpenDestination, port: number, passage: Passage): Promise<LoopbackPort> {
  const { requests } = to
  const server = requests === undefined ? rawServer(to, passage) : httpServer(to, requests, passage)
  return await listenOnLoopback(server, port, '--to')
}

function httpServer(to: OpenDestination, requests: Requests, passage: Passage) {
  const onRefusal = (known: Failure) => passage.onRefusal(to, known)
  const server = createServer(httpTimes, (request: IncomingMessage, response: ServerResponse) => {
    for (const stream of [request, response]) stream.on('error', () => undefined)
    const refused = refusalFor(request, passage, requests.prefix)
    if (refused !== undefined) {
      refuse(response, refused)
      return void response.end()
    }
    void passRequest(request, response, requests, { ...passage, path: request.url ?? '/', onRefusal })
  })
  server.on('connect', (_, socket: Socket) => {
    socket.on('error', () => socket.destroy())
    const reason = `this port is ${to.name} itself, not a proxy. Use it as the URL of the server`
    refuseTunnel(socket, { status: 405, type: 'not_a_proxy', reason })
  })
  return server.setTimeout(passage.idleMs)
}

/** `prefix`: the path of the cluster's URL, which no request may leave. */
function refusalFor(
  { headers, url = '' }: IncomingMessage,
  { hasLogin, isKnown }: Passage,
  prefix: string,
): CallerRefusal | undefined {
  if (!isOfThisMachine(headers)) {
    const reason = 'Sluice accepts only requests to localhost and 127.0.0.1, and none from web pages of other hosts'
    return { status: 403, type: 'foreign_caller', reason }
  }
  if (!/^\/[\x21-\x7e]*$/.test(url)) {
    const reason = `the path of the request does not begin with a slash, or has a character that must be encoded. This port is not a proxy`
    return { status: 400, type: 'invalid_path', reason }
  }
  if (prefix !== '' && DOTS.test(url)) {
    const reason = 'the path of the request contains a segment . or .., which would lead out of the path of the cluster'
    return { status: 400, type: 'invalid_path', reason }
  }
  if (!hasLogin || isKnown(headers.authorization)) return undefined
  const reason = 'send the token of this tunnel: as a bearer token, or as the password of any user'
  return { status: 401, type: 'token_needed', reason, headers: { 'www-authenticate': 'Basic realm="sluice"' } }
}

/** Bytes pass unchanged: the tunnel does not know what they mean. */
function rawServer(to: OpenDestination, { idleMs, onRefusal }: Passage) {
  return createRawServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, caller => {
    const gone = new AbortController()
    caller.on('error', () => caller.destroy())
    caller.once('close', () => gone.abort())
    to.tunnels.open(gone.signal).then(
      upstream => joinSockets(caller, upstream, idleMs),
      (error: unknown) => {
        if (!gone.signal.aborted) onRefusal(to, failureOf(error))
        if (!caller.destroyed) caller.resetAndDestroy()
      },
    )
  })
}
