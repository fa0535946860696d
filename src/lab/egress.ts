import { type Socket, connect, createServer } from 'node:net'

/** The static pair. RFC 1122 loopback addresses: Linux binds them without set-up. */
export const staticPair = ['127.0.0.2', '127.0.0.3'] as const

/** `random`: either address with equal chance. `round-robin`: in turn, for tests that count. */
export type Pick = 'random' | 'round-robin'

/**
 * Chooses the source address of the proxy's connections. `loopback`: binds the static addresses. `virtual`: this machine
 * cannot bind them. Then each connection to a port of the lab begins with a PROXY line that names the address.
 */
export interface Egress {
  readonly mode: 'loopback' | 'virtual'
  /** Returns one of the addresses that are up, or undefined if none is. */
  choose(): string | undefined
  /** A connection that leaves from `address`. `host` is an IPv4 address. */
  connect(host: string, port: number, address: string): Socket
  /** Marks a port of the lab, so that connections to it begin with the PROXY line of virtual egress. */
  own(port: number): void
  /** Returns whether a connection with this local port was announced with a PROXY line. Only for virtual egress. */
  isAnnounced(localPort: number): boolean
}

export interface EgressOptions {
  readonly mode: 'loopback' | 'virtual'
  readonly pick: Pick
  /** Between 0 and 1, as Math.random. */
  readonly random: () => number
  /** Whether the node of an address is up. */
  readonly isUp: (address: string) => boolean
}

export function createEgress({ mode, pick, random, isUp }: EgressOptions): Egress {
  const ownPorts = new Set<number>()
  const announced = new Set<number>()
  let turn = 0
  return {
    mode,
    choose() {
      const up = staticPair.filter(isUp)
      return pick === 'random' ? up[Math.floor(random() * up.length)] : up[turn++ % up.length]
    },
    connect(host, port, address) {
      if (mode === 'loopback') return connect({ host, port, localAddress: address, allowHalfOpen: true, noDelay: true })
      const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
      if (ownPorts.has(port)) announce(socket, port, address)
      return socket
    },
    own: port => void ownPorts.add(port),
    isAnnounced: localPort => announced.has(localPort),
  }

  /** Writes the line before any other writer can. The source port is not known yet, and no reader needs it. */
  function announce(socket: Socket, port: number, address: string): void {
    let localPort: number | undefined
    socket.once('connect', () => {
      localPort = socket.localPort
      if (localPort !== undefined) announced.add(localPort)
    })
    socket.once('close', () => {
      if (localPort !== undefined) announced.delete(localPort)
    })
    socket.write(`PROXY TCP4 ${address} 127.0.0.1 0 ${port}\r\n`)
  }
}

/** Whether every address of the static pair can be bound on this machine. */
export async function canBindStaticPair(): Promise<boolean> {
  const bound = await Promise.all(staticPair.map(canBind))
  return bound.every(Boolean)
}

function canBind(address: string): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(0, address, () => server.close(() => resolve(true)))
  })
}

/** Reads the PROXY line at the start of a connection. Resolves to its address, or undefined if there is no such line. */
export function readAnnouncement(socket: Socket): Promise<string | undefined> {
  return new Promise(resolve => {
    socket.once('close', () => resolve(undefined))
    socket.once('readable', () => {
      const head = socket.read() as Buffer | null
      if (head === null) return resolve(undefined)
      // The line is shorter than 64 bytes and travels over loopback: it arrives whole.
      const end = head.indexOf('\r\n')
      const found = /^PROXY TCP4 (\S+) /.exec(head.toString('latin1', 0, Math.max(end, 0)))
      const rest = found ? head.subarray(end + 2) : head
      if (rest.length > 0) socket.unshift(rest)
      resolve(found?.[1])
    })
  })
}
