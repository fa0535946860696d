import { describe, expect, test } from 'vitest'
import { connect, ingest } from '../../src/index.js'
import { closedPort } from '../support/servers/proxy-servers.js'
import { allPairs, documents, newIndex, through } from './options.js'
import type { World } from './world.js'

const REQUESTS = 24
const CONCURRENCY = 3
const DOCS = 50

/**
 * What the pinned client, undici and socks must do together: every connection to the cluster goes through the proxy, and a pool
 * of at most C connections serves all requests.
 */
export function describeRoutes(world: () => World, pairs = allPairs): void {
  describe('routes', () => {
    for (const [kind, scheme] of pairs) {
      test(`${REQUESTS} bulk requests over ${kind} to ${scheme}: all through the proxy, over at most ${CONCURRENCY} connections`, async () => {
        const { proxy, staticIps } = world()
        const index = newIndex()
        await world().forget()
        const receipt = await ingest({
          ...through(world(), proxy[kind], scheme),
          source: documents(REQUESTS * DOCS),
          index,
          batchDocs: DOCS,
          batchMs: 3_600_000,
          concurrency: CONCURRENCY,
          preflightConnections: 1,
        })
        const connections = await world().connections()
        expect(receipt).toMatchObject({
          read: REQUESTS * DOCS,
          created: REQUESTS * DOCS,
          requests: REQUESTS,
          retries: 0,
        })
        expect(connections.map(({ from }) => from).filter(from => !staticIps.includes(from))).toEqual([])
        expect(new Set(connections.map(({ port }) => port))).toEqual(new Set([scheme]))
        // One fresh connection for the preflight, then the pool, which is no larger than what was under way at once.
        expect(receipt.route.connections).toBeGreaterThan(1)
        expect(receipt.route.connections).toBeLessThanOrEqual(1 + CONCURRENCY)
        const forwarded = scheme === 'http' && (kind === 'http' || kind === 'https')
        // A forwarding proxy decides by itself how many connections it opens.
        if (!forwarded) expect(connections).toHaveLength(receipt.route.connections)
        expect(receipt.route.form).toBe(forwarded ? 'forward' : 'tunnel')
        expect(await world().count(index)).toBe(REQUESTS * DOCS)
      })
    }

    test('both egress addresses are used, and a single node always uses its own', async () => {
      const { proxy, staticIps } = world()
      await world().forget()
      await (await connect(through(world(), proxy.http))).close()
      expect(new Set((await world().connections()).map(({ from }) => from))).toEqual(new Set(staticIps))
      for (const [node, url] of proxy.nodes.entries()) {
        await world().forget()
        await (await connect(through(world(), url))).close()
        expect(new Set((await world().connections()).map(({ from }) => from))).toEqual(new Set([staticIps[node]]))
      }
    })

    test('the egress check is asked through the proxy, and the receipt tells what it saw', async () => {
      const { proxy, staticIps, ipCheckUrl } = world()
      const receipt = await ingest({
        ...through(world(), proxy.socks5),
        source: documents(1),
        index: newIndex(),
        ipCheckUrl,
        staticIps,
      })
      expect(Object.keys(receipt.egress).toSorted()).toEqual([...staticIps])
    })

    test('an address outside the static pair is a warning if the cluster accepts it, and the reason if it does not', async () => {
      const { proxy, ipCheckUrl } = world()
      const load = async (warnings: string[] = []) =>
        await ingest({
          ...through(world(), proxy.http),
          source: documents(1),
          index: newIndex(),
          ipCheckUrl,
          staticIps: ['203.0.113.7', '203.0.113.8'],
          onEvent: event => event.type === 'warning' && warnings.push(event.message),
        })
      const warnings: string[] = []
      expect((await load(warnings)).created).toBe(1)
      expect(warnings).toEqual([
        expect.stringMatching(/^requests leave from 127\.0\.0\.\d.* but the static addresses are/),
      ])
      await world().register('none')
      await expect(load()).rejects.toMatchObject({ code: 'EGRESS_UNEXPECTED' })
      await world().register('both')
    })

    test('an address check that is not there is no reason to stop', async () => {
      const warnings: string[] = []
      const receipt = await ingest({
        ...through(world(), world().proxy.http),
        source: documents(1),
        index: newIndex(),
        ipCheckUrl: `http://127.0.0.1:${await closedPort()}/`,
        onEvent: event => event.type === 'warning' && warnings.push(event.message),
      })
      expect(receipt).toMatchObject({ created: 1, egress: {} })
      expect(warnings).toEqual([expect.stringContaining('showed no address 6 of 6 times')])
    })

    test('the official client from connect() works on this server, requests with bodies included', async () => {
      const index = newIndex()
      await using way = await connect(through(world(), world().proxy.https))
      expect(way.cluster?.version).toMatch(new RegExp(`^${world().cluster.major}\\.`))
      await way.client.index({ index, id: 'a', document: { n: 1 }, refresh: true })
      const { count } = await way.client.count({ index })
      expect(count).toBe(1)
      const bulk = await way.client.bulk({ index, operations: [{ create: { _id: 'b' } }, { n: 2 }] })
      expect(bulk.errors).toBe(false)
    })
  })
}
