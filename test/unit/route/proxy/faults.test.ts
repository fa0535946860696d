import { inspect } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { proxyRefusal } from '../../../../src/route/proxy/proxy-answer.js'
import { parseProxyUrl } from '../../../../src/route/proxy/proxy-url.js'
import { RouteError } from '../../../../src/route/proxy/route-error.js'
import { type Route, type RouteOptions, openRoute } from '../../../../src/route/proxy/route.js'
import { type Authority, type Certificate, createAuthority } from '../../../support/servers/proxy-certificates.js'
import {
  type Running,
  closedPort,
  startHttpProxy,
  startPort,
  startSocksProxy,
  startTarget,
} from '../../../support/servers/proxy-servers.js'

let authority: Authority
let certificate: Certificate
let foreign: Certificate
let misnamed: Certificate
beforeAll(async () => {
  authority = await createAuthority('Sluice test CA')
  certificate = await authority.issue(['localhost', '127.0.0.1', 'cluster.test'])
  misnamed = await authority.issue(['another.test'])
  foreign = await (await createAuthority('A CA that nobody trusts')).issue(['localhost', '127.0.0.1', 'cluster.test'])
})

const secret = 's3cr3t-of-the-proxy'

/** A route to cluster.test over a proxy on loopback, with credentials. */
function routeOver(scheme: string, proxyPort: number, options: Partial<RouteOptions> = {}): Route {
  return openRoute({
    target: new URL('https://cluster.test:9243'),
    proxy: parseProxyUrl(`${scheme}://user:${secret}@127.0.0.1:${proxyPort}`, 'the test'),
    connections: 2,
    connectTimeoutMs: 5_000,
    targetTls: { ca: authority.cert },
    proxyTls: { ca: authority.cert },
    ...options,
  })
}

/** What a POST fails with. Whatever it is, the password is nowhere in it. */
async function failureOf(route: Route, timeoutMs?: number): Promise<RouteError> {
  const request = {
    method: 'POST',
    path: '/_bulk',
    headers: {},
    body: 'body',
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  }
  const error: unknown = await route.request(request).then(
    answer => answer.body.bytes().then(() => `answered ${answer.statusCode}`),
    (cause: unknown) => cause,
  )
  await route.destroy()
  if (!(error instanceof RouteError)) throw new Error(`no RouteError: ${inspect(error)}`)
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(secret)
  expect(error.code).not.toMatch(/UND_ERR_(SOCKET|INFO|ABORTED)/)
  return error
}

function facts(error: RouteError): object {
  return { code: error.code, phase: error.phase, delivery: error.delivery, failure: error.failure.code }
}

