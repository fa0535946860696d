import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Certificate } from './certificates.js'

export interface Balancer extends AsyncDisposable {
  readonly port: number
}

/**
 * Passes each connection on to one of the ports, chosen at random: what makes two servers with one address each look like
 * one with two. With a certificate, clients speak TLS and the servers behind do not.
 */
export async function startBalancer(
  ports: readonly [number, number],
  { certificate, random = Math.random }: { certificate?: Certificate; random?: () => number } = {},
): Promise<Balancer> {
  const open = new Set<Socket>()
  const pass = (client: Socket): void => {
    const server = connect({
      port: random() < 0.5 ? ports[0] : ports[1],
      host: '127.0.0.1',
      noDelay: true,
      allowHalfOpen: true,
    })
    open.add(server)
    join(client, server)
    join(server, client)
  }
  const options = { noDelay: true, allowHalfOpen: true }
  const server: Server = certificate
    ? createTlsServer(
        { ...options, key: await readFile(certificate.keyFile), cert: await readFile(certificate.certFile) },
        pass,
      )
    : createServer(options, pass)
  server.on('connection', (socket: Socket) => open.add(socket))
  server.on('tlsClientError', () => {}) // a client that refuses the certificate is that client's finding
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function join(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroySoon())
}
