import { type IncomingMessage, createServer } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Arrival, arrivalOf, reset } from '../listener.js'
import { forward } from './forward.js'
import type { Route } from './proxy.js'
import { resolveTarget, splitAuthority } from './target.js'
import { joinTunnel } from './tunnel.js'

/** An answer of the proxy's own. */
export interface Refusal {
  readonly status: 400 | 403 | 407 | 502 | 504
  /** For Proxy-Status (RFC 9209), which tells the proxy's answers from the target's. */
  readonly error: string
}

const reasons = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  502: 'Bad Gateway',
  504: 'Gateway Timeout',
} as const

/** Serves HTTP proxy clients: CONNECT tunnels and absolute-form requests. */
export function createHttpProxy(route: Route): (socket: Socket, arrival: Arrival) => void {
  // The lab's connections live as long as its clients want: only silence planted as a fault may look like a hang.
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 75_000 })
  server.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => void tunnel(request, client, head))
  server.on('request', (request, response) => void forward(route, request, response))
  return socket => void server.emit('connection', socket)

  async function tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    const arrival = arrivalOf(request.socket)
    arrival.requests++
    client.on('error', () => client.destroy())
    if (!(await passHandshake(route, arrival, client))) return
    const refuse = (refusal: Refusal): void => void client.end(refusalText(refusal))
    if (!route.credentials.acceptHeader(request.headers['proxy-authorization'])) {
      return refuse({ status: 407, error: 'http_request_denied' })
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

/** Waits the planted latency, and plays the planted handshake fault: false when the connection is lost to it. */
export async function passHandshake({ faults }: Route, arrival: Arrival, client: Socket): Promise<boolean> {
  const fault = faults.strike('handshake')
  if (fault?.kind === 'fin') client.end()
  if (fault?.kind === 'rst') reset(arrival)
  if (fault?.kind === 'silence') client.resume()
  if (fault) return false
  const latency = faults.current.latencyMs ?? 0
  if (latency > 0) await wait(latency)
  return !client.destroyed
}

/** Calls one of the two, once: when a connection stands, or cannot. */
export function connected(socket: Socket, limitMs: number, refuse: (refusal: Refusal) => void, go: () => void): void {
  const timer = setTimeout(() => fail({ status: 504, error: 'connection_timeout' }), limitMs)
  const onError = (error: NodeJS.ErrnoException): void => {
    const timedOut = error.code === 'ETIMEDOUT'
    fail(timedOut ? { status: 504, error: 'connection_timeout' } : { status: 502, error: 'connection_refused' })
  }
  const onClose = (): void => clearTimeout(timer)
  socket.once('error', onError)
  socket.once('close', onClose)
  socket.once('connect', () => {
    clearTimeout(timer)
    socket.off('error', onError)
    socket.off('close', onClose)
    go()
  })

  function fail(refusal: Refusal): void {
    clearTimeout(timer)
    socket.off('error', onError)
    socket.on('error', () => {})
    socket.destroy()
    refuse(refusal)
  }
}

export function refusalFor(refused: 'forbidden' | 'unknown' | 'unreachable'): Refusal {
  if (refused === 'forbidden') return { status: 403, error: 'destination_ip_prohibited' }
  return { status: 502, error: refused === 'unknown' ? 'dns_error' : 'destination_ip_unroutable' }
}

/** Header lines of a refusal, and its short body. */
export function refusalParts({ status, error }: Refusal): {
  headers: Record<string, string>
  body: string
  reason: string
} {
  const reason = reasons[status]
  const body = `${reason}: ${error}\n`
  return {
    reason,
    body,
    headers: {
      'content-type': 'text/plain',
      'content-length': String(body.length),
      'proxy-status': `sluice-lab; error=${error}`,
      ...(status === 407 && { 'proxy-authenticate': 'Basic realm="static-proxy"' }),
    },
  }
}

function refusalText(refusal: Refusal): string {
  const { headers, body, reason } = refusalParts(refusal)
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${refusal.status} ${reason}\r\n${lines.join('')}\r\n${body}`
}