describe('CONNECT', () => {
  it.each([
    [407, 'PROXY_AUTH_REJECTED'],
    [401, 'PROXY_AUTH_REJECTED'],
    [403, 'PROXY_DENIED_TARGET'],
    [405, 'PROXY_DENIED_TARGET'],
    [429, 'PROXY_LIMIT_REACHED'],
    [500, 'PROXY_TARGET_UNREACHABLE'],
    [502, 'PROXY_TARGET_UNREACHABLE'],
    [503, 'PROXY_TARGET_UNREACHABLE'],
  ])('answered with %i is the proxy refusing: %s', async (status, failure) => {
    await using proxy = await startHttpProxy({
      onConnect: socket =>
        void socket.end(`HTTP/1.1 ${status} No\r\nX-Squid-Error: ERR_SOME 0\r\nContent-Length: 2\r\n\r\nno`),
    })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toEqual({
      code: `PROXY_STATUS_${status}`,
      phase: 'proxy-handshake',
      delivery: 'none',
      failure,
    })
    expect(error.statusCode).toBe(status)
    expect(error.headers?.['x-squid-error']).toBe('ERR_SOME 0')
    expect(error.failure.evidence).toMatchObject({ proxy: `http://127.0.0.1:${proxy.port}` })
    expect(proxy.connections).toBe(1)
  })

  it.each([
    'HTTP/1.1 200 Connection established',
    'HTTP/1.0 200',
    'HTTP/1.1 204 Tunnel',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 299 Fine',
  ])('answered with "%s" is a tunnel', async reply => {
    await using target = await startTarget({ tls: certificate })
    const { connect } = await import('node:net')
    await using proxy = await startHttpProxy({
      onConnect: socket => {
        const onward = connect(target.port, '127.0.0.1', () => {
          // In pieces, as a slow proxy sends it.
          for (const byte of Buffer.from(`${reply}\r\nVia: test\r\n\r\n`)) socket.write(Buffer.from([byte]))
          onward.pipe(socket).pipe(onward)
        })
        socket.on('close', () => onward.destroy())
      },
    })
    await using route = routeOver('http', proxy.port)
    const answer = await route.request({ method: 'GET', path: '/', headers: {} })
    expect(JSON.parse(await answer.body.text())).toMatchObject({ method: 'GET', url: '/' })
  })

  it('closed without an answer fails at once, after one connection', async () => {
    await using proxy = await startHttpProxy({ onConnect: socket => void socket.end() })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toEqual({
      code: 'PROXY_CLOSED',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_UNREACHABLE',
    })
    expect(proxy.connections).toBe(1)
  })

  it('closed in the middle of its answer fails', async () => {
    await using proxy = await startHttpProxy({ onConnect: socket => void socket.end('HTTP/1.1 200 Conn') })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toMatchObject({ code: 'PROXY_CLOSED', failure: 'PROXY_UNREACHABLE' })
    expect(error.message).toContain('in the middle of its answer')
  })

  it('reset by the proxy fails at once, after one connection', async () => {
    await using proxy = await startHttpProxy({ onConnect: socket => void socket.resetAndDestroy() })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toEqual({
      code: 'ECONNRESET',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_UNREACHABLE',
    })
    expect(proxy.connections).toBe(1)
  })

  it('never answered ends at the time limit for connecting', async () => {
    await using proxy = await startHttpProxy({ onConnect: () => {} })
    const error = await failureOf(routeOver('http', proxy.port, { connectTimeoutMs: 100 }))
    expect(facts(error)).toEqual({
      code: 'PROXY_TIMEOUT',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_TIMEOUT',
    })
    expect(error.failure.evidence).toMatchObject({ limitMs: 100, phase: 'proxy-handshake' })
  })

  it('answered without end is not read for ever', async () => {
    await using proxy = await startHttpProxy({
      onConnect: socket => {
        const more = (): void => void (socket.destroyed || socket.write(`X-Filler: ${'x'.repeat(1000)}\r\n`, more))
        socket.write('HTTP/1.1 200 OK\r\n', more)
      },
    })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toMatchObject({ code: 'PROXY_NOT_HTTP', phase: 'proxy-handshake' })
  })

  it('answered with 200 and more passes the rest on as the target’s', async () => {
    await using proxy = await startHttpProxy({
      onConnect: socket => void socket.write('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 No TLS here\r\n\r\n'),
    })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toMatchObject({
      code: 'ERR_SSL_WRONG_VERSION_NUMBER',
      phase: 'target-tls',
      failure: 'CLUSTER_TLS_MISMATCH',
    })
  })

  it('answered with 200 and closed breaks the TLS handshake with the target, not a request', async () => {
    await using proxy = await startHttpProxy({ onConnect: socket => void socket.end('HTTP/1.1 200 OK\r\n\r\n') })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toMatchObject({ phase: 'target-tls', delivery: 'none', failure: 'CLUSTER_UNAVAILABLE' })
    expect(proxy.connections).toBe(1)
  })
})

