/** Small servers that stand where a proxy or a cluster should be. */
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Leaf } from './certificates.js'

export interface Listener extends AsyncDisposable {
  readonly port: number
}

/** Takes connections; what becomes of them is up to `meet`. */
export async function listen(meet: (socket: Socket) => void): Promise<Listener> {
  return await listening(createServer(meet))
}

/** Answers every request alike. */
export async function answering(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Listener> {
  return await listening(
    createHttpServer((request, response) => {
      request.resume()
      response.writeHead(status, headers).end(body)
    }),
  )
}

/** Answers every request with a body that is made of its header Authorization. */
export async function echoing(status: number, bodyFor: (login: string) => string): Promise<Listener> {
  return await listening(
    createHttpServer((request, response) => {
      request.resume()
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(bodyFor(request.headers.authorization ?? ''))
    }),
  )
}

/** Shows a certificate, and answers any HTTP request with 404. */
export async function showing({ cert, key }: Leaf): Promise<Listener> {
  const answer = 'HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
  return await listening(createTlsServer({ cert, key }, socket => socket.once('data', () => socket.end(answer))))
}

/** A port on 127.0.0.1 where no process listens. */
export async function closedPort(): Promise<number> {
  const { port, [Symbol.asyncDispose]: close } = await listen(() => {})
  await close()
  return port
}

/** Lets a server listen on a free port of 127.0.0.1. */
export async function listening(server: Server): Promise<Listener> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {}) // a client that refuses the certificate is what is wanted
  server.on('clientError', (_, socket: Socket) => socket.destroy())
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
