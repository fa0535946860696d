/** Clients of the lab that share nothing with the product: sockets and node:http alone. */
import { readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { type Socket, connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type LabOptions, type Lab, startLab } from '../../../src/lab/index.js'

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  /** The socket of the connection, for those who want to know which it was. */
  readonly socket: Socket
}

export interface Ask {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  readonly agent?: Agent
  readonly ca?: string
  /** A connection to use instead of a new one: a tunnel. */
  readonly socket?: Socket
}

/** A request on a connection of its own, unless an agent or a socket is given. */
export function ask(url: string, { method, headers, body, agent, ca, socket }: Ask = {}): Promise<Answer> {
  const isTls = url.startsWith('https:')
  const host = new URL(url).hostname
  return new Promise((resolve, reject) => {
    const options = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      // createConnection counts only where there is no agent.
      ...(!socket && { agent: agent ?? false }),
      ...(ca !== undefined && { ca }),
      ...(socket && { createConnection: () => (isTls ? connectTls({ socket, servername: host, ca }) : socket) }),
    }
    const request = isTls ? httpsRequest(url, options) : httpRequest(url, options)
    request.on('error', reject)
    request.on('response', response => {
      collect(response).then(text => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, socket: response.socket })
      }, reject)
    })
    request.end(body)
  })
}

async function collect(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

/** The Proxy-Authorization of a proxy URL. */
export function basic(proxy: string): string {
  const { username, password } = new URL(proxy)
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`
}

/** A connection to the proxy itself: plain, or TLS. */
export async function dial(proxy: string, ca: string): Promise<Socket> {
  const { protocol, port } = new URL(proxy)
  const isTls = protocol === 'https:' || protocol === 'socks5s:'
  const socket = isTls ? connectTls({ host: '127.0.0.1', port: Number(port), ca }) : connect(Number(port), '127.0.0.1')
  await event(socket, isTls ? 'secureConnect' : 'connect')
  return socket
}

/** Sends CONNECT. `early` goes out in the same write, before the answer. */
export async function sendConnect(
  proxy: string,
  authority: string,
  { ca, authorization = basic(proxy), early = '' }: { ca: string; authorization?: string | undefined; early?: string },
): Promise<{ status: number; head: string; socket: Socket }> {
  const socket = await dial(proxy, ca)
  const field = authorization === '' ? '' : `proxy-authorization: ${authorization}\r\n`
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${field}\r\n${early}`)
  let head = ''
  while (!head.includes('\r\n\r\n')) head += (await readSome(socket)).toString('latin1')
  const rest = head.slice(head.indexOf('\r\n\r\n') + 4)
  if (rest !== '') socket.unshift(Buffer.from(rest, 'latin1'))
  return { status: Number(head.split(' ')[1]), head, socket }
}

/** A request through the proxy: CONNECT for https targets, absolute form for http ones. */
export async function askThrough(proxy: string, url: string, options: Ask & { ca: string }): Promise<Answer> {
  const { host, port, protocol } = new URL(url)
  if (protocol === 'http:') return askForward(proxy, url, options)
  const authority = port === '' ? `${host}:443` : host
  const { status, socket } = await sendConnect(proxy, authority, options)
  if (status !== 200) throw new Error(`CONNECT was answered with ${status}`)
  return ask(url, { ...options, socket })
}

/** An absolute-form request, over an agent's connections where one is given. */
export async function askForward(proxy: string, url: string, options: Ask & { ca: string }): Promise<Answer> {
  const headers = { host: new URL(url).host, 'proxy-authorization': basic(proxy), ...options.headers }
  const socket = options.agent ? undefined : await dial(proxy, options.ca)
  return new Promise((resolve, reject) => {
    const { port } = new URL(proxy)
    const { body, agent } = options
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path: url,
      method: options.method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      ...(agent ? { agent } : { createConnection: () => socket }),
    })
    request.on('error', reject)
    request.on('response', response => {
      collect(response).then(text => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, socket: response.socket })
        socket?.destroy()
      }, reject)
    })
    request.end(body)
  })
}

export interface SocksAsk {
  readonly ca: string
  /** Methods offered. Default: username and password. */
  readonly methods?: readonly number[]
  readonly username?: string
  readonly password?: string
  readonly command?: number
  /** The address as it goes over the wire, type first. */
  readonly address: Buffer
  readonly port: number
}