describe('a port that is not what the scheme says', () => {
  const noMethod = (socket: import('node:net').Socket): void =>
    void socket.once('data', () => socket.end(Buffer.from([5, 0xff])))
  const https = new URL('https://cluster.test:9243')
  const http = new URL('http://cluster.test:9200')

  it.each([https, http])('http:// at a SOCKS5 port, to %s', async target => {
    await using port = await startPort(noMethod)
    const error = await failureOf(routeOver('http', port.port, { target }))
    expect(facts(error)).toMatchObject({ code: 'PROXY_NOT_HTTP', failure: 'PROXY_PORT_IS_SOCKS' })
    expect(port.connections).toBe(1)
  })

  it('http:// at a port that answers with a TLS alert', async () => {
    await using port = await startPort(
      socket => void socket.once('data', () => socket.end(Buffer.from([0x15, 3, 1, 0, 2, 2, 70]))),
    )
    expect(facts(await failureOf(routeOver('http', port.port)))).toMatchObject({
      code: 'PROXY_NOT_HTTP',
      failure: 'PROXY_TLS_MISMATCH',
    })
  })

  it('http:// at a TLS port, which closes without a word, says that it may be one', async () => {
    await using proxy = await startHttpProxy({ tls: certificate })
    const error = await failureOf(routeOver('http', proxy.port))
    expect(facts(error)).toMatchObject({ phase: 'proxy-handshake', delivery: 'none', failure: 'PROXY_UNREACHABLE' })
    expect(error.message).toContain('expects TLS')
  })

  it('http:// at a TLS port, to an http target, says that it may be one', async () => {
    await using proxy = await startHttpProxy({ tls: certificate })
    const route = routeOver('http', proxy.port, { target: http })
    const error: unknown = await route
      .request({ method: 'POST', path: '/', headers: {}, body: 'body' })
      .catch((cause: unknown) => cause)
    expect(error).toMatchObject({ phase: 'exchange', delivery: 'possible', failure: { code: 'CLUSTER_UNAVAILABLE' } })
    expect(String(error)).toContain('expects TLS')
    await route.destroy()
  })

  it.each([
    ['https', https],
    ['https', http],
    ['socks5s', https],
  ])('%s:// at a port that wants a client certificate, to %s', async (scheme, target) => {
    const certificateRequired = Buffer.from([0x15, 3, 3, 0, 2, 2, 116])
    await using port = await startPort(socket => void socket.once('data', () => socket.end(certificateRequired)))
    const error = await failureOf(routeOver(scheme, port.port, { target }))
    expect(facts(error)).toMatchObject({ phase: 'proxy-tls', delivery: 'none', failure: 'PROXY_CLIENT_CERT' })
  })

  it('http:// at a port that greets like SSH shows the greeting', async () => {
    await using port = await startPort(socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
    const error = await failureOf(routeOver('http', port.port))
    expect(facts(error)).toMatchObject({ code: 'PROXY_NOT_HTTP', failure: 'PROXY_UNREACHABLE' })
    expect(error.message).toContain('SSH-2.0-OpenSSH_9.2')
  })

  it('https:// at a plain HTTP port', async () => {
    await using proxy = await startHttpProxy()
    const error = await failureOf(routeOver('https', proxy.port))
    expect(facts(error)).toMatchObject({ phase: 'proxy-tls', delivery: 'none', failure: 'PROXY_TLS_MISMATCH' })
  })

  it('socks5:// at an HTTP port that answers', async () => {
    await using proxy = await startPort(
      socket => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    )
    const error = await failureOf(routeOver('socks5', proxy.port))
    expect(facts(error)).toEqual({
      code: 'SOCKS_INVALID',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_PORT_IS_HTTP',
    })
  })

  it('socks5:// at a port that never says a word', async () => {
    await using port = await startPort(() => {})
    const error = await failureOf(routeOver('socks5', port.port, { connectTimeoutMs: 200 }))
    expect(facts(error)).toEqual({
      code: 'PROXY_TIMEOUT',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_TIMEOUT',
    })
  })

  it('socks5s:// at a plain SOCKS5 port', async () => {
    await using port = await startPort(noMethod)
    expect(facts(await failureOf(routeOver('socks5s', port.port)))).toMatchObject({
      phase: 'proxy-tls',
      delivery: 'none',
      failure: 'PROXY_TLS_MISMATCH',
    })
  })
})

describe('a proxy that cannot be reached', () => {
  it.each(['http', 'https', 'socks5', 'socks5s'])('is ECONNREFUSED over %s', async scheme => {
    const error = await failureOf(routeOver(scheme, await closedPort()))
    expect(facts(error)).toEqual({
      code: 'ECONNREFUSED',
      phase: 'proxy-connect',
      delivery: 'none',
      failure: 'PROXY_UNREACHABLE',
    })
  })

  it('is ENOTFOUND or EAI_AGAIN where its name does not resolve', async () => {
    const proxy = parseProxyUrl('http://user:pw@no-such-proxy.invalid:9293', 'the test')
    const error = await failureOf(routeOver('http', 1, { proxy }))
    expect(error.code).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/)
    expect(facts(error)).toMatchObject({ phase: 'proxy-connect', failure: 'PROXY_UNREACHABLE' })
  })
})

