/** Stands between a process and a server, and can stop passing bytes without closing a connection, as a broken network does. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface TcpRelay extends AsyncDisposable {
  readonly port: number
  /** How many connections came in so far. */
  readonly connections: number
  /** Passes no more bytes, in either direction. New connections stay open and silent. */
  part(): void
  /** Passes what it holds, and all that follows. */
  join(): void
}

export async function relayTcp(port: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>()
  let isParted = false
  let connections = 0
  const server = createServer(near => {
    connections += 1
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', chunk => to.write(chunk))
      from.on('error', () => undefined)
      from.once('end', () => to.end())
      from.once('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isParted) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    part: () => {
      isParted = true
      for (const socket of sockets) socket.pause()
    },
    join: () => {
      isParted = false
      for (const socket of sockets) socket.resume()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
