/** Small real servers to test routes against: a target, an HTTP proxy, a SOCKS5 proxy, and ports that say something else. */
import {
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
  createServer as createHttpServer,
  request,
} from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Certificate } from './proxy-certificates.js'

export interface Running extends AsyncDisposable {
  readonly port: number
  /** Raw connections accepted so far. */
  readonly connections: number
}

export interface Target extends Running {
  readonly requests: readonly { method: string; url: string; headers: IncomingMessage['headers']; body: string }[]
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Answers with what it got: `{"method","url","body"}`. */
export async function startTarget(options: { tls?: Certificate; answer?: Answer } = {}): Promise<Target> {
  const requests: Target['requests'][number][] = []
  const answer: Answer =
    options.answer ??
    ((incoming, response, body) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ method: incoming.method, url: incoming.url, body }))
    })
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    let body = ''
    incoming.setEncoding('utf8')
    incoming.on('data', (text: string) => (body += text))
    incoming.on('error', () => {})
    incoming.on('end', () => {
      requests.push({ method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body })
      answer(incoming, response, body)
    })
  }
  const server = options.tls === undefined ? createHttpServer(listener) : createHttpsServer(options.tls, listener)
  server.on('tlsClientError', () => {})
  return Object.assign(await listen(server), { requests })
}

export interface Proxy extends Running {
  /** Authorities that CONNECT or SOCKS asked for, and URLs that were forwarded, in order. */
  readonly asked: readonly string[]
}

interface ProxyOptions {
  readonly tls?: Certificate
  readonly username?: string
  readonly password?: string
  /** Answers CONNECT instead of the tunnel; return false to tunnel all the same. */
  readonly onConnect?: (socket: Socket, authority: string) => boolean | void
}

/** Tunnels and forwards, with Basic credentials if it was given some. Host names are resolved to loopback. */
export async function startHttpProxy(options: ProxyOptions = {}): Promise<Proxy> {
  const asked: string[] = []
  const expected =
    options.username === undefined
      ? undefined
      : `Basic ${Buffer.from(`${options.username}:${options.password}`).toString('base64')}`
  const allowed = (incoming: IncomingMessage): boolean => incoming.headers['proxy-authorization'] === expected
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    asked.push(incoming.url ?? '')
    if (!allowed(incoming)) {
      response.writeHead(407, {
        'proxy-authenticate': 'Basic realm="proxy"',
        server: 'squid/5.7',
        'x-squid-error': 'ERR_CACHE_ACCESS_DENIED 0',
      })
      response.end('credentials')
      return
    }
    const url = new URL(incoming.url ?? '')
    const headers = { ...incoming.headers }
    delete headers['proxy-authorization']
    const onward = request(
      { host: '127.0.0.1', port: url.port, method: incoming.method, path: url.pathname + url.search, headers },
      answer => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      },
    )
    onward.on('error', () => {
      response.writeHead(503, { server: 'squid/5.7', 'x-squid-error': 'ERR_CONNECT_FAIL 111' })
      response.end()
    })
    incoming.pipe(onward)
  }
  const server: HttpServer =
    options.tls === undefined ? createHttpServer(listener) : createHttpsServer(options.tls, listener)
  server.on('tlsClientError', () => {})
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    socket.on('error', () => {})
    const authority = incoming.url ?? ''
    asked.push(authority)
    if (options.onConnect !== undefined && options.onConnect(socket, authority) !== false) return
    if (!allowed(incoming)) {
      socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n',
      )
      return
    }
    const onward = connect(Number(authority.split(':').at(-1)), '127.0.0.1')
    onward.on('error', () =>
      socket.end('HTTP/1.1 503 Service Unavailable\r\nX-Squid-Error: ERR_CONNECT_FAIL 111\r\n\r\n'),
    )
    onward.on('connect', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    socket.on('close', () => onward.destroy())
    onward.on('close', () => socket.destroy())
  })
  return Object.assign(await listen(server), { asked })
}