describe('certificates', () => {
  it.each(['https', 'socks5s'])('a %s proxy whose CA is not trusted', async scheme => {
    await using proxy = await startHttpProxy({ tls: foreign })
    const error = await failureOf(routeOver(scheme, proxy.port))
    expect(facts(error)).toEqual({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      phase: 'proxy-tls',
      delivery: 'none',
      failure: 'PROXY_CERT_INVALID',
    })
  })

  it.each([new URL('https://cluster.test:9243'), new URL('http://cluster.test:9200')])(
    'a proxy with another name, to %s',
    async target => {
      await using proxy = await startHttpProxy({ tls: misnamed })
      const error = await failureOf(routeOver('https', proxy.port, { target }))
      expect(facts(error)).toEqual({
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
        phase: 'proxy-tls',
        delivery: 'none',
        failure: 'PROXY_CERT_INVALID',
      })
      expect(proxy.connections).toBe(1)
    },
  )

  it.each(['http', 'https', 'socks5', 'socks5s'])('a target whose CA is not trusted, over %s', async scheme => {
    await using target = await startTarget({ tls: foreign })
    const options = { ...(scheme.endsWith('s') ? { tls: certificate } : {}), username: 'user', password: secret }
    await using proxy = await (scheme.startsWith('socks') ? startSocksProxy(options) : startHttpProxy(options))
    const error = await failureOf(
      routeOver(scheme, proxy.port, { target: new URL(`https://cluster.test:${target.port}`) }),
    )
    expect(facts(error)).toEqual({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      phase: 'target-tls',
      delivery: 'none',
      failure: 'CLUSTER_CERT_INVALID',
    })
    expect(target.requests.length).toBe(0)
  })

  it('a target with another name', async () => {
    await using target = await startTarget({ tls: misnamed })
    await using proxy = await startHttpProxy({ username: 'user', password: secret })
    const error = await failureOf(
      routeOver('http', proxy.port, { target: new URL(`https://cluster.test:${target.port}`) }),
    )
    expect(facts(error)).toEqual({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      phase: 'target-tls',
      delivery: 'none',
      failure: 'CLUSTER_CERT_INVALID',
    })
    expect(proxy.connections).toBe(1)
  })

  it('a target that speaks plain http where https is asked', async () => {
    await using target = await startTarget()
    await using proxy = await startHttpProxy({ username: 'user', password: secret })
    const error = await failureOf(
      routeOver('http', proxy.port, { target: new URL(`https://cluster.test:${target.port}`) }),
    )
    expect(facts(error)).toMatchObject({ phase: 'target-tls', delivery: 'none', failure: 'CLUSTER_TLS_MISMATCH' })
    expect(error.message).toContain('does not speak TLS')
  })
})

