import { getEventListeners, once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseProxyUrl } from '../../../../src/route/proxy/proxy-url.js'
import { RouteError } from '../../../../src/route/proxy/route-error.js'
import type { RouteRequest } from '../../../../src/route/proxy/route-request.js'
import { type Route, type RouteOptions, openRoute } from '../../../../src/route/proxy/route.js'
import { type Authority, type Certificate, createAuthority } from '../../../support/servers/proxy-certificates.js'
import { startHttpProxy, startPort, startTarget } from '../../../support/servers/proxy-servers.js'

let authority: Authority
let certificate: Certificate
beforeAll(async () => {
  authority = await createAuthority('Sluice test CA')
  certificate = await authority.issue(['cluster.test'])
})

const get: RouteRequest = { method: 'GET', path: '/', headers: {} }
const post: RouteRequest = { method: 'POST', path: '/_bulk', headers: {}, body: 'body' }

function routeOver(proxyPort: number, targetPort: number, options: Partial<RouteOptions> = {}): Route {
  return openRoute({
    target: new URL(`https://cluster.test:${targetPort}`),
    proxy: parseProxyUrl(`http://127.0.0.1:${proxyPort}`, 'the test'),
    connections: 1,
    targetTls: { ca: authority.cert },
    ...options,
  })
}

async function errorOf(promise: Promise<unknown>): Promise<RouteError> {
  const error: unknown = await promise.then(
    () => 'it succeeded',
    (cause: unknown) => cause,
  )
  if (!(error instanceof RouteError)) throw new Error(`no RouteError: ${String(error)}`)
  return error
}

