/** Stands in front of a proxy, and counts the bytes of all connections through it in both directions. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CountingRelay extends AsyncDisposable {
  /** The URL of the proxy, by way of this relay. */
  readonly url: string
  bytes: number
}

export async function countingRelay(proxy: string): Promise<CountingRelay> {
  const target = new URL(proxy)
  const open = new Set<Socket>()
  const server = createServer(near => {
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('data', (chunk: Buffer) => (relay.bytes += chunk.length))
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(proxy)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const relay: CountingRelay = {
    url: url.href,
    bytes: 0,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return relay
}
