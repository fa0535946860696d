import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type ProxyScheme, parseProxyUrl } from '../../../../src/route/proxy/proxy-url.js'
import type { RouteResponse } from '../../../../src/route/proxy/route-request.js'
import { type RouteOptions, openRoute } from '../../../../src/route/proxy/route.js'
import { type Authority, type Certificate, createAuthority } from '../../../support/servers/proxy-certificates.js'
import { type Proxy, startHttpProxy, startSocksProxy, startTarget } from '../../../support/servers/proxy-servers.js'

let authority: Authority
let certificate: Certificate
beforeAll(async () => {
  authority = await createAuthority('Sluice test CA')
  certificate = await authority.issue(['localhost', '127.0.0.1', 'cluster.test', 'proxy.test'])
})

const username = 'user@example.com'
const password = 'p@ss:/#?%é w'

function startProxy(scheme: ProxyScheme): Promise<Proxy> {
  const tls = scheme === 'https' || scheme === 'socks5s' ? { tls: certificate } : {}
  return scheme.startsWith('socks')
    ? startSocksProxy({ username, password, ...tls })
    : startHttpProxy({ username, password, ...tls })
}

function proxyUrl(scheme: ProxyScheme, port: number): RouteOptions['proxy'] & object {
  const userinfo = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`
  return parseProxyUrl(`${scheme}://${userinfo}@127.0.0.1:${port}`, 'the test')
}

const schemes = ['http', 'https', 'socks5', 'socks5s'] as const
const combinations = schemes.flatMap(scheme => (['http', 'https'] as const).map(protocol => ({ scheme, protocol })))

describe.each(combinations)('an $protocol target over a $scheme proxy', ({ scheme, protocol }) => {
  it(
    'gets a POST body and answers, with every connection through the proxy and one tunnel per concurrent request',
    { tags: 'long' },
    async () => {
      await using target = await startTarget(protocol === 'https' ? { tls: certificate } : {})
      await using proxy = await startProxy(scheme)
      const url = new URL(`${protocol}://cluster.test:${target.port}`)
      await using route = openRoute({
        target: url,
        proxy: proxyUrl(scheme, proxy.port),
        connections: 8,
        targetTls: { ca: authority.cert },
        proxyTls: { ca: authority.cert },
      })
      const forward = protocol === 'http' && !scheme.startsWith('socks')
      expect(route.form).toBe(forward ? 'forward' : 'tunnel')

      const body = 'x'.repeat(300_000)
      const worker = async (): Promise<void> => {
        for (let n = 0; n < 10; n++) {
          const answer = await route.request({
            method: 'POST',
            path: '/_bulk?n=1',
            headers: { 'content-type': 'text/plain' },
            body,
          })
          expect(answer.statusCode).toBe(200)
          expect(JSON.parse(await answer.body.text())).toEqual({ method: 'POST', url: '/_bulk?n=1', body })
        }
      }
      await Promise.all([worker(), worker(), worker()])

      expect(proxy.connections).toBe(3)
      expect(route.traffic.connections).toBe(3)
      if (forward) expect(proxy.asked).toEqual(Array.from({ length: 30 }, () => `${url.origin}/_bulk?n=1`))
      else expect(proxy.asked).toEqual(Array.from({ length: 3 }, () => `cluster.test:${target.port}`))
      expect(target.requests.length).toBe(30)
      expect(target.requests.every(request => request.headers.host === url.host)).toBe(true)
      expect(target.requests.every(request => request.headers['proxy-authorization'] === undefined)).toBe(true)
      expect(route.traffic.bytesSent).toBeGreaterThan(30 * 300_000)
      expect(route.traffic.bytesSent).toBeLessThan(30 * 310_000)
      expect(route.traffic.bytesReceived).toBeGreaterThan(30 * 300_000)
      await route.close()
      expect(route.traffic.bytesSent).toBeGreaterThan(30 * 300_000)
    },
  )

  it('uses a connection that was kept for the first request of the pool', async () => {
    await using target = await startTarget(protocol === 'https' ? { tls: certificate } : {})
    await using proxy = await startProxy(scheme)
    await using route = openRoute({
      target: new URL(`${protocol}://cluster.test:${target.port}`),
      proxy: proxyUrl(scheme, proxy.port),
      connections: 2,
      targetTls: { ca: authority.cert },
      proxyTls: { ca: authority.cert },
    })
    const asked = { method: 'GET', path: '/', headers: {} }
    const read = async (answer: Promise<RouteResponse>) => await (await answer).body.text()
    await read(route.onceAndKeep(asked))
    await read(route.request(asked))
    expect(proxy.connections).toBe(1)
    await Promise.all([read(route.request(asked)), read(route.request(asked))])
    expect(proxy.connections).toBe(2)
  })

  it('does not use a connection that was kept for longer than 3 s', async () => {
    await using target = await startTarget(protocol === 'https' ? { tls: certificate } : {})
    await using proxy = await startProxy(scheme)
    await using route = openRoute({
      target: new URL(`${protocol}://cluster.test:${target.port}`),
      proxy: proxyUrl(scheme, proxy.port),
      connections: 1,
      targetTls: { ca: authority.cert },
      proxyTls: { ca: authority.cert },
    })
    const asked = { method: 'GET', path: '/', headers: {} }
    const read = async (answer: Promise<RouteResponse>) => await (await answer).body.text()
    await read(route.onceAndKeep(asked))
    const now = performance.now()
    using _ = vi.spyOn(performance, 'now').mockReturnValue(now + 3_001)
    await read(route.request(asked))
    expect(proxy.connections).toBe(2)
  })

  it('closes a connection that was kept', async () => {
    await using target = await startTarget(protocol === 'https' ? { tls: certificate } : {})
    await using proxy = await startProxy(scheme)
    await using route = openRoute({
      target: new URL(`${protocol}://cluster.test:${target.port}`),
      proxy: proxyUrl(scheme, proxy.port),
      connections: 1,
      targetTls: { ca: authority.cert },
      proxyTls: { ca: authority.cert },
    })
    const asked = { method: 'GET', path: '/', headers: {} }
    const read = async (answer: Promise<RouteResponse>) => await (await answer).body.text()
    await read(route.onceAndKeep(asked))
    route.closeSpare()
    await read(route.request(asked))
    expect(proxy.connections).toBe(2)
  })

  it('takes other credentials for the proxy while it is open', async () => {
    await using target = await startTarget(protocol === 'https' ? { tls: certificate } : {})
    await using proxy = await startProxy(scheme)
    const right = proxyUrl(scheme, proxy.port)
    await using route = openRoute({
      target: new URL(`${protocol}://cluster.test:${target.port}`),
      proxy: { ...right, password: 'rotated away' },
      connections: 1,
      targetTls: { ca: authority.cert },
      proxyTls: { ca: authority.cert },
    })
    const statuses = async () => {
      const asked = { method: 'GET', path: '/', headers: {} }
      const answers = [await route.request(asked), await route.once(asked)]
      for (const { body } of answers) await body.text()
      return answers.map(({ statusCode }) => statusCode)
    }
    if (route.form === 'forward') expect(await statuses()).toEqual([407, 407])
    else await expect(statuses()).rejects.toMatchObject({ failure: { code: 'PROXY_AUTH_REJECTED' } })
    route.renewProxy(right)
    expect(await statuses()).toEqual([200, 200])
  })
})
