import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { type SecureContextOptions, createServer as createTlsServer } from 'node:tls'
import { readAnnouncement } from './egress.js'

/** A TCP connection that came in at a port of the lab. */
export interface Arrival {
  readonly at: 'proxy' | 'cluster' | 'ip-check' | 'ingest' | 'servicenow' | 'admin' | 'inbound'
  /**
   * Name of the port: for the proxy `http`, `https`, `socks5`, `socks5s`, `node-1`, `node-2`. For the inbound entry
   * `tcp`. Otherwise `http` or `https`.
   */
  readonly port: string
  /** The source address. */
  readonly from: string
  /** Requests over this connection. A tunnel counts as one. */
  requests: number
  open: boolean
  /** The proxy's source address for this connection. The last one if the proxy chooses again for each request. */
  egress?: string
  /** The host and port that the proxy was asked for last. */
  target?: string
}

export interface Listening {
  readonly port: number
  /** Ends the port and every connection on it. */
  close(): Promise<void>
}

export interface ListenOptions {
  readonly at: Arrival['at']
  readonly name: string
  /** 0 for any free port. */
  readonly port: number
  /** Set: the port speaks TLS. */
  readonly tls?: SecureContextOptions
  /** Set if egress is virtual: whether the lab's proxy announced a connection from this local port. */
  readonly isAnnounced?: (localPort: number) => boolean
  /** Called for each connection before anything is read. False drops the connection. */
  readonly admit?: (arrival: Arrival, raw: Socket) => boolean
  /** Owns the socket from now on: plain, or decrypted. */
  readonly serve: (socket: Socket, arrival: Arrival) => void
}

const arrivals = new WeakMap<Socket, Arrival>()
const raws = new WeakMap<Arrival, Socket>()

/** The connection that a socket of a listener belongs to. */
export function arrivalOf(socket: Socket): Arrival {
  const arrival = arrivals.get(socket)
  if (!arrival) throw new Error('not a socket of the lab')
  return arrival
}

/** Closes a connection with a TCP reset, below TLS too. */
export function reset(arrival: Arrival): void {
  raws.get(arrival)?.resetAndDestroy()
}

/** Opens a port on 127.0.0.1. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { at, name, tls, isAnnounced, admit, serve } = options
  const sockets = new Set<Socket>()
  /**
   * Connections in their TLS handshake, by the client's address and port. tls.Server does not reveal the raw socket of a
   * secure one.
   */
  const handshakes = new Map<string, Arrival>()
  const secure = tls && createTlsServer({ ...tls, ALPNProtocols: ['http/1.1'], allowHalfOpen: true })
  secure?.on('secureConnection', socket => {
    const arrival = handshakes.get(endOf(socket))
    if (arrival) hand(socket, arrival)
    else socket.destroy()
  })
  secure?.on('tlsClientError', (_, socket) => socket.destroy())

  const server = createServer({ allowHalfOpen: true, noDelay: true }, raw => {
    sockets.add(raw)
    raw.once('close', () => sockets.delete(raw))
    raw.on('error', () => raw.destroy())
    if (!isAnnounced) return accept(raw, raw.remoteAddress)
    void readAnnouncement(raw).then(address => {
      const honoured = address !== undefined && raw.remotePort !== undefined && isAnnounced(raw.remotePort)
      if (address !== undefined && !honoured) raw.destroy()
      else accept(raw, address ?? raw.remoteAddress)
    })
  })

  function accept(raw: Socket, from: string | undefined): void {
    if (raw.destroyed || from === undefined) return
    const arrival: Arrival = { at, port: name, from, requests: 0, open: true }
    raws.set(arrival, raw)
    const end = endOf(raw)
    raw.once('close', () => {
      arrival.open = false
      handshakes.delete(end)
    })
    if (admit && !admit(arrival, raw)) return
    if (!secure) return hand(raw, arrival)
    handshakes.set(end, arrival)
    secure.emit('connection', raw)
  }

  function hand(socket: Socket, arrival: Arrival): void {
    arrivals.set(socket, arrival)
    socket.on('error', () => socket.destroy())
    serve(socket, arrival)
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', () => resolve())
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => closeAll(server, sockets),
  }
}

function closeAll(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve())
    for (const socket of sockets) socket.destroy()
  })
}

function endOf(socket: Socket): string {
  return `${socket.remoteAddress}:${socket.remotePort}`
}