// They wait, and do not work.
describe.concurrent('the time limit of a request holds', () => {
  it('while the proxy does not answer CONNECT, and nothing has left', { tags: 'long' }, async () => {
    await using proxy = await startHttpProxy({ onConnect: () => {} })
    await using route = routeOver(proxy.port, 9243)
    const error = await errorOf(route.request({ ...post, timeoutMs: 5000 }))
    expect(error).toMatchObject({
      code: 'TIMEOUT',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: { code: 'PROXY_TIMEOUT' },
    })
  })

  it(
    'and gives up the connection that it waited for, so that the next one need not wait for that',
    { tags: 'long' },
    async () => {
      await using target = await startTarget({ tls: certificate })
      await using proxy = await startHttpProxy({ onConnect: () => proxy.asked.length === 1 })
      await using route = routeOver(proxy.port, target.port, { connectTimeoutMs: 60_000 })
      expect(await errorOf(route.request({ ...post, timeoutMs: 5000 }))).toMatchObject({
        code: 'TIMEOUT',
        phase: 'proxy-handshake',
      })
      expect(await route.request(post)).toMatchObject({ statusCode: 200 })
    },
  )

  it('while it waits for a connection, and nothing has left', { tags: 'long' }, async () => {
    await using proxy = await startHttpProxy({ onConnect: () => {} })
    await using route = routeOver(proxy.port, 9243)
    const first = route.request({ ...post, timeoutMs: 60_000 })
    const second = await errorOf(route.request({ ...post, timeoutMs: 5000 }))
    expect(second).toMatchObject({
      code: 'TIMEOUT',
      phase: 'exchange',
      delivery: 'none',
      failure: { code: 'CLUSTER_TIMEOUT' },
    })
    await route.destroy()
    expect(await errorOf(first)).toMatchObject({ code: 'CLOSED', delivery: 'none' })
  })

  it('while the target thinks, when the outcome is unknown', async () => {
    await using target = await startTarget({
      tls: certificate,
      answer: (request, response) => void (request.method === 'GET' && response.end()),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    await (await route.request(get)).body.bytes()
    const error = await errorOf(route.request({ ...post, timeoutMs: 5000 }))
    expect(error).toMatchObject({
      code: 'TIMEOUT',
      phase: 'exchange',
      delivery: 'possible',
      failure: { code: 'CLUSTER_TIMEOUT' },
    })
    expect(proxy.asked.length).toBe(1)
  })

  it('until the answer has been read to its end', { tags: 'long' }, async () => {
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void response.write('a beginning'),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answer = await route.request({ ...post, timeoutMs: 5000 })
    expect(answer.statusCode).toBe(200)
    expect(await errorOf(answer.body.bytes())).toMatchObject({
      code: 'TIMEOUT',
      phase: 'exchange',
      delivery: 'possible',
    })
  })

  it(
    'also when nobody reads the answer; the connection is closed and the next request gets another',
    { tags: 'long' },
    async () => {
      let requests = 0
      await using target = await startTarget({
        tls: certificate,
        answer: (_, response) => void (requests++ === 0 ? response.write('a beginning') : response.end('whole')),
      })
      await using proxy = await startHttpProxy()
      await using route = routeOver(proxy.port, target.port)
      const answer = await route.request({ ...post, timeoutMs: 5000 })
      await new Promise(resolve => answer.body.once('close', resolve))
      expect(answer.body.errored).toMatchObject({ code: 'TIMEOUT' })
      const next = await route.request(get)
      expect(await next.body.text()).toBe('whole')
      expect(proxy.asked.length).toBe(2)
    },
  )

  it('for connecting to a port that drops what it is sent, as firewalls do', async () => {
    // A thread that listens and then sleeps: once its short queue is full, the kernel drops every other connection.
    const sleeper = `
      const { parentPort, workerData } = require('node:worker_threads')
      const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
        parentPort.postMessage(server.address().port)
        Atomics.wait(new Int32Array(workerData), 0, 0)
      })`
    const shared = new SharedArrayBuffer(4)
    const worker = new Worker(sleeper, { eval: true, workerData: shared })
    const [port] = (await once(worker, 'message')) as [number]
    const queue = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    await Promise.race(queue.map(socket => once(socket, 'connect')))
    await using route = routeOver(port, 9243, { connectTimeoutMs: 300 })
    const error = await errorOf(route.request(post))
    expect(error).toMatchObject({
      code: 'PROXY_TIMEOUT',
      phase: 'proxy-connect',
      delivery: 'none',
      failure: { code: 'PROXY_TIMEOUT' },
    })
    for (const socket of queue) socket.destroy()
    await worker.terminate()
  })
})

describe('the signal of a request ends it', () => {
  it('before it began', async () => {
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, 9243)
    const error = await errorOf(route.request({ ...post, signal: AbortSignal.abort('why not') }))
    expect(error).toMatchObject({ code: 'ABORTED', delivery: 'none', cause: 'why not' })
    expect(proxy.connections).toBe(0)
  })

  it('while the connection is being built', async () => {
    const stop = new AbortController()
    await using proxy = await startHttpProxy({ onConnect: () => stop.abort('enough') })
    await using route = routeOver(proxy.port, 9243)
    const error = await errorOf(route.request({ ...post, signal: stop.signal }))
    expect(error).toMatchObject({ code: 'ABORTED', phase: 'proxy-handshake', delivery: 'none', cause: 'enough' })
  })

  it('while it waits for a connection, whose place the next one takes', async () => {
    let release = (): void => {}
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void (release = () => response.end('done')),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const first = route.request(get)
    const stop = new AbortController()
    const second = route.request({ ...get, signal: stop.signal })
    const third = route.request(get)
    stop.abort('enough')
    expect(await errorOf(second)).toMatchObject({ code: 'ABORTED', delivery: 'none' })
    while (target.requests.length < 1) await new Promise(setImmediate)
    release()
    await (await first).body.bytes()
    while (target.requests.length < 2) await new Promise(setImmediate)
    release()
    expect(await (await third).body.text()).toBe('done')
    expect(proxy.asked.length).toBe(1)
  })

  it('while the target thinks, when the outcome is unknown', async () => {
    const stop = new AbortController()
    await using target = await startTarget({ tls: certificate, answer: () => stop.abort(new Error('enough')) })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const error = await errorOf(route.request({ ...post, signal: stop.signal }))
    expect(error).toMatchObject({ code: 'ABORTED', phase: 'exchange', delivery: 'possible', cause: stop.signal.reason })
  })

  it('while the answer is read', async () => {
    const stop = new AbortController()
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void response.write('a beginning'),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answer = await route.request({ ...get, signal: stop.signal })
    const reading = errorOf(answer.body.bytes())
    stop.abort('enough')
    expect(await reading).toMatchObject({ code: 'ABORTED', cause: 'enough' })
  })

  it('and leaves no listener behind when it never fires', async () => {
    const stop = new AbortController()
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    await (await route.request({ ...get, signal: stop.signal })).body.bytes()
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})

describe('connections', () => {
  it('are shared: many requests over a few', { tags: 'long' }, async () => {
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port, { connections: 3 })
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => route.request(post).then(answer => answer.body.text())),
    )
    expect(new Set(answers).size).toBe(1)
    expect(proxy.asked.length).toBe(3)
  })

  it('are not more than the requests that were under way at once', { tags: 'long' }, async () => {
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port, { connections: 8 })
    for (let n = 0; n < 20; n++) await (await route.request(post)).body.bytes()
    expect(proxy.asked.length).toBe(1)
  })

  it('that failed leave the others and the limit as they are', async () => {
    let refuse = 2
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy({
      onConnect: socket => {
        if (refuse-- <= 0) return false
        socket.end()
        return true
      },
    })
    await using route = routeOver(proxy.port, target.port, { connections: 2 })
    const results = await Promise.allSettled(
      Array.from({ length: 12 }, () => route.request(get).then(answer => answer.body.bytes())),
    )
    expect(results.filter(result => result.status === 'rejected').length).toBe(2)
    expect(proxy.asked.length).toBe(4)
  })

  it('of single use are fresh each time, are announced as such, and do not count against the pool', async () => {
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => route.once(get).then(answer => answer.body.text())),
    )
    expect(answers.length).toBe(5)
    expect(proxy.asked.length).toBe(5)
    expect(target.requests.map(request => request.headers.connection)).toEqual(Array.from({ length: 5 }, () => 'close'))
    expect(route.traffic.connections).toBe(5)
  })

  it('that the other side closed while they were idle are replaced without a failure', async () => {
    const sockets: Socket[] = []
    await using target = await startPort(socket => {
      sockets.push(socket)
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    })
    await using route = openRoute({ target: new URL(`http://127.0.0.1:${target.port}`), connections: 1 })
    for (let n = 1; n <= 5; n++) {
      expect(await (await route.request(post)).body.text()).toBe('ok')
      const socket = sockets.at(-1)
      socket?.end()
      if (socket?.closed === false) await once(socket, 'close')
      expect(target.connections).toBe(n)
    }
  })

  it('are not kept when the server says close', async () => {
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void response.writeHead(200, { connection: 'close' }).end('done'),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    for (let n = 0; n < 3; n++) expect(await (await route.request(get)).body.text()).toBe('done')
    expect(proxy.asked.length).toBe(3)
  })

  it('on which the answer came before the body had left are not used again', async () => {
    // Answers at the first bytes, keeps the connection open and reads no further: what follows would be taken for the body.
    await using target = await startPort(socket => {
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 429 Too Many Requests\r\nContent-Length: 2\r\n\r\nno')
      })
    })
    await using route = openRoute({ target: new URL(`http://127.0.0.1:${target.port}`), connections: 1 })
    const body = Buffer.alloc(64 * 1024 * 1024)
    const first = await route.request({ ...post, body })
    expect(first.statusCode).toBe(429)
    expect(await first.body.text()).toBe('no')
    const second = await route.request({ ...post, body: 'small' })
    expect(second.statusCode).toBe(429)
    await second.body.bytes()
    expect(target.connections).toBe(2)
  })

  it('that answered 413 are not used again, however the server feels about it', async () => {
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void response.writeHead(413).end(),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    for (let n = 0; n < 2; n++) await (await route.request(post)).body.bytes()
    expect(proxy.asked.length).toBe(2)
  })

  it('whose answer is abandoned are closed', async () => {
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void response.end('x'.repeat(10_000_000)),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answer = await route.request(get)
    answer.body.destroy()
    expect((await (await route.request(get)).body.bytes()).length).toBe(10_000_000)
    expect(proxy.asked.length).toBe(2)
  })
})

