import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { type Socket, connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Proxy URL; without it the request goes straight to the target. */
  readonly via?: string
  /** PEM files that vouch for the proxy's and the target's certificate. */
  readonly proxyCaFile?: string
  readonly caFile?: string
}

export interface Answer {
  readonly status: number
  readonly text: string
}

/**
 * One request on one fresh connection, by nothing but Node's own sockets: it proves the servers of the test and shares no
 * code with what they are there to test. A proxy's refusal comes back as the answer.
 */
export async function ask(url: string, options: Ask = {}): Promise<Answer> {
  const target = new URL(url)
  const { via, proxyCaFile, caFile } = options
  if (via === undefined) {
    const socket = await openTcp(target)
    return exchange(
      target.protocol === 'https:' ? await overTls(socket, target, caFile) : socket,
      target.pathname,
      target,
      options,
    )
  }
  const proxy = new URL(via)
  const tls = proxy.protocol === 'https:' || proxy.protocol === 'socks5s:'
  const tcp = await openTcp(proxy)
  const hop = tls ? await overTls(tcp, proxy, proxyCaFile) : tcp
  if (proxy.protocol.startsWith('socks5')) {
    await greetSocks(hop, proxy, target)
  } else if (target.protocol === 'http:') {
    const headers = { ...options.headers, ...proxyAuthorization(proxy) }
    return exchange(hop, target.href, target, { ...options, headers })
  } else {
    const status = await openTunnel(hop, proxy, target)
    if (status !== 200) return { status, text: '' }
  }
  return exchange(
    target.protocol === 'https:' ? await overTls(hop, target, caFile) : hop,
    target.pathname,
    target,
    options,
  )
}

async function openTcp(url: URL): Promise<Socket> {
  const socket = connectTcp({ host: url.hostname, port: Number(url.port), noDelay: true })
  await once(socket, 'connect')
  return socket
}

async function overTls(socket: Socket, url: URL, caFile: string | undefined): Promise<Socket> {
  const secure = connectTls({ socket, host: url.hostname, ...(caFile !== undefined && { ca: await readFile(caFile) }) })
  await once(secure, 'secureConnect')
  return secure
}

function exchange(socket: Socket, path: string, target: URL, { method = 'GET', headers, body }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      createConnection: () => socket,
      method,
      path,
      headers: { host: target.host, connection: 'close', ...headers },
    })
    request.on('error', reject)
    request.on('response', response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.end(body)
  })
}

function openTunnel(socket: Socket, proxy: URL, target: URL): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host: target.host, ...proxyAuthorization(proxy) }
    const request = httpRequest({ createConnection: () => socket, method: 'CONNECT', path: target.host, headers })
    request.on('error', reject)
    request.on('connect', response => resolve(response.statusCode ?? 0))
    request.end()
  })
}

function proxyAuthorization(proxy: URL): Record<string, string> {
  const plain = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  return { 'proxy-authorization': `Basic ${Buffer.from(plain).toString('base64')}` }
}

// RFC 1928 and 1929, for IPv4 targets. Throws when the server refuses.
async function greetSocks(socket: Socket, proxy: URL, target: URL): Promise<void> {
  const user = Buffer.from(decodeURIComponent(proxy.username))
  const password = Buffer.from(decodeURIComponent(proxy.password))
  const port = Number(target.port)
  const steps = [
    { name: 'method', bytes: [5, 1, 2] },
    { name: 'credentials', bytes: [1, user.length, ...user, password.length, ...password] },
    { name: 'connect', bytes: [5, 1, 0, 1, ...target.hostname.split('.').map(Number), port >> 8, port & 255] },
  ]
  for (const { name, bytes } of steps) {
    const answered = once(socket, 'data') as Promise<[Buffer]>
    socket.write(Buffer.from(bytes))
    const [answer] = await answered
    const accepted = name === 'method' ? answer[1] === 2 : answer[1] === 0
    if (!accepted) throw new Error(`SOCKS5 ${name} refused: ${answer.toString('hex')}`)
  }
}
