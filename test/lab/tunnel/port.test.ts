/** A local port that stands for the cluster: tools that know no proxy use it like the cluster itself. */
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { until } from '../../support/eventually.js'
import { ask, sendConnect } from '../../support/lab/lab-clients.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, shareLab } from '../../support/lab/shared-lab.js'
import { apiKey, caText, tunnelTo } from '../../support/lab/tunnel-world.js'

shareLab()

const ndjson = { 'content-type': 'application/x-ndjson' }
const bulk = (count: number, size = 10) =>
  Array.from({ length: count }, (_, n) => `{"create":{"_id":"${n}"}}\n{"n":${n},"text":"${'x'.repeat(size)}"}\n`).join(
    '',
  )

const errorIn = (text: string) => (JSON.parse(text) as { error: { type: string; fixes?: string[] } }).error

describe('a port of the cluster', () => {
  test("passes a tool's requests on with its own credentials, through the proxy, and meters them", async () => {
    await using tunnel = await tunnelTo(['0:cluster'])
    lab.control.forgetConnections()
    const body = bulk(2_000, 500)
    const answer = await ask(`${tunnel.url}/${index}/_bulk?refresh=true`, { body, headers: { ...apiKey(), ...ndjson } })
    expect({ status: answer.status, product: answer.headers['x-elastic-product'] }).toEqual({
      status: 200,
      product: 'Elasticsearch',
    })
    expect(lab.control.count(index)).toBe(2_000)
    const { cluster } = tunnel.traffic()
    expect(cluster?.bytesSent).toBeGreaterThan(body.length)
    const head = await ask(`${tunnel.url}/${index}/_doc/7`, { method: 'HEAD', headers: apiKey() })
    expect(head).toMatchObject({ status: 200, text: '' })
    // The cluster's own answers are not reported: the tool reads them.
    expect((await ask(`${tunnel.url}/`)).status).toBe(401)
    expect((await ask(`${tunnel.url}/no-index/_doc/1`, { headers: apiKey() })).status).toBe(404)
    expect(tunnel.refusals).toEqual([])
    const viaProxy = lab.control.connections().filter(({ port }) => port === 'http')
    expect(viaProxy.length).toBeGreaterThan(0)
  })

  test('needs no credentials of Sluice: a cluster that asks for some has let the addresses in', async () => {
    const { url } = lab.line.cluster
    await using tunnel = await tunnelTo(['0:cluster'], { connecting: { target: { url, ca: caText() } } })
    expect((await ask(`${tunnel.url}/`, { headers: apiKey() })).status).toBe(200)
    lab.control.register('first')
    const half = { target: { url, ca: caText() }, preflightConnections: 16 }
    expect(await codeOf(tunnelTo(['0:cluster'], { connecting: half }))).toMatch(/^EGRESS_PARTLY_ALLOWED/)
  })

  test('opens nothing without the proxy, unless the user says so', async () => {
    expect(await codeOf(tunnelTo(['0:cluster'], { connecting: { proxy: undefined } }))).toMatch(/^PROXY_NOT_USED/)
    lab.control.register('everyone')
    await using direct = await tunnelTo(['0:cluster'], { connecting: { proxy: { direct: true } } })
    expect((await ask(`${direct.url}/`, { headers: apiKey() })).status).toBe(200)
  })

  test('names a proxy that refuses, and tells the caller with a fix', async () => {
    await using tunnel = await tunnelTo(['0:cluster'])
    lab.control.plant({ login: {} })
    // One may use a connection that was open before.
    const asking = Array.from({ length: 3 }, async () => await ask(`${tunnel.url}/`, { headers: apiKey() }))
    const answers = await Promise.all(asking)
    const refused = answers.find(({ text }) => text.includes('PROXY_AUTH_REJECTED'))
    expect(refused?.status).toBe(502)
    expect(errorIn(refused?.text ?? '{}').fixes?.length).toBeGreaterThan(0)
    expect(tunnel.refusals).toContain('cluster PROXY_AUTH_REJECTED')
    lab.control.heal()
    expect((await ask(`${tunnel.url}/`, { headers: apiKey() })).status).toBe(200)
  })

  test('names the IP filter, and leaves its answer as it is', async () => {
    await using tunnel = await tunnelTo(['0:cluster'])
    lab.control.register('none')
    const { status, text } = await ask(`${tunnel.url}/${index}/_bulk`, {
      body: bulk(1),
      headers: { ...apiKey(), ...ndjson },
    })
    expect({ status, text }).toMatchObject({ status: 403, text: expect.stringMatching(/traffic filter/i) })
    expect(tunnel.refusals).toEqual(['cluster EGRESS_NOT_ALLOWED'])
  })

  test('adds the configured credentials for callers with the token, and for no others', async () => {
    await using tunnel = await tunnelTo(['0:cluster'], { withLogin: true })
    const basic = `Basic ${Buffer.from(`anyone:${tunnel.token}`).toString('base64')}`
    const statusWith = async (authorization?: string) =>
      (await ask(`${tunnel.url}/`, { headers: authorization === undefined ? {} : { authorization } })).status
    expect(await statusWith(basic)).toBe(200)
    expect(await statusWith(`Bearer ${tunnel.token}`)).toBe(200)
    expect(await statusWith(`ApiKey ${tunnel.token}`)).toBe(200)
    for (const wrong of [undefined, apiKey()['authorization'], 'Basic', `Bearer ${tunnel.token}0`])
      expect(await statusWith(wrong)).toBe(401)
  })

  test('serves no web page of another host, and is no proxy', async () => {
    await using tunnel = await tunnelTo(['0:cluster'])
    const statusOf = async (headers: Record<string, string>, path = '/') =>
      (await ask(tunnel.url + path, { headers: { ...apiKey(), ...headers } })).status
    expect(await statusOf({ host: 'rebound.example' })).toBe(403)
    expect(await statusOf({ origin: 'https://evil.example' })).toBe(403)
    expect(await statusOf({ origin: 'null' })).toBe(403)
    expect(await statusOf({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await statusOf({ origin: 'http://localhost:5601' })).toBe(200)
    const { status, socket } = await sendConnect(tunnel.url, new URL(lab.line.cluster.url).host, { ca: '' })
    socket.destroy()
    expect(status).toBe(405)
    const absolute = await new Promise(resolve => {
      const { port } = new URL(tunnel.url)
      request({ port, host: '127.0.0.1', path: 'http://elsewhere.example/' }, ({ statusCode }) =>
        resolve(statusCode),
      ).end()
    })
    expect(absolute).toBe(400)
  })

  test('serves many callers at once', async () => {
    await using tunnel = await tunnelTo(['0:cluster'])
    const many = Array.from({ length: 100 }, async (_, n) => {
      const options = { body: `{"n":${n}}`, headers: { ...apiKey(), 'content-type': 'application/json' } }
      return (await ask(`${tunnel.url}/${index}/_doc/${n}`, { ...options, method: 'PUT' })).status
    })
    expect(new Set(await Promise.all(many))).toEqual(new Set([201]))
    expect(lab.control.count(index)).toBe(100)
  })

  test('gives up the request of a caller that leaves', async () => {
    await using tunnel = await tunnelTo(['0:cluster'])
    lab.control.plant({ hold: {} })
    const { port } = new URL(tunnel.url)
    const asking = { method: 'POST', headers: { ...apiKey(), ...ndjson } }
    const caller = request({ host: '127.0.0.1', port, path: `/${index}/_bulk`, ...asking }).on('error', () => undefined)
    caller.end(bulk(1))
    await until(() => lab.control.struck('hold') === 1)
    const atCluster = () => lab.control.connections().filter(one => one.at === 'cluster')
    const held = atCluster().length - 1
    caller.destroy()
    await until(() => atCluster()[held]?.open === false)
  })

  test('ends when its open requests are answered, or when it may wait no longer', async () => {
    const patient = await tunnelTo(['0:cluster'])
    lab.control.plant({ hold: {} })
    const held = ask(`${patient.url}/${index}/_bulk`, { body: bulk(1), headers: { ...apiKey(), ...ndjson } }).catch(
      (error: NodeJS.ErrnoException) => error.code,
    )
    await until(() => lab.control.struck('hold') === 1)
    const givenUp = new AbortController()
    const closing = patient.close(givenUp.signal)
    expect(await ask(`${patient.url}/`).catch((error: NodeJS.ErrnoException) => error.code)).toBe('ECONNREFUSED')
    givenUp.abort()
    await closing
    expect(await held).toBe('ECONNRESET')
  })
})