describe('bodies', () => {
  it.each([
    ['a Buffer', () => Buffer.from('{"index":{}}\n{"a":1}\n')],
    ['a string', () => '{"index":{}}\n{"a":1}\n'],
    ['a stream', () => Readable.from([Buffer.from('{"index":{}}\n'), Buffer.from('{"a":1}\n')])],
  ])('of %s arrive as they are', async (_, body) => {
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answer = await route.request({ ...post, body: body() })
    expect(JSON.parse(await answer.body.text())).toMatchObject({ body: '{"index":{}}\n{"a":1}\n' })
  })

  it('that fail while they are read fail the request', async () => {
    await using target = await startTarget({ tls: certificate })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const body = new Readable({
      read() {
        this.destroy(new Error('the file is gone'))
      },
    })
    const error = await errorOf(route.request({ ...post, body }))
    expect(error.cause).toMatchObject({ message: 'the file is gone' })
  })

  it('of answers are read as a stream, with back-pressure, byte for byte', async () => {
    const whole = Buffer.alloc(5_000_000, 'abcdefghij')
    await using target = await startTarget({ tls: certificate, answer: (_, response) => void response.end(whole) })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answer = await route.request(get)
    const parts: Buffer[] = []
    for await (const part of answer.body) {
      parts.push(part)
      await new Promise(setImmediate)
    }
    expect(Buffer.concat(parts).equals(whole)).toBe(true)
  })

  it('of redirects are answers: they are not followed', async () => {
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    })
    await using proxy = await startHttpProxy()
    await using route = routeOver(proxy.port, target.port)
    const answer = await route.request(get)
    await answer.body.bytes()
    expect(answer).toMatchObject({ statusCode: 302, headers: { location: 'http://127.0.0.1:1/' } })
    expect(target.requests.length).toBe(1)
  })
})