describe('SOCKS5', () => {
  it('bad credentials are refused', async () => {
    await using proxy = await startSocksProxy({ username: 'user', password: 'another' })
    expect(facts(await failureOf(routeOver('socks5', proxy.port)))).toEqual({
      code: 'SOCKS_AUTH_FAILED',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_AUTH_REJECTED',
    })
  })

  it('missing credentials are refused', async () => {
    await using proxy = await startSocksProxy({ username: 'user', password: 'another' })
    const anonymous = parseProxyUrl(`socks5://127.0.0.1:${proxy.port}`, 'the test')
    expect(facts(await failureOf(routeOver('socks5', proxy.port, { proxy: anonymous })))).toMatchObject({
      code: 'SOCKS_NO_METHOD',
      failure: 'PROXY_AUTH_REJECTED',
    })
  })

  it.each([
    [1, 'PROXY_TARGET_UNREACHABLE'],
    [2, 'PROXY_DENIED_TARGET'],
    [3, 'PROXY_TARGET_UNREACHABLE'],
    [4, 'PROXY_TARGET_UNREACHABLE'],
    [5, 'PROXY_TARGET_UNREACHABLE'],
    [6, 'PROXY_TARGET_UNREACHABLE'],
    [7, 'PROXY_DENIED_TARGET'],
    [8, 'PROXY_DENIED_TARGET'],
  ])('reply %i is %s', async (reply, failure) => {
    await using proxy = await startSocksProxy({ username: 'user', password: secret, reply })
    const error = await failureOf(routeOver('socks5', proxy.port))
    expect(facts(error)).toEqual({ code: `SOCKS_REPLY_${reply}`, phase: 'proxy-handshake', delivery: 'none', failure })
    expect(proxy.asked).toEqual(['cluster.test:9243'])
  })

  it('closed during the handshake fails at once, after one connection', async () => {
    await using port = await startPort(socket => void socket.once('data', () => socket.end()))
    expect(facts(await failureOf(routeOver('socks5', port.port)))).toEqual({
      code: 'PROXY_CLOSED',
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: 'PROXY_UNREACHABLE',
    })
    expect(port.connections).toBe(1)
  })

  it('reset during the handshake keeps its code', async () => {
    await using port = await startPort(socket => void socket.once('data', () => socket.resetAndDestroy()))
    expect(facts(await failureOf(routeOver('socks5', port.port)))).toMatchObject({
      code: 'ECONNRESET',
      failure: 'PROXY_UNREACHABLE',
    })
  })

  it('granted and reset at once does not connect again and again', async () => {
    await using proxy = await startPort(socket => {
      socket.once('data', () => {
        socket.write(Buffer.from([5, 0]))
        socket.once('data', () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), () => socket.resetAndDestroy())
        })
      })
    })
    const error: unknown = await routeOver('socks5', proxy.port, { target: new URL('http://cluster.test:9200') })
      .request({ method: 'POST', path: '/', headers: {}, body: 'body' })
      .catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(RouteError)
    expect(proxy.connections).toBe(1)
  })
})

