import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { Socket } from 'node:net'
import { type Arrival, arrivalOf, reset } from '../listener.js'
import { passHandshake, refusalOf } from './handshake.js'
import { type Refusal, refusalFor, refusalParts } from './refusal.js'
import type { Route } from './route.js'
import { resolveTarget } from './target.js'

/** Header fields that end at the proxy (RFC 9110, section 7.6.1), beside those that Connection names. */
const hopByHop = ['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer',
  'transfer-encoding', 'upgrade'] // prettier-ignore

/** The upstream connections of each client connection, or of the whole route if egress is chosen per upstream connection. */
const agents = new WeakMap<Arrival | Route, Agent>()

class NodeDown extends Error {}

/** Forwards one absolute-form request to an http target. */
export async function forward(route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrival = arrivalOf(request.socket)
  arrival.requests++
  if (!(await passHandshake(route, arrival, request.socket))) return
  const refuse = (refusal: Refusal): void => {
    if (response.headersSent) return void response.destroy()
    route.refused(arrival, `${request.method} ${request.url?.split('?')[0]}`, refusal)
    const { headers, body } = refusalParts(refusal)
    // The rest of the body is not read, so the connection cannot serve another request.
    response.writeHead(refusal.status, { ...headers, ...(hasBody(request) && { connection: 'close' }) }).end(body)
  }
  const isKnown = route.credentials.acceptHeader(request.headers['proxy-authorization'])
  if (!isKnown || route.faults.strike('login')) {
    return refuse({ status: 407, error: 'http_request_denied', isPlanted: isKnown })
  }
  const url = parseUrl(request.url)
  if (!url) return refuse({ status: 400, error: 'http_request_error' })
  arrival.target = `${url.hostname}:${url.port || 80}`
  const target = resolveTarget(url.hostname.replaceAll(/^\[|\]$/g, ''), Number(url.port || 80))
  if ('refused' in target) return refuse(refusalFor(target.refused))

  const options = {
    host: target.host,
    port: target.port,
    method: request.method,
    path: url.pathname + url.search,
    headers: forwardedHeaders(request, url.host),
    setHost: false,
  }
  const connect = (address: string | undefined): Socket => {
    const socket = route.connect(target.host, target.port, address)
    if (!socket || address === undefined) throw new NodeDown()
    arrival.egress = address
    return socket
  }
  const pass = (): void => {
    try {
      const upstream = send({ ...options, ...agentFor(route, arrival, hasBody(request), connect) })
      relay(route, request, response, upstream, error => {
        // The target closed its idle connection while the request was on its way: proxies ask again on another connection.
        const isStale = upstream.reusedSocket && request.method === 'GET' && !response.headersSent && !response.closed
        if (isStale) pass()
        else refuse(refusalOf(error))
      })
    } catch (error) {
      if (!(error instanceof NodeDown)) throw error
      reset(arrival)
    }
  }
  pass()
}

function relay(
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  upstream: ClientRequest,
  onFailed: (error: Error) => void,
): void {
  upstream.on('socket', (socket: Socket) => {
    if (!socket.connecting) return
    const timedOut = Object.assign(new Error('the target does not answer'), { code: 'ETIMEDOUT' })
    const timer = setTimeout(() => upstream.destroy(timedOut), route.connectTimeoutMs)
    socket.once('connect', () => clearTimeout(timer))
    socket.once('close', () => clearTimeout(timer))
  })
  upstream.on('error', onFailed)
  upstream.on('response', answer => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? '', relayedHeaders(answer))
    answer.on('error', () => response.destroy())
    answer.pipe(response)
  })
  response.once('close', () => upstream.destroy())
  request.on('error', () => upstream.destroy())
  request.pipe(upstream)
}

/**
 * With egress per client connection, a client connection keeps its address and its upstream connection. With egress per
 * upstream connection, a request with a body gets a new connection. Other requests share idle ones, from either address.
 */
function agentFor(
  route: Route,
  arrival: Arrival,
  body: boolean,
  connect: (address: string | undefined) => Socket,
): { agent?: Agent; createConnection?: () => Socket } {
  if (route.egressPer === 'upstream' && body) return { createConnection: () => connect(route.choose()) }
  const owner = route.egressPer === 'upstream' ? route : arrival
  let agent = agents.get(owner)
  if (!agent) {
    agent = new Agent({ keepAlive: true })
    agents.set(owner, agent)
  }
  const address = owner === arrival ? arrival.egress : route.choose()
  agent.createConnection = () => connect(address)
  return { agent }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function parseUrl(text: string | undefined): URL | undefined {
  if (!text || !/^http:\/\//i.test(text)) return undefined
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

function forwardedHeaders(request: IncomingMessage, host: string): string[] {
  const kept = withoutHopByHop(request)
  const chunked = request.headers['transfer-encoding'] === undefined ? [] : ['transfer-encoding', 'chunked']
  return ['host', host, ...kept.filter((_, i) => kept[i - (i % 2)]?.toLowerCase() !== 'host'), ...chunked]
}

function relayedHeaders(answer: IncomingMessage): string[] {
  return withoutHopByHop(answer)
}

/** Names and values in turn, as they came. */
function withoutHopByHop({ rawHeaders, headers }: IncomingMessage): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(/\s*,\s*/)
  const dropped = new Set([...hopByHop, ...named])
  return rawHeaders.filter((_, i) => !dropped.has((rawHeaders[i - (i % 2)] ?? '').toLowerCase()))
}
