import { createServer } from 'node:http'
import { type AddressInfo, type Socket, connect, createServer as createTcpServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { ask, askForward, basic, dial, ending, openLab, readSome, sendConnect } from '../../support/lab/lab-clients.js'

function encode(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

/** Authorization fields that are no credentials, made from the good ones. */
const bad: [string, (username: string, password: string) => string][] = [
  ['no credentials', () => ''],
  ['a wrong password', username => encode(`${username}:wrong`)],
  ['a wrong username', (_, password) => encode(`nobody:${password}`)],
  ['a password that was not decoded', (username, password) => encode(`${username}:${encodeURIComponent(password)}`)],
  ['a password that was decoded twice', (username, password) => encode(`${username}:${password.replace('%41', 'A')}`)],
  ['the password alone', (_, password) => encode(password)],
  ['credentials without an encoding', (username, password) => `Basic ${username}:${password}`],
  ['a broken encoding', (username, password) => `${encode(`${username}:${password}`)}!`],
  ['an empty encoding', () => 'Basic '],
  ['another scheme', (username, password) => encode(`${username}:${password}`).replace('Basic', 'Bearer')],
]

describe('the HTTP proxy', () => {
  it('has a password that must be encoded in its URL, other in every lab', async () => {
    await using world = await openLab()
    await using other = await openLab()
    const { password } = new URL(world.lab.line.proxy.http)
    expect(decodeURIComponent(password)).toMatch(/^p@:\/%41\?#\[\]&=\+ ".{12}$/)
    expect(new URL(other.lab.line.proxy.http).password).not.toBe(password)
  })

  it.each(bad)('answers 407 to %s', async (_, make) => {
    await using world = await openLab()
    const { line } = world.lab
    const { username, password } = new URL(line.proxy.http)
    const authorization = make(decodeURIComponent(username), decodeURIComponent(password))
    const challenge = /proxy-authenticate: Basic realm=/i
    const target = new URL(line.cluster.httpUrl)
    for (const proxy of [line.proxy.http, line.proxy.https, line.proxy.nodes[0]]) {
      const tunnel = await sendConnect(proxy, target.host, { ca: world.ca, authorization })
      expect([tunnel.status, challenge.test(tunnel.head)]).toEqual([407, true])
      const headers = { 'proxy-authorization': authorization }
      const forwarded = await askForward(proxy, target.href, { ca: world.ca, headers })
      expect([forwarded.status, forwarded.headers['proxy-authenticate']]).toEqual([407, 'Basic realm="static-proxy"'])
    }
    expect(world.lab.control.connections().some(({ at }) => at === 'cluster')).toBe(false)
  })

  it('takes the scheme in any case, and colons in the password', async () => {
    await using world = await openLab()
    const { proxy, ipCheckUrl } = world.lab.line
    const authorization = basic(proxy.http).replace('Basic', 'bASIC')
    const { status } = await sendConnect(proxy.http, new URL(ipCheckUrl).host, { ca: world.ca, authorization })
    expect(status).toBe(200)
  })

  it('answers 502 for a dead target and for an unknown name, and tells itself from the target', async () => {
    await using world = await openLab()
    const { proxy } = world.lab.line
    const dead = createTcpServer()
    const port = await listening(dead)
    await new Promise(resolve => dead.close(resolve))
    for (const [host, error] of [
      [`127.0.0.1:${port}`, 'connection_refused'],
      ['nowhere.example:80', 'dns_error'],
      ['[::1]:80', 'destination_ip_unroutable'],
    ] as const) {
      const tunnel = await sendConnect(proxy.http, host, { ca: world.ca })
      expect([tunnel.status, tunnel.head.includes(`error=${error}`)]).toEqual([502, true])
      const forwarded = await askForward(proxy.http, `http://${host}/`, { ca: world.ca })
      expect([forwarded.status, forwarded.headers['proxy-status']]).toEqual([502, `sluice-lab; error=${error}`])
    }
  })

  it('answers 504 for a target that does not answer in time', async () => {
    await using silent = await startSilentTarget()
    await using world = await openLab({ connectTimeoutMs: 200 })
    const { proxy } = world.lab.line
    expect((await sendConnect(proxy.http, `127.0.0.1:${silent.port}`, { ca: world.ca })).status).toBe(504)
    expect((await askForward(proxy.http, `http://127.0.0.1:${silent.port}/`, { ca: world.ca })).status).toBe(504)
  })

  it('connects to this machine and to nothing else', async () => {
    await using world = await openLab()
    const { proxy } = world.lab.line
    for (const host of ['192.0.2.1:443', '8.8.8.8:53', '128.0.0.1:80', '[::ffff:192.0.2.1]:80']) {
      expect((await sendConnect(proxy.http, host, { ca: world.ca })).status).toBe(403)
      expect((await askForward(proxy.http, `http://${host}/`, { ca: world.ca })).status).toBe(403)
    }
  })

  it('resolves localhost itself, and an IPv4 address in IPv6 form', async () => {
    await using world = await openLab()
    const { proxy, ipCheckUrl } = world.lab.line
    const { port } = new URL(ipCheckUrl)
    for (const host of ['localhost', 'LOCALHOST.', 'cluster.localhost', '127.0.0.1', '[::ffff:127.0.0.1]']) {
      const { status, socket } = await sendConnect(proxy.http, `${host}:${port}`, { ca: world.ca })
      expect([host, status]).toEqual([host, 200])
      expect((await ask(ipCheckUrl, { socket })).status).toBe(200)
    }
  })

  it.each(['', 'localhost', 'localhost:', 'a b:80', 'localhost:99999999'])(
    'answers 400 to CONNECT %j',
    async authority => {
      await using world = await openLab()
      expect((await sendConnect(world.lab.line.proxy.http, authority, { ca: world.ca })).status).toBe(400)
    },
  )

  it('answers 400 to a request that is not in absolute form', async () => {
    await using world = await openLab()
    const { proxy } = world.lab.line
    const headers = { 'proxy-authorization': basic(proxy.http) }
    expect((await ask(`http://127.0.0.1:${new URL(proxy.http).port}/path`, { headers })).status).toBe(400)
  })

  it('forwards method, path, fields and body, and keeps its own fields back', async () => {
    const seen: { url: string; headers: Record<string, unknown>; body: string }[] = []
    const target = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { method, url, headers } = request
        seen.push({ url: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() })
        response.writeHead(201, { 'x-answer': 'yes', connection: 'x-hop', 'x-hop': 'gone' }).end('made')
      })
    })
    const port = await listening(target)
    await using world = await openLab()
    const url = `http://localhost:${port}/a/b?c=%20d`
    const headers = { 'x-asked': 'yes', connection: 'keep-alive, x-mine', 'x-mine': 'gone' }
    const answer = await askForward(world.lab.line.proxy.https, url, {
      ca: world.ca,
      headers,
      body: 'b\0dy',
      method: 'PATCH',
    })
    expect(answer).toMatchObject({ status: 201, text: 'made', headers: { 'x-answer': 'yes' } })
    expect(answer.headers).not.toHaveProperty('x-hop')
    expect(seen).toMatchObject([
      { url: 'PATCH /a/b?c=%20d', body: 'b\0dy', headers: { host: `localhost:${port}`, 'x-asked': 'yes' } },
    ])
    for (const name of ['proxy-authorization', 'x-mine']) expect(seen[0]?.headers).not.toHaveProperty(name)
    target.close()
    target.closeAllConnections()
  })

  it('passes half-closing on, so that a target can answer after the client has ended', async () => {
    const target = createTcpServer({ allowHalfOpen: true }, socket => {
      const chunks: Buffer[] = []
      socket.on('data', chunk => chunks.push(chunk))
      socket.on('end', () => socket.end(`got ${Buffer.concat(chunks).toString()}`))
    })
    const port = await listening(target)
    await using world = await openLab()
    const { proxy } = world.lab.line
    const { socket } = await sendConnect(proxy.http, `127.0.0.1:${port}`, { ca: world.ca })
    socket.end('all')
    expect((await readSome(socket)).toString()).toBe('got all')
    target.close()
  })

  it('closes a TLS client on the plain port and a plain client on the TLS port without harm', async () => {
    await using world = await openLab()
    const { proxy, ipCheckUrl } = world.lab.line
    const wrongWay = proxy.http.replace('http:', 'https:')
    await expect(dial(wrongWay, world.ca)).rejects.toThrow()
    const plain = connect(Number(new URL(proxy.https).port), '127.0.0.1')
    plain.write('GET / HTTP/1.1\r\n\r\n')
    await ending(plain)
    expect((await askForward(proxy.http, ipCheckUrl, { ca: world.ca })).status).toBe(200)
  })
})

function listening(server: {
  listen: (port: number, host: string, then: () => void) => unknown
  address: () => unknown
}): Promise<number> {
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** A port whose queue is full: the kernel drops what else wants to connect. */
async function startSilentTarget(): Promise<AsyncDisposable & { port: number }> {
  const worker = new Worker(
    `const { createServer } = require('node:net')
     const { parentPort } = require('node:worker_threads')
     const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
       parentPort.postMessage(server.address().port)
       setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
     })`,
    { eval: true },
  )
  const port = await new Promise<number>(resolve => worker.once('message', resolve))
  const fill: Socket[] = []
  // Connections that the blocked worker never accepts: with them the kernel's queue is full.
  for (let i = 0; i < 16; i++) fill.push(connect(port, '127.0.0.1').on('error', () => {}))
  await new Promise(resolve => fill[0]?.once('connect', resolve))
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of fill) socket.destroy()
      await worker.terminate()
    },
  }
}
