/** The local proxy of a command, and ports that pass any bytes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { until } from '../../support/eventually.js'
import { ask, askForward, askThrough, sendConnect } from '../../support/lab/lab-clients.js'
import { codeOf } from '../../support/lab/run-world.js'
import { lab, shareLab } from '../../support/lab/shared-lab.js'
import { apiKey, caText, rawServer, servicenow, tunnelTo } from '../../support/lab/tunnel-world.js'

shareLab()

async function bytesOf(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

describe('the local proxy', () => {
  test('leads a program to its target with TLS of its own, if it has the token', async () => {
    await using tunnel = await tunnelTo(['cluster'], { ports: 'asked' })
    const { url } = lab.line.cluster
    expect((await askThrough(tunnel.proxyUrl, url, { ca: caText(), headers: apiKey() })).status).toBe(200)
    for (const authorization of ['', 'Basic c2x1aWNlOndyb25n', `Bearer x`]) {
      const { status, socket } = await sendConnect(tunnel.proxyUrl, new URL(url).host, { ca: '', authorization })
      socket.destroy()
      expect(status).toBe(407)
    }
    expect(tunnel.traffic()['cluster']?.connections).toBeGreaterThan(1)
  })

  test('lets go of a refused program that never closes its connection', { tags: 'long' }, async () => {
    await using tunnel = await tunnelTo(['cluster'], { ports: 'asked' })
    const { port } = new URL(tunnel.proxyUrl)
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    const closed = new Promise(resolve => socket.once('close', resolve))
    // What it still sends must not keep it either: the answer to that is a reset.
    const sending = setInterval(() => socket.write('x'), 100)
    socket.write('CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: elsewhere.example:443\r\n\r\n')
    await closed
    clearInterval(sending)
  })

  test('leads nowhere else, and says what to add', async () => {
    await using tunnel = await tunnelTo(['cluster'], { ports: 'asked' })
    for (const place of ['elsewhere.example:443', '127.0.0.1:1', 'localhost:443', 'nonsense', 'a@localhost:443']) {
      const { status, socket } = await sendConnect(tunnel.proxyUrl, place, { ca: '' })
      socket.destroy()
      expect({ place, isRefused: status === 403 || status === 400 }).toEqual({ place, isRefused: true })
    }
    expect(tunnel.foreign).toEqual(['elsewhere.example:443', '127.0.0.1:1', 'localhost:443'])
    const { status, text } = await askForward(tunnel.proxyUrl, 'http://elsewhere.example/', { ca: '' })
    expect({ status, text }).toMatchObject({ status: 403, text: expect.stringContaining('--to elsewhere.example:80') })
  })

  test('names a refused CONNECT, and answers the program as a gateway', async () => {
    await using tunnel = await tunnelTo(['cluster'], { ports: 'asked' })
    lab.control.plant({ login: {} })
    const { status, head, socket } = await sendConnect(tunnel.proxyUrl, new URL(lab.line.cluster.url).host, { ca: '' })
    socket.destroy()
    // A 407 would make the program ask for another password.
    expect(status).toBe(502)
    expect(head).not.toContain('Proxy-Authenticate')
    expect(tunnel.refusals).toEqual(['cluster PROXY_AUTH_REJECTED'])
  })

  test('forwards requests to a plain http cluster, with the configured credentials if asked', async () => {
    const target = { url: lab.line.cluster.httpUrl, apiKey: lab.line.cluster.apiKey }
    await using tunnel = await tunnelTo(['cluster'], { ports: 'asked', connecting: { target } })
    const { url } = target
    expect((await askForward(tunnel.proxyUrl, `${url}/`, { ca: '', headers: apiKey() })).status).toBe(200)
    expect((await askForward(tunnel.proxyUrl, `${url}/`, { ca: '' })).status).toBe(401)
    const wrong = { headers: { 'proxy-authorization': 'Basic eDp5' }, ca: '' }
    expect((await askForward(tunnel.proxyUrl, `${url}/`, wrong)).status).toBe(407)
    await using withLogin = await tunnelTo(['cluster'], { ports: 'asked', withLogin: true, connecting: { target } })
    expect((await askForward(withLogin.proxyUrl, `${url}/?pretty`, { ca: '' })).status).toBe(200)
    lab.control.plant({ login: {} })
    // Here the proxy answers in place of the cluster.
    expect((await askForward(tunnel.proxyUrl, `${url}/`, { ca: '', headers: apiKey() })).status).toBe(502)
    expect(tunnel.refusals).toEqual(['cluster PROXY_AUTH_REJECTED'])
  })

  test('gives a program the answer that comes before its body was read', async () => {
    const server = createServer((_, response) => void response.writeHead(403).end('too much'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await using tunnel = await tunnelTo([`127.0.0.1:${port}`], { ports: 'asked' })
    const body = Buffer.alloc(20_000_000, 'x')
    const answer = await askForward(tunnel.proxyUrl, `http://127.0.0.1:${port}/`, { ca: '', body })
    expect(answer).toMatchObject({ status: 403, text: 'too much' })
    server.closeAllConnections()
    server.close()
  })
})

describe('a port that passes bytes', () => {
  test('passes them both ways, many connections at once, half-closed ones too', async () => {
    const size = 3_000_000
    // Answers when the caller has sent everything, as only a half-closed connection allows.
    await using server = await rawServer(socket => {
      const got: Buffer[] = []
      socket.on('data', (chunk: Buffer) => void got.push(chunk))
      socket.once('end', () => socket.end(Buffer.concat([Buffer.from(`${size} `), ...got])))
    })
    for (const proxy of [lab.line.proxy.http, lab.line.proxy.socks5]) {
      const connecting = { proxy }
      await using tunnel = await tunnelTo([`0:127.0.0.1:${server.port}`], { connecting })
      const [host = '', port] = tunnel.url.split(':')
      const sent = Buffer.alloc(size, 'abc')
      const talks = Array.from({ length: 4 }, async () => {
        const caller = connect({ host, port: Number(port), allowHalfOpen: true })
        caller.end(sent)
        return await bytesOf(caller)
      })
      for (const got of await Promise.all(talks)) {
        expect(got.subarray(0, 8).toString()).toBe(`${size} `)
        expect(got.subarray(8).equals(sent)).toBe(true)
      }
      await until(() => server.open.size === 0)
    }
  })

  test('passes them through a proxy with TLS, from a target that speaks first', async () => {
    await using server = await rawServer(socket => {
      socket.write('hello')
      socket.pipe(socket)
    })
    for (const url of [lab.line.proxy.https, lab.line.proxy.socks5s]) {
      await using tunnel = await tunnelTo([`0:127.0.0.1:${server.port}`], {
        connecting: { proxy: { url, ca: caText() } },
      })
      const caller = connect(Number(tunnel.url.split(':')[1]), '127.0.0.1')
      expect(String((await once(caller, 'data'))[0])).toBe('hello')
      caller.write('and back')
      expect(String((await once(caller, 'data'))[0])).toBe('and back')
      caller.end()
      await once(caller, 'close')
    }
    await until(() => server.open.size === 0)
  })

  test('resets a caller whose target breaks off, and lets go of a target whose caller leaves', async () => {
    await using server = await rawServer(socket => {
      socket.write('hello')
      socket.on('data', () => socket.resetAndDestroy()).on('end', () => socket.end())
    })
    await using tunnel = await tunnelTo([`0:127.0.0.1:${server.port}`], { connecting: { proxy: { direct: true } } })
    const port = Number(tunnel.url.split(':')[1])
    const caller = connect(port, '127.0.0.1')
    expect(String((await once(caller, 'data'))[0])).toBe('hello')
    caller.write('break')
    const [error] = (await once(caller, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNRESET')
    const leaving = connect(port, '127.0.0.1')
    await once(leaving, 'data')
    leaving.destroy()
    await until(() => server.open.size === 0)
  })

  test('closes a connection on which nothing moves', async () => {
    await using server = await rawServer(socket => void socket.resume().on('end', () => socket.end()))
    await using tunnel = await tunnelTo([`0:127.0.0.1:${server.port}`], { idleMs: 50 })
    const caller = connect(Number(tunnel.url.split(':')[1]), '127.0.0.1')
    await once(caller, 'error')
    await until(() => server.open.size === 0)
  })

  test('says before it opens if the proxy does not reach the target', async () => {
    expect(await codeOf(tunnelTo(['127.0.0.1:1']))).toMatch(/^PROXY_TARGET_UNREACHABLE/)
    expect(await codeOf(tunnelTo(['db.example.com:5432']))).toMatch(/^PROXY_TARGET_UNREACHABLE/)
    expect(await codeOf(tunnelTo(['10.0.0.1:5432']))).toMatch(/^PROXY_DENIED_TARGET/)
  })
})

describe('ServiceNow', () => {
  test("passes requests with the tool's own credentials, or with those that are configured", async () => {
    await using tunnel = await tunnelTo(['0:servicenow'])
    const { username, password, url, ca } = servicenow()
    const path = '/api/now/table/incident?sysparm_limit=1'
    const own = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
    expect((await ask(tunnel.url + path, { headers: own })).status).toBe(200)
    expect((await ask(tunnel.url + path)).status).toBe(401)
    await using withLogin = await tunnelTo(['0:servicenow'], { withLogin: true })
    const headers = { authorization: `Bearer ${withLogin.token}` }
    expect((await ask(withLogin.url + path, { headers })).status).toBe(200)
    lab.control.servicenow.register('none')
    expect((await ask(tunnel.url + path, { headers: own })).status).toBe(403)
    expect(tunnel.refusals).toEqual(['ServiceNow SERVICENOW_ADDRESS_REFUSED'])
    // Without credentials, too.
    const instance = { servicenow: { url, ca } }
    expect(await codeOf(tunnelTo(['servicenow'], { instance }))).toMatch(/^SERVICENOW_ADDRESS_REFUSED/)
    lab.control.servicenow.register('both')
    await using open = await tunnelTo(['servicenow'], { instance })
    expect(open.opened[0]?.probes).toBeGreaterThan(0)
  })
})
