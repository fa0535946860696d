/** A port in front of the proxy's that closes, refuses or cuts connections, as a program says. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import type { Program, WayFault } from './chaos-program.js'

export interface Front extends AsyncDisposable {
  /** The proxy's URL with this port instead of its own. */
  readonly url: string
}

/** `proxy` speaks HTTP or SOCKS5, without TLS. */
export async function startFront(proxy: string, program: Program): Promise<Front> {
  const behind = new URL(proxy)
  const open = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    open.add(socket)
    return socket.on('error', () => undefined).once('close', () => open.delete(socket))
  }
  const server = createServer({ noDelay: true }, client => {
    keep(client)
    const fault = program.atConnection()
    if (fault?.kind === 'proxy closes') {
      client.once('data', () => (fault.end === 'rst' ? client.resetAndDestroy() : client.end()))
    } else if (fault?.kind === 'login refused') refuseLogin(client)
    else join(client, keep(connect({ host: behind.hostname, port: Number(behind.port), noDelay: true })), fault)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(proxy)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

const refusal =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="static"\r\n' +
  'Content-Length: 0\r\nConnection: close\r\n\r\n'

function refuseLogin(client: Socket): void {
  client.once('data', (first: Buffer) => {
    if (first[0] !== 5) return void client.end(refusal)
    client.once('data', () => client.end(Buffer.from([1, 1])))
    client.write(Buffer.from([5, 2]))
  })
}

function join(client: Socket, proxy: Socket, cut: Extract<WayFault, { kind: 'way cut' }> | undefined): void {
  client.once('close', () => proxy.destroy())
  proxy.once('close', () => client.destroy())
  proxy.pipe(client)
  client.pipe(proxy)
  if (cut === undefined) return
  let left = cut.afterBytes
  client.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left > 0) return
    client.resetAndDestroy()
    proxy.resetAndDestroy()
  })
}
