/** Answers callers whose request could not be passed on, in the form in which Elasticsearch answers errors. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Failure, fixesFor } from '../../base/failure/failure.js'

export interface CallerRefusal {
  readonly status: number
  /** A stable name. */
  readonly type: string
  readonly reason: string
  readonly fixes?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** The route to the destination failed. The status is that of a gateway, because a 407 or 403 would be taken for the caller's own fault. */
export function gatewayRefusal({ code, message }: Failure): CallerRefusal {
  const isLate = code === 'CLUSTER_TIMEOUT' || code === 'PROXY_TIMEOUT'
  return { status: isLate ? 504 : 502, type: code, reason: message, fixes: fixesFor(code, message) }
}

export function refuse(response: ServerResponse, refusal: CallerRefusal): void {
  if (response.headersSent) return void response.destroy()
  const body = bodyOf(refusal)
  const headers = { 'content-type': 'application/json', 'content-length': body.length, connection: 'close' }
  response.writeHead(refusal.status, { ...headers, ...refusal.headers }).write(body)
}

/** How long a caller may take to close a connection after its answer. */
const LINGER_MS = 2_000

/** Answers CONNECT. */
export function refuseTunnel(socket: Socket, refusal: CallerRefusal): void {
  const { status, headers = {} } = refusal
  const body = bodyOf(refusal)
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.end(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
  // A caller that never closes would keep one of the few connections.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

function bodyOf({ status, type, reason, fixes = [] }: CallerRefusal): Buffer {
  const error = { type, reason, ...(fixes.length === 0 ? {} : { fixes }) }
  return Buffer.from(`${JSON.stringify({ error: { root_cause: [error], ...error }, status })}\n`)
}