describe('a route', () => {
  it('that is closed waits for what is under way and takes nothing more', async () => {
    let release = (): void => {}
    await using target = await startTarget({
      tls: certificate,
      answer: (_, response) => void (release = () => response.end('done')),
    })
    await using proxy = await startHttpProxy()
    const route = routeOver(proxy.port, target.port)
    const running = route.request(get).then(answer => answer.body.text())
    while (target.requests.length < 1) await new Promise(setImmediate)
    const closed = route.close()
    expect(await errorOf(route.request(get))).toMatchObject({ code: 'CLOSED', delivery: 'none' })
    release()
    expect(await running).toBe('done')
    await closed
    await route.close()
  })

  it('that is destroyed ends what is under way, what waits and what connects', async () => {
    await using target = await startTarget({ tls: certificate, answer: () => {} })
    await using proxy = await startHttpProxy({ onConnect: () => proxy.asked.length > 1 })
    const route = routeOver(proxy.port, target.port, { connections: 2 })
    const requests = [route.request(post), route.request(post), route.request(post), route.once(post)].map(errorOf)
    while (target.requests.length < 1 || proxy.asked.length < 3) await new Promise(setImmediate)
    await route.destroy(new Error('stop'))
    const errors = await Promise.all(requests)
    expect(errors.map(error => error.code)).toEqual(['CLOSED', 'CLOSED', 'CLOSED', 'CLOSED'])
    expect(errors.map(error => error.delivery)).toEqual(['possible', 'none', 'none', 'none'])
    expect(errors[0]?.cause).toMatchObject({ message: 'stop' })
    await route.destroy()
  })

  it('refuses a request that HTTP cannot carry', async () => {
    await using route = routeOver(1, 1)
    const error = await errorOf(route.request({ ...get, headers: { 'x-bad': 'line\r\nbreak' } }))
    expect(error).toMatchObject({ delivery: 'none', failure: { code: 'INTERNAL' } })
  })
})
