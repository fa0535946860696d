import type { Socket } from 'node:net'

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
