import { createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { ingest } from '../../src/index.js'
import { allPairs, clusterSchemes, documents, failureOf, newIndex, proxyKinds, through } from './options.js'
import type { Registered, World } from './world.js'

const cases: readonly [Registered, string][] = [
  ['first', 'EGRESS_PARTLY_ALLOWED'],
  ['second', 'EGRESS_PARTLY_ALLOWED'],
  ['none', 'EGRESS_NOT_ALLOWED'],
]

/** Sluice names the refusing side before it sends the first document. */
export function describeRefusals(world: () => World, pairs = allPairs): void {
  describe('refusals', () => {
    afterEach(async () => await world().register('both'))

    for (const [registered, code] of cases) {
      for (const [kind, scheme] of pairs) {
        test(`with ${registered} of the addresses registered, ${kind} to ${scheme} stops with ${code}`, async () => {
          await world().register(registered)
          const index = newIndex()
          const run = ingest({ ...through(world(), world().proxy[kind], scheme), source: documents(10), index })
          expect((await failureOf(run)).code).toBe(code)
          expect(await world().count(index)).toBe(0)
        })
      }
    }

    test('one of two addresses is found ten times out of ten', async () => {
      await world().register('second')
      const codes: string[] = []
      for (let round = 0; round < 10; round += 1) {
        const run = ingest({ ...through(world(), world().proxy.http), source: documents(1), index: newIndex() })
        codes.push((await failureOf(run)).code)
      }
      expect(codes).toEqual(Array.from({ length: 10 }, () => 'EGRESS_PARTLY_ALLOWED'))
    })

    test('a single node whose address is registered passes, the other is refused', async () => {
      await world().register('first')
      const [first, second] = world().proxy.nodes
      const receipt = await ingest({ ...through(world(), first), source: documents(3), index: newIndex() })
      expect(receipt.created).toBe(3)
      const refused = await failureOf(ingest({ ...through(world(), second), source: documents(3), index: newIndex() }))
      expect(refused.code).toBe('EGRESS_NOT_ALLOWED')
    })

    test('without the proxy the filter refuses', async () => {
      const options = through(world(), world().proxy.http)
      const run = ingest({ ...options, proxy: { direct: true }, source: documents(1), index: newIndex() })
      expect((await failureOf(run)).code).toBe('EGRESS_NOT_ALLOWED')
    })

    test('a proxy that is meant to be used is named before the filter', async () => {
      const { target, deadLetters } = through(world(), world().proxy.http)
      const load = { target, deadLetters, source: documents(1), index: newIndex() }
      const pair = await failureOf(ingest({ ...load, staticIps: world().staticIps }))
      expect(pair.code).toBe('PROXY_NOT_USED')
      const noProxy = new URL(target.url).hostname
      const skipped = await failureOf(ingest({ ...load, proxy: { environmentProxy: world().proxy.http, noProxy } }))
      expect(skipped.code).toBe('PROXY_NOT_USED')
      expect((await failureOf(ingest(load))).code).toBe('EGRESS_NOT_ALLOWED')
    })

    for (const kind of proxyKinds) {
      test(`a wrong proxy password over ${kind} is the proxy's refusal`, async () => {
        for (const scheme of clusterSchemes) {
          const url = new URL(world().proxy[kind])
          url.password = 'wrong'
          const options = { ...through(world(), url.href, scheme), source: documents(1), index: newIndex() }
          expect((await failureOf(ingest(options))).code).toBe('PROXY_AUTH_REJECTED')
          const checked = ingest({ ...options, ipCheckUrl: world().ipCheckUrl })
          expect((await failureOf(checked)).code).toBe('PROXY_AUTH_REJECTED')
        }
      })

      test(`a cluster that is not there is named behind ${kind}`, async () => {
        const port = await closedPort()
        const options = through(world(), world().proxy[kind])
        const target = { ...options.target, url: `https://127.0.0.1:${port}` }
        const run = ingest({ ...options, target, source: documents(1), index: newIndex(), maxElapsedMs: 0 })
        expect((await failureOf(run)).code).toBe('PROXY_TARGET_UNREACHABLE')
      })
    }

    test('a proxy that is not there is unreachable', async () => {
      const url = `http://user:pass@127.0.0.1:${await closedPort()}`
      const way = through(world(), url)
      const run = ingest({ ...way, source: documents(1), index: newIndex(), maxElapsedMs: 0 })
      expect((await failureOf(run)).code).toBe('PROXY_UNREACHABLE')
    })

    test('a scheme that is not the port’s is named', async () => {
      const { proxy } = world()
      const swap = (url: string, scheme: string) => url.replace(/^\w+:/, `${scheme}:`)
      const seen: Record<string, string> = {}
      for (const [name, url] of Object.entries({
        'http at the SOCKS port': swap(proxy.socks5, 'http'),
        'https at the HTTP port': swap(proxy.http, 'https'),
        'http at the TLS port': swap(proxy.https, 'http'),
      })) {
        const run = ingest({ ...through(world(), url), source: documents(1), index: newIndex() })
        seen[name] = (await failureOf(run)).code
      }
      expect(seen).toEqual({
        'http at the SOCKS port': 'PROXY_PORT_IS_SOCKS',
        'https at the HTTP port': 'PROXY_TLS_MISMATCH',
        'http at the TLS port': 'PROXY_TLS_MISMATCH',
      })
    })

    test('wrong cluster credentials are the cluster’s refusal', async () => {
      const options = through(world(), world().proxy.http)
      const apiKey = Buffer.from('no-such-id:no-such-key').toString('base64')
      const key = ingest({ ...options, target: { ...options.target, apiKey }, source: documents(1), index: newIndex() })
      expect((await failureOf(key)).code).toBe('CLUSTER_AUTH_REJECTED')
      const { url, ca } = options.target
      const basic = { url, ca, username: world().cluster.username, password: 'wrong' }
      const password = ingest({ ...options, target: basic, source: documents(1), index: newIndex() })
      expect((await failureOf(password)).code).toBe('CLUSTER_AUTH_REJECTED')
    })

    test('a certificate that nobody vouches for is named, the cluster’s and the proxy’s', async () => {
      const { url, apiKey } = through(world(), world().proxy.http).target
      const cluster = ingest({
        target: { url, apiKey },
        proxy: world().proxy.http,
        source: documents(1),
        index: newIndex(),
      })
      expect((await failureOf(cluster)).code).toBe('CLUSTER_CERT_INVALID')
      const options = through(world(), world().proxy.https)
      const proxy = ingest({ ...options, proxy: world().proxy.https, source: documents(1), index: newIndex() })
      expect((await failureOf(proxy)).code).toBe('PROXY_CERT_INVALID')
    })

    test('a key that may only write loads, and the version stays unknown', async () => {
      const options = through(world(), world().proxy.http)
      const target = { ...options.target, apiKey: world().cluster.leastPrivilegeApiKey }
      const index = newIndex('least')
      const receipt = await ingest({ ...options, target, source: documents(20), index })
      expect(receipt).toMatchObject({ created: 20, status: 'finished' })
      expect(receipt.cluster.version).toBeUndefined()
      const elsewhere = await failureOf(ingest({ ...options, target, source: documents(20), index: newIndex('other') }))
      expect(elsewhere.code).toBe('CLUSTER_PRIVILEGE_MISSING')
      expect(elsewhere.receipt).toMatchObject({ read: 20, unsent: 20, created: 0 })
    })

    test('basic credentials load as well as an API key does', async () => {
      const options = through(world(), world().proxy.http)
      const { username, password } = world().cluster
      const { url, ca } = options.target
      const receipt = await ingest({
        ...options,
        target: { url, ca, username, password },
        source: documents(5),
        index: newIndex(),
      })
      expect(receipt.created).toBe(5)
    })
  })
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
