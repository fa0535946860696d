/** Counts the bytes of connections: of a route, and of everything that this process sends through one account of a proxy. */
import type { Socket } from 'node:net'
import type { ProxyUrl } from './proxy-url.js'

/** Bytes on the wire of all connections to the first hop (the proxy, if there is one), TLS and handshakes included. */
export interface Traffic {
  /** TCP connections that were established. */
  readonly connections: number
  readonly bytesSent: number
  readonly bytesReceived: number
}

/** Counts what sockets carry, so that a metered proxy can be accounted for. */
export class TrafficMeter implements Traffic {
  connections = 0
  #sentByClosed = 0
  #receivedByClosed = 0
  readonly #open = new Set<Socket>()

  /** Takes a raw TCP socket that has just connected. */
  watch(socket: Socket): void {
    this.connections += 1
    this.#open.add(socket)
    socket.once('close', () => {
      this.#open.delete(socket)
      this.#sentByClosed += socket.bytesWritten
      this.#receivedByClosed += socket.bytesRead
    })
  }

  get bytesSent(): number {
    let sum = this.#sentByClosed
    for (const socket of this.#open) sum += socket.bytesWritten
    return sum
  }

  get bytesReceived(): number {
    let sum = this.#receivedByClosed
    for (const socket of this.#open) sum += socket.bytesRead
    return sum
  }
}

const accounts = new Map<string, TrafficMeter>()

/** Returns the traffic of this process through an account of a proxy. */
export function trafficThrough(account: string): TrafficMeter {
  const meter = accounts.get(account) ?? new TrafficMeter()
  accounts.set(account, meter)
  return meter
}

/** Returns who pays for the traffic of a proxy: its user, whatever the port, the scheme and the password. */
export function accountOf({ username, host, port }: ProxyUrl): string {
  return username === undefined ? `${host}:${port}` : `user ${username}`
}
