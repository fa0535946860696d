import { type IncomingMessage, createServer } from 'node:http'
import type { Socket } from 'node:net'
import { type Arrival, arrivalOf, reset } from '../listener.js'
import { forward } from './forward.js'
import { connected, passHandshake } from './handshake.js'
import { type Refusal, refusalFor, refusalText } from './refusal.js'
import type { Route } from './route.js'
import { resolveTarget, splitAuthority } from './target.js'
import { joinTunnel } from './tunnel.js'

/** Serves HTTP proxy clients: CONNECT tunnels and absolute-form requests. */
export function createHttpProxy(route: Route): (socket: Socket, arrival: Arrival) => void {
  // The clients decide how long connections live. Only a planted fault may look like a hang.
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 75_000 })
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => void tunnel(request, client, head))
  server.on('request', (request, response) => void forward(route, request, response))
  return socket => void server.emit('connection', socket)

  async function tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const arrival = arrivalOf(request.socket)
    arrival.requests++
    client.on('error', () => client.destroy())
    if (!(await passHandshake(route, arrival, client))) return
    const refuse = (refusal: Refusal): void => {
      route.refused(arrival, `CONNECT ${request.url}`, refusal)
      client.end(refusalText(refusal))
    }
    const isKnown = route.credentials.acceptHeader(request.headers['proxy-authorization'])
    if (!isKnown || route.faults.strike('login')) {
      return refuse({ status: 407, error: 'http_request_denied', isPlanted: isKnown })
    }
    const authority = splitAuthority(request.url ?? '')
    if (!authority) return refuse({ status: 400, error: 'http_request_error' })
    arrival.target = request.url ?? ''
    const target = resolveTarget(authority.host, authority.port)
    if ('refused' in target) return refuse(refusalFor(target.refused))

    const upstream = route.connect(target.host, target.port, arrival.egress)
    if (!upstream) return reset(arrival)
    connected(upstream, route.connectTimeoutMs, refuse, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      joinTunnel(client, upstream, arrival, route.faults, head)
    })
    client.once('close', () => upstream.destroy())
  }
}
