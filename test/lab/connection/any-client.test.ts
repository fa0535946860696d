/** Official clients of several versions over `connectionThrough`: errors, answers, and that nothing leaves beside the proxy. */
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { inspect } from 'node:util'
import type * as own from '@elastic/elasticsearch'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectionThrough, isSluiceError, type ThroughOptions } from '../../../src/connection.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { closedPort, startTarget } from '../../support/servers/proxy-servers.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
beforeEach(() => lab.control.forgetConnections())
afterEach(() => {
  lab.control.heal()
  lab.control.register('both')
})

// The types of their clients differ, but each test uses only what all have. Each takes a second to load.
const versions: readonly { version: string; load: () => Promise<unknown>; tags: 'long'[] }[] = [
  { version: '8.19', load: async () => await import('elasticsearch-8'), tags: [] },
  { version: '9.4', load: async () => await import('@elastic/elasticsearch'), tags: ['long'] },
  { version: '9.5', load: async () => await import('elasticsearch-9'), tags: ['long'] },
]

const proxies = ['http', 'https', 'socks5', 'socks5s'] as const
const proxyOf = (name: (typeof proxies)[number]) => ({
  url: lab.line.proxy[name],
  ca: readFileSync(lab.line.proxyCaFile),
})

for (const { version, load, tags } of versions)
  describe(`client ${version}`, { tags }, () => {
    let Client: typeof own.Client
    let errors: typeof own.errors
    beforeAll(async () => {
      const module = (await load()) as typeof own
      Client = module.Client
      errors = module.errors
    })
    const open = (
      more: Partial<ConstructorParameters<typeof own.Client>[0]> = {},
      options: Partial<ThroughOptions> = {},
    ) => {
      const { url, apiKey, caFile } = lab.line.cluster
      const Connection = connectionThrough({ proxy: lab.line.proxy.http, ...options })
      const tls = { ca: readFileSync(caFile) }
      return new Client({ node: url, auth: { apiKey }, tls, maxRetries: 0, Connection, ...more })
    }
    const failing = async (asking: Promise<unknown>) => {
      const error: unknown = await asking.then(
        () => expect.unreachable('the request must fail'),
        (thrown: unknown) => thrown,
      )
      if (!(error instanceof Error)) throw new Error('no error')
      return { error, message: error.message, code: isSluiceError(error.cause) ? error.cause.code : undefined }
    }

    test.each(proxies)('writes and reads through %s, and connects only through the proxy', async name => {
      const client = open({}, { proxy: proxyOf(name) })
      await client.index({ index: 'any', id: '1', document: { text: name }, refresh: true })
      const { _source } = await client.get<{ text: string }>({ index: 'any', id: '1' })
      expect(_source?.text).toBe(name)
      await client.close()
      const connections = lab.control.connections()
      expect(connections.filter(({ at }) => at === 'proxy')).toMatchObject([{ port: name }])
      const atCluster = connections.filter(({ at }) => at === 'cluster')
      expect(atCluster).toHaveLength(1)
      if (lab.line.egress === 'loopback') expect(lab.line.staticIps).toContain(atCluster[0]?.from)
    })

    test('names a refused login at the proxy, and repeats no secret', async () => {
      const proxy = new URL(lab.line.proxy.http)
      proxy.password = 'wrong-secret'
      const client = open({}, { proxy })
      const { error, message, code } = await failing(client.info())
      expect(error).toBeInstanceOf(errors.ConnectionError)
      expect(message).toMatch(
        /^PROXY_AUTH_REJECTED: the proxy .* refused the credentials .*\. Copy the whole proxy URL/,
      )
      expect(code).toBe('PROXY_AUTH_REJECTED')
      expect(inspect(error, { depth: 9 })).not.toContain('wrong-secret')
      expect(lab.control.connections().filter(({ at }) => at === 'cluster')).toEqual([])
    })

    test('refuses settings that would bypass the proxy, or that it cannot keep', async () => {
      const { url } = lab.line.cluster
      const Connection = connectionThrough({ proxy: lab.line.proxy.http })
      const given = { node: url, Connection, maxRetries: 0 }
      expect(() => new Client({ ...given, proxy: lab.line.proxy.http })).toThrow(/^proxy: of the client/)
      expect(() => new Client({ ...given, agent: () => undefined })).toThrow(/^agent: of the client/)
      expect(() => new Client({ ...given, tls: { ciphers: 'x' } })).toThrow(/^tls\.ciphers: is not known/)
      for (const proxy of [undefined, {}]) expect(() => connectionThrough({ proxy })).toThrow(/no proxy/)
      expect(() => connectionThrough({ proxy: 'not a url' })).toThrow(/^the proxy URL from proxy /)
      const around = { url: lab.line.proxy.http, direct: true, noProxy: '*' }
      expect((await failing(open({}, { proxy: around }).info())).code).toBe('PROXY_NOT_USED')
      const plain = { node: 'http://cluster.example', tls: {}, auth: { apiKey: 'a' } }
      expect((await failing(open(plain).info())).code).toBe('PLAINTEXT_CREDENTIALS')
      expect(lab.control.connections()).toEqual([])
    })

    test('names the IP filter', async () => {
      lab.control.register('none')
      const { error, message, code } = await failing(open().count())
      expect(error).toBeInstanceOf(errors.ConnectionError)
      expect(message).toMatch(/^EGRESS_NOT_ALLOWED: .*add both static addresses/)
      expect(code).toBe('EGRESS_NOT_ALLOWED')
    })

    test('names a proxy that is not there', async () => {
      const proxy = `http://user:secret@127.0.0.1:${await closedPort()}`
      const { error, code } = await failing(open({}, { proxy }).info())
      expect(error).toBeInstanceOf(errors.ConnectionError)
      expect(code).toBe('PROXY_UNREACHABLE')
      expect(lab.control.connections()).toEqual([])
    })

    test('does not read the 404 of a gateway as a missing index', async () => {
      lab.control.plant({ edge: 'unknown-resource' })
      const client = open()
      expect((await failing(client.indices.exists({ index: 'any' }))).code).toBe('GATEWAY_REFUSED')
      expect((await failing(client.search({ index: 'any' }, { ignore: [404] }))).code).toBe('CLUSTER_UNKNOWN_HOST')
      lab.control.heal()
      expect(await client.indices.exists({ index: 'not-there' })).toBe(false)
    })

    test('leaves the errors of Elasticsearch as they are', async () => {
      const { error, code } = await failing(open().get({ index: 'any', id: 'not-there' }))
      expect(error).toBeInstanceOf(errors.ResponseError)
      expect(code).toBeUndefined()
      const refused = await failing(open({ auth: { apiKey: 'bm90OnRoZSBrZXk=' } }).count())
      expect(refused.error).toBeInstanceOf(errors.ResponseError)
      expect(refused.error).toMatchObject({ statusCode: 401 })
    })

    test('aborts and times out as the client does', async () => {
      lab.control.plant({ hold: { every: 1 } })
      const client = open()
      const operations = [{ create: { _index: 'any' } }, { a: 1 }]
      const aborting = new AbortController()
      const asking = client.bulk({ operations }, { signal: aborting.signal })
      aborting.abort()
      expect((await failing(asking)).error).toBeInstanceOf(errors.RequestAbortedError)
      const late = await failing(client.bulk({ operations }, { requestTimeout: 50 }))
      expect(late.error).toBeInstanceOf(errors.TimeoutError)
      // It may pass while the connection is built.
      expect(late.code).toMatch(/_TIMEOUT$/)
    })

    test('streams answers, and reads compressed ones', async () => {
      const client = open()
      const stream = await client.info({}, { asStream: true })
      expect(JSON.parse(await text(stream as unknown as AsyncIterable<Uint8Array>))).toHaveProperty('version')
      const { headers } = await client.info({}, { headers: { 'accept-encoding': 'gzip' }, meta: true })
      expect(headers['content-encoding']).toBe('gzip')
      expect((await open({ compression: true }).info()).version).toBeDefined()
    })

    test('one class for two clients shares their connections, and the last one closes them', async () => {
      const Connection = connectionThrough({ proxy: lab.line.proxy.http })
      const [first, second] = [open({ Connection }), open({ Connection })]
      await first.info()
      await first.close()
      await second.info()
      await Promise.all(Array.from({ length: 3 }, async () => await second.info()))
      expect((await failing(first.info())).error).toBeInstanceOf(errors.NoLivingConnectionsError)
      const third = open({ Connection })
      await third.info()
      await second.close()
      await third.info()
      await third.close()
      expect(lab.control.connections().filter(({ at }) => at === 'cluster').length).toBeLessThanOrEqual(4)
    })

    test('nodes that the client finds are reached through the proxy only', async () => {
      const from: (string | undefined)[] = []
      let found = {}
      const start = async () =>
        await startTarget({
          answer: ({ socket }, response) => {
            from.push(socket.remoteAddress)
            response.setHeader('x-elastic-product', 'Elasticsearch')
            response.setHeader('content-type', 'application/json')
            response.end(JSON.stringify({ nodes: found }))
          },
        })
      await using first = await start()
      await using second = await start()
      const nodes = [first, second].map(({ port }, n) => [`n${n}`, { http: { publish_address: `127.0.0.1:${port}` } }])
      found = Object.fromEntries(nodes)
      const client = new Client({
        node: `http://127.0.0.1:${first.port}`,
        sniffOnStart: true,
        maxRetries: 0,
        Connection: connectionThrough({ proxy: lab.line.proxy.http }),
      })
      await new Promise(resolve => client.diagnostic.once('sniff', resolve))
      await client.info()
      await client.info()
      expect([first, second].map(({ requests }) => requests.length > 0)).toEqual([true, true])
      if (lab.line.egress === 'loopback') expect(lab.line.staticIps).toEqual(expect.arrayContaining(from))
      expect(lab.control.connections().filter(({ at }) => at === 'proxy').length).toBeGreaterThan(0)
      await client.close()
    })
  })