/** A SOCKS5 handshake: the bytes of every answer, and the socket. */
export async function sendSocks(proxy: string, asked: SocksAsk): Promise<{ answers: string[]; socket: Socket }> {
  const url = new URL(proxy.replace(/^socks5s?:/, 'http:'))
  const username = asked.username ?? decodeURIComponent(url.username)
  const password = asked.password ?? decodeURIComponent(url.password)
  const socket = await dial(proxy, asked.ca)
  const answers: string[] = []
  const say = async (bytes: Buffer, expected: number): Promise<string> => {
    socket.write(bytes)
    const answer = (await readExactly(socket, expected)).toString('hex')
    answers.push(answer)
    return answer
  }
  const methods = asked.methods ?? [2]
  if ((await say(Buffer.from([5, methods.length, ...methods]), 2)) !== '0502') return { answers, socket }
  const credentials = [1, Buffer.byteLength(username), ...Buffer.from(username)]
  const secret = [Buffer.byteLength(password), ...Buffer.from(password)]
  if ((await say(Buffer.from([...credentials, ...secret]), 2)) !== '0100') return { answers, socket }
  const port = Buffer.alloc(2)
  port.writeUInt16BE(asked.port)
  await say(Buffer.concat([Buffer.from([5, asked.command ?? 1, 0]), asked.address, port]), 10)
  return { answers, socket }
}

export const socksAddress = {
  ipv4: (address: string): Buffer => Buffer.from([1, ...address.split('.').map(Number)]),
  domain: (name: string): Buffer => Buffer.from([3, name.length, ...Buffer.from(name)]),
  ipv6: (groups: readonly number[]): Buffer => Buffer.from([4, ...groups.flatMap(group => [group >> 8, group & 0xff])]),
}

/** The next bytes that arrive. Rejects when the connection ends first. */
export function readSome(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      socket.off('readable', onReadable).off('end', onEnd).off('error', onError).off('close', onEnd)
      act()
    }
    const onReadable = (): void => {
      const chunk = socket.read() as Buffer | null
      if (chunk) settle(() => resolve(chunk))
    }
    const onEnd = (): void => settle(() => reject(new Error('the connection ended')))
    const onError = (error: Error): void => settle(() => reject(error))
    socket.on('readable', onReadable).once('end', onEnd).once('error', onError).once('close', onEnd)
    onReadable()
  })
}

export async function readExactly(socket: Socket, size: number): Promise<Buffer> {
  let bytes = Buffer.alloc(0)
  while (bytes.length < size) bytes = Buffer.concat([bytes, await readSome(socket)])
  if (bytes.length > size) socket.unshift(bytes.subarray(size))
  return bytes.subarray(0, size)
}

/** How a connection ended: `fin`, `rst`, or the code of another error. */
export function ending(socket: Socket): Promise<string> {
  return new Promise(resolve => {
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNRESET' ? 'rst' : String(error.code)),
    )
    socket.once('end', () => resolve('fin'))
    socket.once('close', () => resolve('fin'))
    socket.resume()
  })
}

function event(socket: Socket, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(name, () => resolve())
    socket.once('error', reject)
  })
}

/** A lab with what tests ask of it most. */
export interface TestLab extends AsyncDisposable {
  readonly lab: Lab
  readonly ca: string
  readonly auth: Record<string, string>
  /** A bulk request past the proxy, over http; needs a filter that lets 127.0.0.1 through. */
  bulk(body: string, query?: string, headers?: Record<string, string>): Promise<Answer>
  get(path: string): Promise<Answer>
}

/** By default everybody may reach its cluster. */
export async function openLab(options: LabOptions = {}): Promise<TestLab> {
  const lab = await startLab({ register: 'everyone', ...options })
  const { cluster } = lab.line
  const auth = { authorization: `ApiKey ${cluster.apiKey}` }
  return {
    lab,
    ca: readFileSync(cluster.caFile, 'utf8'),
    auth,
    bulk: (body, query = '', headers = {}) =>
      ask(`${cluster.httpUrl}/_bulk${query}`, {
        headers: { ...auth, 'content-type': 'application/x-ndjson', ...headers },
        body,
      }),
    get: path => ask(cluster.httpUrl + path, { headers: auth }),
    [Symbol.asyncDispose]: () => lab.close(),
  }
}