/** SOCKS5 with CONNECT, user name and password if it was given some. `reply` refuses every destination with that number. */
export async function startSocksProxy(options: ProxyOptions & { reply?: number } = {}): Promise<Proxy> {
  const asked: string[] = []
  const serve = async (socket: Socket): Promise<void> => {
    const bytes = reader(socket)
    const [version, methods = 0] = await bytes(2)
    // As microsocks does with bytes that are not SOCKS5.
    if (version !== 5) {
      socket.end(Buffer.from([5, 0xff]))
      return
    }
    const offered = await bytes(methods)
    const method = options.username === undefined ? 0 : 2
    if (!offered.includes(method)) {
      socket.end(Buffer.from([5, 0xff]))
      return
    }
    socket.write(Buffer.from([5, method]))
    if (method === 2) {
      const username = await bytes((await bytes(2))[1] ?? 0)
      const password = await bytes((await bytes(1))[0] ?? 0)
      const right = username.toString() === options.username && password.toString() === options.password
      socket.write(Buffer.from([1, right ? 0 : 2]))
      if (!right) {
        socket.end()
        return
      }
    }
    const [, , , kind] = await bytes(4)
    const host = kind === 1 ? (await bytes(4)).join('.') : (await bytes((await bytes(1))[0] ?? 0)).toString()
    const port = (await bytes(2)).readUInt16BE()
    asked.push(`${host}:${port}`)
    const answer = (reply: number): Buffer => Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0])
    if (options.reply !== undefined) {
      socket.end(answer(options.reply))
      return
    }
    const onward = connect(port, '127.0.0.1')
    onward.on('error', () => socket.end(answer(5)))
    onward.on('connect', () => {
      socket.write(answer(0))
      onward.pipe(socket).pipe(onward)
    })
    socket.on('close', () => onward.destroy())
    onward.on('close', () => socket.destroy())
  }
  const accept = (socket: Socket): void => {
    socket.on('error', () => {})
    serve(socket).catch(() => socket.destroy())
  }
  const server = options.tls === undefined ? createServer(accept) : createTlsServer(options.tls, accept)
  server.on('tlsClientError', () => {})
  return Object.assign(await listen(server), { asked })
}

/** A port that does whatever `accept` does with each connection. */
export function startPort(accept: (socket: Socket) => void, tls?: Certificate): Promise<Running> {
  const onSocket = (socket: Socket): void => {
    socket.on('error', () => {})
    accept(socket)
  }
  const server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket)
  server.on('tlsClientError', () => {})
  return listen(server)
}

/** A port of 127.0.0.1 on which no process listens. */
export async function closedPort(): Promise<number> {
  const running = await startPort(() => {})
  await running[Symbol.asyncDispose]()
  return running.port
}

async function listen(server: Server): Promise<Running> {
  const open = new Set<Socket>()
  const seen = { count: 0 }
  server.on('connection', (socket: Socket) => {
    seen.count += 1
    open.add(socket)
    socket.on('close', () => open.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return seen.count
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

/** Reads exactly so many bytes, and leaves the rest where it is. Rejects when the other side ends before that. */
function reader(socket: Socket): (length: number) => Promise<Buffer> {
  return async length => {
    let heard = Buffer.alloc(0)
    while (heard.length < length) {
      const chunk: unknown = socket.read()
      if (Buffer.isBuffer(chunk)) heard = Buffer.concat([heard, chunk])
      else if (socket.readableEnded || socket.destroyed) throw new Error('closed')
      // With nothing left to read, it is told of what comes; with a part of it left, it would be told of that again and again.
      else await nextEvent(socket, ['readable', 'end', 'close'])
    }
    if (heard.length > length) socket.unshift(heard.subarray(length))
    return heard.subarray(0, length)
  }
}

function nextEvent(socket: Socket, names: readonly string[]): Promise<void> {
  return new Promise(resolve => {
    const settle = (): void => {
      for (const name of names) socket.off(name, settle)
      resolve()
    }
    for (const name of names) socket.on(name, settle)
  })
}