/** Status line, headers and body of a refusal, and what it is called. `says`: what its message holds. */
const refusals: readonly (readonly [string, readonly string[], string, code: string, says: string])[] = [
  ['407 Quota exceeded', [], '', 'PROXY_ACCOUNT_REFUSED', '"Quota exceeded"'],
  ['402 Payment Required', [], '', 'PROXY_ACCOUNT_REFUSED', 'status 402'],
  ['403 Forbidden', [], '<p>Your subscription has ended.</p>', 'PROXY_ACCOUNT_REFUSED', 'Your subscription has ended'],
  ['407 No', ['X-Squid-Error: ERR_QUOTA 0'], 'Monthly bandwidth is used up', 'PROXY_ACCOUNT_REFUSED', 'ERR_QUOTA 0'],
  ['509 Bandwidth Limit Exceeded', [], '', 'PROXY_ACCOUNT_REFUSED', 'status 509'],
  ['403 Forbidden', [], '{"error":"account 7 is disabled"}', 'PROXY_ACCOUNT_REFUSED', 'account 7 is disabled'],
  ['429 Too Many Requests', ['Retry-After: 30'], '', 'PROXY_LIMIT_REACHED', 'retry-after: 30'],
  ['429 Too Many Requests', [], 'monthly quota exceeded', 'PROXY_ACCOUNT_REFUSED', 'monthly quota'],
  ['503 Service Unavailable', [], 'Too many open connections', 'PROXY_LIMIT_REACHED', 'Too many open connections'],
  [
    '407 No',
    ['Proxy-Authenticate: NTLM', 'Proxy-Authenticate: Negotiate'],
    '',
    'PROXY_AUTH_REJECTED',
    'only NTLM or Neg',
  ],
  ['407 No', ['Proxy-Authenticate: Digest realm="basic", nonce="a"'], '', 'PROXY_AUTH_REJECTED', 'only Digest'],
  [
    '302 Found',
    ['Location: http://hotel.example/login?token=abc'],
    '',
    'PROXY_NOT_A_PROXY',
    'http://hotel.example/login',
  ],
  ['200 OK', ['Content-Type: text/html'], '<title>Guest network</title>', 'PROXY_NOT_A_PROXY', 'Guest network'],
  ['511 Network Authentication Required', [], '<title>Guest network</title>', 'PROXY_NOT_A_PROXY', 'Guest network'],
  ['405 Not Allowed', ['Server: nginx/1.24'], '', 'PROXY_NOT_A_PROXY', 'server: nginx/1.24'],
  ['400 Bad Request', ['Server: nginx'], '', 'PROXY_NOT_A_PROXY', 'server: nginx'],
  ['400 Bad Request', [], '', 'PROXY_DENIED_TARGET', 'status 400'],
  ['404 Not Found', ['Proxy-Agent: Mine/1.0'], '', 'PROXY_DENIED_TARGET', 'status 404'],
  ['403 Forbidden', [], 'cluster.test is billing', 'PROXY_ACCOUNT_REFUSED', 'billing'],
  ['403 Forbidden', ['Server: Squid/6'], '<style>p{quota:1}</style>no', 'PROXY_DENIED_TARGET', '"no"'],
]

describe('the words of a refusal', () => {
  it.each(refusals)('%s with %j and %j is %s', async (line, headers, body, code, says) => {
    await using port = await startPort(socket => {
      socket.once('data', () => socket.end([`HTTP/1.1 ${line}`, ...headers, '', body].join('\r\n')))
    })
    const error = await failureOf(routeOver('http', port.port))
    expect(error.failure.code).toBe(code)
    expect(error.message).toContain(says)
    expect(error.message).not.toContain('token=')
  })

  it('may come in pieces, and need not end', async () => {
    await using port = await startPort(socket => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nYour plan\r\n')
        setImmediate(() => socket.write('a\r\n is unpaid\r\n'))
      })
    })
    const error = await failureOf(routeOver('http', port.port))
    expect(error.message).toContain('"Your plan is unpaid"')
  })

  it('do not count if they are those of the target', async () => {
    await using port = await startPort(socket => {
      socket.once('data', () => socket.end('HTTP/1.1 403 No\r\n\r\nno way to quota.billing.test:9243'))
    })
    const route = routeOver('http', port.port, { target: new URL('https://quota.billing.test:9243') })
    expect((await failureOf(route)).failure.code).toBe('PROXY_DENIED_TARGET')
  })
})

