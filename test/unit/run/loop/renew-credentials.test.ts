import { describe, expect, test } from 'vitest'
import { type Cluster, openCluster } from '../../../../src/route/cluster/open-cluster.js'
import type { FreshCredentials, IngestOptions } from '../../../../src/index.js'
import { loadOf, proxySection } from '../../../../src/options/read-options.js'
import { resolveTarget } from '../../../../src/route/connect/open-target.js'
import { renewCredentials } from '../../../../src/run/loop/access-options.js'
import { startHttpProxy, startTarget } from '../../../support/servers/proxy-servers.js'

const url = 'https://cluster.example'
const proxy = 'http://user:old@proxy.example:9293'

type Renewal = Parameters<Cluster['renew']>[0]

/** What the cluster is given, and what is said of it. */
async function renewed(
  refreshCredentials: IngestOptions['refreshCredentials'],
  given: Pick<IngestOptions, 'target' | 'proxy'> = { target: { url, username: 'u', password: 'old' }, proxy },
): Promise<{ problem: string | undefined; renewals: Renewal[] }> {
  const renewals: Renewal[] = []
  const way = resolveTarget({ target: given.target, proxy: proxySection(given.proxy) })
  const problem = await renewCredentials(
    loadOf({ source: [], ...given, refreshCredentials }, { from: 'run' }).retrying,
    way,
    {
      renew: access => void renewals.push(access),
    },
  )
  return { problem, renewals }
}

const gives = (fresh: FreshCredentials) => async () => await renewed(() => fresh)

describe('new credentials', () => {
  test('are those that were given; the rest stays', async () => {
    expect(await gives({ password: 'new' })()).toEqual({
      problem: undefined,
      renewals: [{ credentials: { username: 'u', password: 'new' } }],
    })
    expect((await gives({ apiKey: 'bmV3' })()).renewals).toEqual([{ credentials: { apiKey: 'bmV3' } }])
    const both = await gives({ username: 'v', password: 'new', proxy: 'http://user:new@proxy.example:9293' })()
    expect(both).toMatchObject({
      problem: undefined,
      renewals: [{ credentials: { username: 'v', password: 'new' }, proxy: { username: 'user', password: 'new' } }],
    })
    expect((await gives({})()).renewals).toEqual([{}])
    expect(await renewed(undefined)).toEqual({ problem: undefined, renewals: [] })
  })

  test('are none for a proxy that was not there, and none with another address', async () => {
    const direct = await renewed(() => ({ proxy, apiKey: 'bmV3' }), { target: { url } })
    expect(direct).toEqual({ problem: undefined, renewals: [{ credentials: { apiKey: 'bmV3' } }] })
    const { problem, renewals } = await gives({ password: 'new', proxy: 'http://user:new@other.example:9293' })()
    expect(problem).toBe('only the credentials of a proxy may change during a run, not its address')
    expect(renewals).toEqual([{ credentials: { username: 'u', password: 'new' } }])
  })

  test('that cannot be used, or had, leave the old ones, and no secret in what is said', async () => {
    const wrong: [() => FreshCredentials, string][] = [
      [() => ({ password: 'hunter2\n' }), 'password: contains a line break'],
      [() => ({ proxy: 'http://user:hunter2@x' }), 'the proxy URL from refreshCredentials() has no port'],
      [() => ({ key: 'hunter2' }) as FreshCredentials, 'key: is not an option'],
      [
        () => {
          throw new TypeError('hunter2')
        },
        'refreshCredentials failed',
      ],
    ]
    for (const [refresh, said] of wrong) {
      const { problem, renewals } = await renewed(refresh)
      expect(problem).toContain('no new credentials: ')
      expect(problem).toContain(said)
      expect(problem).not.toContain('hunter2')
      expect(renewals).toEqual([])
    }
  })
})

test('a cluster takes them from the next request on, over connections that stand, and never in clear text', async () => {
  await using target = await startTarget({
    answer: (request, response) => {
      response.setHeader('x-elastic-product', 'Elasticsearch').setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ version: { number: '9.4.3' }, shown: request.headers.authorization }))
    },
  })
  const shown = () => target.requests.map(({ headers }) => headers.authorization)
  const near = { url: new URL(`http://127.0.0.1:${target.port}`), connections: 1, timeoutMs: 5000 }
  const cluster = await openCluster({ ...near, credentials: { apiKey: 'b2xk' }, preflightConnections: 1 })
  try {
    await cluster.client.info()
    cluster.renew({ credentials: { username: 'u', password: 'p' } })
    await cluster.client.info()
    await cluster.probe()
    await cluster.client.info({}, { headers: { authorization: 'Bearer mine' } })
    const basic = `Basic ${Buffer.from('u:p').toString('base64')}`
    expect(shown()).toEqual(['ApiKey b2xk', 'ApiKey b2xk', basic, basic, 'Bearer mine'])
    // The client uses the connection of the first probe. The second probe opened one of its own.
    expect(target.connections).toBe(2)
  } finally {
    await cluster.route.destroy()
  }

  await using proxied = await startHttpProxy()
  const far = await openCluster({
    ...near,
    url: new URL(`http://cluster.test:${target.port}`),
    proxy: { scheme: 'http', host: '127.0.0.1', port: proxied.port, display: 'http://127.0.0.1' },
    preflightConnections: 1,
  })
  try {
    expect(() => far.renew({ credentials: { apiKey: 'bmV3' } })).toThrow('over plain http')
  } finally {
    await far.route.destroy()
  }
})
