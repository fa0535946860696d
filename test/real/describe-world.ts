import { connect } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { RealWorld } from '../contracts/real-world.js'
import type { Registered } from '../contracts/world.js'
import { type Answer, type Ask, ask } from './raw-client.js'
import { refusals } from './servers/ip-filter.js'

const proxyKinds = ['http', 'https', 'socks5', 'socks5s'] as const
const schemes = ['http', 'https'] as const

/** Connections in a sample; that all of them take the same one of two addresses happens once in 8 million times. */
const many = 24

/** What every contract suite relies on, shown with a client that has nothing in common with Sluice. */
export function describeWorld(world: () => RealWorld): void {
  const clusterUrl = (scheme: 'http' | 'https'): string =>
    scheme === 'https' ? world().cluster.url : world().cluster.httpUrl
  const askCluster = (scheme: 'http' | 'https', path: string, options: Ask & { apiKey?: string }): Promise<Answer> =>
    ask(`${clusterUrl(scheme)}${path}`, {
      ...options,
      headers: {
        authorization: `ApiKey ${options.apiKey ?? world().cluster.apiKey}`,
        'content-type': 'application/json',
      },
      caFile: world().cluster.caFile,
      proxyCaFile: world().proxyCaFile,
    })
  const registered = async (which: Registered, test: () => Promise<void>): Promise<void> => {
    await world().register(which)
    try {
      await test()
    } finally {
      await world().register('both')
    }
  }

  describe.each(proxyKinds)('a proxy for %s', kind => {
    it.each(schemes)('carries requests to the cluster over %s, which sees both static addresses', async scheme => {
      await world().forget()
      const answers = await repeat(many, () => askCluster(scheme, '/', { via: world().proxy[kind] }))
      expect(statuses(answers)).toEqual(Array(many).fill(200))
      const seen = await world().connections()
      expect(seen).toHaveLength(many)
      expect(new Set(seen.map(connection => connection.from))).toEqual(new Set(world().staticIps))
      expect(seen.map(({ port, requests }) => ({ port, requests }))).toEqual(
        Array(many).fill({ port: scheme, requests: 1 }),
      )
    })

    it('shows both static addresses to the IP check', async () => {
      const { proxy, proxyCaFile, ipCheckUrl, staticIps } = world()
      const answers = await repeat(many, () => ask(ipCheckUrl, { via: proxy[kind], proxyCaFile }))
      const addresses = answers.map(answer => JSON.parse(answer.text) as unknown)
      expect(new Set(addresses.map(found => JSON.stringify(found)))).toEqual(
        new Set(staticIps.map(ip => JSON.stringify({ ip }))),
      )
    })

    it('refuses a wrong password', async () => {
      const { proxy, proxyCaFile, ipCheckUrl } = world()
      const wrong = new URL(proxy[kind])
      wrong.password = 'wrong'
      const answer = ask(ipCheckUrl, { via: wrong.href, proxyCaFile }).catch((error: Error) => error.message)
      expect(await answer).toEqual(
        kind.startsWith('socks5')
          ? 'SOCKS5 credentials refused: 0102'
          : { status: 407, text: expect.stringContaining('ERR_CACHE_ACCESS_DENIED') },
      )
    })
  })

  it('refuses CONNECT with a wrong password by 407', async () => {
    const wrong = new URL(world().proxy.http)
    wrong.password = 'wrong'
    await world().forget()
    expect((await askCluster('https', '/', { via: wrong.href })).status).toBe(407)
    expect(await world().connections()).toEqual([])
  })

  it('gives each node one address', async () => {
    for (const [node, ip] of world().staticIps.entries()) {
      const via = String(world().proxy.nodes[node])
      const answers = await repeat(6, () => ask(world().ipCheckUrl, { via }))
      expect(answers.map(answer => answer.text)).toEqual(Array(6).fill(JSON.stringify({ ip })))
    }
  })

  it.each(schemes)('lets exactly the connections from the one registered address through, over %s', async scheme => {
    await registered('first', async () => {
      await world().forget()
      const answers = await repeat(many, () => askCluster(scheme, '/', { via: world().proxy.http }))
      const refused = answers.filter(answer => answer.status === 403)
      expect(new Set(refused.map(answer => answer.text))).toEqual(new Set([refusals.long]))
      const allowed = (await world().connections()).filter(connection => connection.from === world().staticIps[0])
      expect(statuses(answers).filter(status => status === 200)).toHaveLength(allowed.length)
      expect(refused).toHaveLength(many - allowed.length)
    })
  })

  it('refuses everything when no address is registered, with either of the two bodies', async () => {
    await registered('none', async () => {
      for (const body of ['short', 'long'] as const) {
        await world().refuseWith(body)
        const answers = await repeat(4, () => askCluster('https', '/', { via: world().proxy.https }))
        expect(answers).toEqual(Array(4).fill({ status: 403, text: refusals[body] }))
      }
    })
  })

  it('tells a client that bypasses the proxy, and lets it through only when everyone may', async () => {
    await world().forget()
    expect((await askCluster('https', '/', {})).status).toBe(403)
    await registered('everyone', async () => expect((await askCluster('https', '/', {})).status).toBe(200))
    const direct = { from: '127.0.0.1', port: 'https', requests: 1 }
    expect(await world().connections()).toEqual([direct, direct])
  })

  it('sees connections that never send a request, open or closed', async () => {
    await world().forget()
    const { hostname, port } = new URL(world().cluster.httpUrl)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    const silent = [{ from: '127.0.0.1', port: 'http', requests: 0 }]
    expect(await world().connections()).toEqual(silent)
    socket.destroy()
    await once(socket, 'close')
    await expect.poll(() => world().connections()).toEqual(silent)
    await world().forget()
    expect(await world().connections()).toEqual([])
  })

  it('keeps documents as they were written, and counts them', async () => {
    const document = '{"n":1234567890123456789,"text":"  ü  ", "b":[1.0, 1e3]}'
    const stored = await askCluster('https', '/world-documents/_doc/a', {
      via: world().proxy.socks5s,
      method: 'PUT',
      body: document,
    })
    expect(stored.status).toBe(201)
    expect(await world().count('world-documents')).toBe(1)
    expect(await world().source('world-documents', 'a')).toBe(document)
    expect(await world().source('world-documents', 'missing')).toBeUndefined()
    expect(await world().count('world-missing')).toBe(0)
  })

  it.each(proxyKinds)('takes a bulk request of 5 MB by %s, and refuses it whole', async kind => {
    const index = `world-bulk-${kind}`
    const line = `{"create":{}}\n${JSON.stringify({ text: 'x'.repeat(1000) })}\n`
    const body = line.repeat(5000)
    const send = (): Promise<Answer> =>
      askCluster('https', `/${index}/_bulk`, { via: world().proxy[kind], method: 'POST', body })
    await registered('none', async () => expect(await send()).toEqual({ status: 403, text: refusals.long }))
    expect(await send()).toEqual({ status: 200, text: expect.stringMatching(/^\{"errors":false/) })
    expect(await world().count(index)).toBe(5000)
  })

  it('has a key that may write to its own indices alone', async () => {
    const apiKey = world().cluster.leastPrivilegeApiKey
    const via = world().proxy.http
    const root = await askCluster('https', '/', { via, apiKey })
    expect(root).toEqual({ status: 403, text: expect.stringContaining('security_exception') })
    const create = (index: string): Promise<Answer> =>
      askCluster('https', `/${index}/_create/1`, { via, apiKey, method: 'PUT', body: '{"a":1}' })
    expect((await create('least-world')).status).toBe(201)
    expect((await create('other-world')).status).toBe(403)
  })
}

async function repeat<T>(times: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let i = 0; i < times; i += 1) results.push(await act())
  return results
}

function statuses(answers: readonly Answer[]): number[] {
  return answers.map(answer => answer.status)
}