describe('a forwarded request that the proxy answers itself', () => {
  const target = new URL('http://cluster.test:9200')

  it('is a refusal of the credentials', async () => {
    await using proxy = await startHttpProxy({ username: 'user', password: 'another' })
    await using route = routeOver('http', proxy.port, { target })
    const answer = await route.request({ method: 'POST', path: '/_bulk', headers: {}, body: 'body' })
    await answer.body.bytes()
    expect(answer.statusCode).toBe(407)
    expect(proxyRefusal(answer, route)?.code).toBe('PROXY_AUTH_REJECTED')
  })

  it('is a target that the proxy cannot reach', async () => {
    await using proxy = await startHttpProxy({ username: 'user', password: secret })
    await using route = routeOver('http', proxy.port, { target: new URL(`http://cluster.test:${await closedPort()}`) })
    const answer = await route.request({ method: 'GET', path: '/', headers: {} })
    await answer.body.bytes()
    expect(proxyRefusal(answer, route)).toMatchObject({
      code: 'PROXY_TARGET_UNREACHABLE',
      evidence: { observed: 'status 503, ERR_CONNECT_FAIL 111' },
    })
  })

  it('without reading the body, as Squid does, is not asked again over the same connection', async () => {
    await using port = await startPort(socket => {
      socket.once('data', () => {
        socket.pause()
        socket.write(
          'HTTP/1.1 407 Proxy Authentication Required\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nno',
        )
      })
    })
    await using route = routeOver('http', port.port, { target, connections: 1 })
    for (let n = 1; n <= 3; n++) {
      const answer = await route.request({ method: 'POST', path: '/_bulk', headers: {}, body: 'x'.repeat(100_000) })
      await answer.body.bytes()
      expect(port.connections).toBe(n)
    }
  })

  const route = { proxy: 'http://proxy:9293', target, form: 'forward' } as const
  it.each([
    [403, { 'x-squid-error': 'ERR_ACCESS_DENIED 0' }, 'PROXY_DENIED_TARGET'],
    [403, { server: 'squid/5.7' }, 'PROXY_DENIED_TARGET'],
    [401, { server: 'tinyproxy/1.11.1' }, 'PROXY_AUTH_REJECTED'],
    [502, { 'proxy-status': 'edge; error=dns_error' }, 'PROXY_TARGET_UNREACHABLE'],
    [502, { 'proxy-status': 'edge; received-status=502' }, undefined],
    [403, { server: 'squid/5.7', 'x-cloud-request-id': 'abc' }, undefined],
    [403, { via: '1.1 squid', 'x-cache': 'MISS from squid', server: 'nginx' }, undefined],
    [401, { 'x-elastic-product': 'Elasticsearch' }, undefined],
    [200, { server: 'squid/5.7' }, undefined],
  ])('%i with %o is %s', (statusCode, headers, code) => {
    expect(proxyRefusal({ statusCode, headers }, route)?.code).toBe(code)
    expect(proxyRefusal({ statusCode, headers }, { ...route, form: 'tunnel' })).toBeUndefined()
  })
})

describe('a connection that breaks', () => {
  const withTunnel = async (
    accept: Parameters<typeof startPort>[0],
    tls?: Certificate,
  ): Promise<{ target: Running; proxy: Running; route: Route }> => {
    const target = await startPort(accept, tls)
    const proxy = await startHttpProxy({ username: 'user', password: secret })
    const protocol = tls === undefined ? 'http' : 'https'
    return {
      target,
      proxy,
      route: routeOver('http', proxy.port, { target: new URL(`${protocol}://cluster.test:${target.port}`) }),
    }
  }

  it('after the request left is of unknown outcome', async () => {
    const { target, proxy, route } = await withTunnel(
      socket => void socket.once('data', () => socket.destroy()),
      certificate,
    )
    await using _target = target
    await using _proxy = proxy
    const error: unknown = await route
      .request({ method: 'POST', path: '/', headers: {}, body: 'body' })
      .catch((cause: unknown) => cause)
    expect(error).toMatchObject({ phase: 'exchange', delivery: 'possible', failure: { code: 'CLUSTER_UNAVAILABLE' } })
    expect(target.connections).toBe(1)
    await route.destroy()
  })

  it('in the middle of the answer is of unknown outcome, and the reader of the body gets the error', async () => {
    const { target, proxy, route } = await withTunnel(
      socket => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')),
      certificate,
    )
    await using _target = target
    await using _proxy = proxy
    const answer = await route.request({ method: 'POST', path: '/', headers: {}, body: 'body' })
    await expect(answer.body.bytes()).rejects.toMatchObject({ phase: 'exchange', delivery: 'possible' })
    await route.destroy()
  })

  it('direct and refused has reached no server', async () => {
    const route = openRoute({ target: new URL(`http://127.0.0.1:${await closedPort()}`), connections: 1 })
    expect(facts(await failureOf(route))).toEqual({
      code: 'ECONNREFUSED',
      phase: 'target-connect',
      delivery: 'none',
      failure: 'CLUSTER_UNAVAILABLE',
    })
  })
})
