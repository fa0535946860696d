/** Limits connections and the requests on each, so that callers can use up neither the files nor the memory of the process. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const MOST_CONNECTIONS = 250
/** Requests that a caller may send on one connection before the first is answered. */
const MOST_PIPELINED = 10

/** One request and its answer. */
export interface OpenExchange {
  /** Called when the connection closes. Node reports this to the current answer, but not to those queued behind it. */
  closed(): void
}

export interface Connections {
  /** Begins an exchange. Returns undefined if too many are open on this connection, and closes it. */
  begin(socket: Socket, isAllowed: boolean): OpenExchange | undefined
  end(socket: Socket, exchange: OpenExchange): void
}

/** Closes the connection that has waited longest for a request with a token, if there are too many. */
export function limitConnections(server: Server): Connections {
  /** Longest first. */
  const waiting = new Map<string, Socket>()
  const working = new Map<string, Socket>()
  const exchanges = new WeakMap<Socket, Set<OpenExchange>>()
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    waiting.set(name, socket)
    socket.once('close', () => void (waiting.delete(name) || working.delete(name)))
    if (waiting.size + working.size <= MOST_CONNECTIONS) return
    const [longest] = (waiting.size > 1 ? waiting : working).values()
    longest?.destroy()
  })
  return { begin, end }

  function begin(socket: Socket, isAllowed: boolean): OpenExchange | undefined {
    const open = exchanges.get(socket) ?? watch(socket)
    if (open.size === MOST_PIPELINED) socket.destroy()
    if (socket.destroyed) return undefined
    const exchange = { closed: () => undefined }
    open.add(exchange)
    if (isAllowed) move(nameOf(socket), waiting, working)
    return exchange
  }

  function end(socket: Socket, exchange: OpenExchange): void {
    const open = exchanges.get(socket)
    open?.delete(exchange)
    if (open?.size === 0) move(nameOf(socket), working, waiting)
  }

  function watch(socket: Socket): Set<OpenExchange> {
    const open = new Set<OpenExchange>()
    exchanges.set(socket, open)
    socket.once('close', () => {
      for (const exchange of open) exchange.closed()
    })
    return open
  }
}

function move(name: string, from: Map<string, Socket>, to: Map<string, Socket>): void {
  const socket = from.get(name)
  if (socket === undefined) return
  from.delete(name)
  to.set(name, socket)
}

/** With TLS, `request.socket` is the TLS socket, not the accepted one. */
function nameOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
