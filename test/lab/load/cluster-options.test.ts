// @module-tag long
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { connect, ingest } from '../../../src/index.js'
import { startLab } from '../../../src/lab/index.js'
import { createAuthority } from '../../support/servers/proxy-certificates.js'

const root = (version: string, flavor = 'default') =>
  JSON.stringify({
    cluster_name: 'c',
    version: { number: version, build_flavor: flavor },
    tagline: 'You Know, for Search',
  })

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('versions', () => {
  for (const version of ['8.0.0', '9.9.1', 'serverless'] as const) {
    test(`Elasticsearch ${version} is loaded into`, async () => {
      await using lab = await startLab({ version })
      const { url, apiKey, caFile } = lab.line.cluster
      const target = { url, apiKey, ca: readFileSync(caFile) }
      const receipt = await ingest({ target, proxy: lab.line.proxy.http, source: [{ n: 1 }], index: 'versions' })
      expect(receipt).toMatchObject({ created: 1, cluster: { version: version === 'serverless' ? '8.11.0' : version } })
    })
  }

  for (const version of ['7.17.29', '10.0.0'] as const) {
    test(`Elasticsearch ${version} is refused by name`, async () => {
      await using lab = await startLab({ version })
      const { url, apiKey, caFile } = lab.line.cluster
      const opening = connect({ target: { url, apiKey, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http })
      await expect(opening).rejects.toMatchObject({
        code: 'CLUSTER_VERSION_UNSUPPORTED',
        message: expect.stringContaining(version) as string,
      })
    })
  }

  test('another product is refused by name', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'text/html').end('<title>Kibana</title>')
    })
    const url = `http://${await listening(server)}`
    await expect(connect({ target: { url } })).rejects.toMatchObject({ code: 'CLUSTER_NOT_ELASTICSEARCH' })
    server.close()
  })

  test('a redirect is not followed', async () => {
    let asked = 0
    const server = createServer((_, response) => {
      asked += 1
      response.writeHead(302, { location: 'http://127.0.0.1:1/elsewhere' }).end()
    })
    const url = `http://${await listening(server)}`
    await expect(connect({ target: { url } })).rejects.toMatchObject({ code: 'GATEWAY_REFUSED' })
    expect(asked).toBe(1)
    server.close()
  })
})

describe('TLS of the cluster', () => {
  test('a fingerprint stands in for the CA, and a wrong one refuses before anything is sent', async () => {
    await using lab = await startLab()
    const { url, apiKey, caFile } = lab.line.cluster
    const fingerprint = new X509Certificate(readFileSync(caFile)).fingerprint256
    const proxy = lab.line.proxy.http
    await using way = await connect({ target: { url, apiKey, caFingerprint: fingerprint }, proxy })
    expect(way.cluster?.version).toBe('9.4.3')
    const wrong = fingerprint.replace(/^../, start => (start === '00' ? '11' : '00'))
    const refused = connect({ target: { url, apiKey, caFingerprint: wrong }, proxy })
    await expect(refused).rejects.toMatchObject({ code: 'CLUSTER_CERT_INVALID' })
  })

  test('a client certificate is shown to a cluster that asks for one', async () => {
    const authority = await createAuthority('cluster')
    const server = await authority.issue(['127.0.0.1'])
    const client = await authority.issue(['client'])
    const cluster = createTlsServer(
      { cert: server.cert, key: server.key, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
      (_, response) => {
        response
          .writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
          .end(root('9.4.3'))
      },
    )
    const url = `https://${await listening(cluster)}`
    const ca = authority.cert
    await using way = await connect({ target: { url, ca, cert: client.cert, key: client.key } })
    expect(way.cluster?.name).toBe('c')
    // What a server does with a client that shows none differs: an alert, or a connection that just ends.
    await expect(connect({ target: { url, ca } })).rejects.toMatchObject({
      code: expect.stringMatching(/^CLUSTER_(CLIENT_CERT|UNAVAILABLE)$/) as string,
    })
    cluster.close()
  })
})

describe('credentials in clear text', () => {
  const elsewhere = 'http://cluster.example.com:9200'
  const proxy = 'http://user:pass@127.0.0.1:9293'

  test('are refused on plain http to another machine, before anything is connected', async () => {
    for (const credentials of [{ apiKey: 'a2V5' }, { username: 'u', password: 'p' }]) {
      const opening = connect({ target: { url: elsewhere, ...credentials }, proxy })
      await expect(opening).rejects.toMatchObject({ code: 'PLAINTEXT_CREDENTIALS' })
    }
    const far = connect({
      target: { url: 'http://localhost:9200', apiKey: 'a2V5' },
      proxy: 'http://u:p@proxy.example.com:9293',
    })
    await expect(far).rejects.toMatchObject({ code: 'PLAINTEXT_CREDENTIALS' })
  })

  test('go where the user allows it', async () => {
    const seen: (string | undefined)[] = []
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response
        .writeHead(200, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
        .end(root('9.4.3'))
    })
    // A name that is not this machine's own, and a proxy that leads here all the same.
    const near = await listening(server)
    const opening = connect({
      target: { url: elsewhere, apiKey: 'a2V5', allowPlaintext: true },
      proxy: `http://user:pass@${near}`,
      preflightConnections: 1,
    })
    await (await opening).close()
    expect(seen).toEqual(['ApiKey a2V5'])
    server.close()
  })
})

test('a cloud id leads to its cluster', async () => {
  const asked: string[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')
  })
  const id = Buffer.from('eu-west-1.aws.example.com:9243$0123abcd$').toString('base64')
  const opening = connect({
    target: { cloudId: `name:${id}`, apiKey: 'a2V5' },
    proxy: `http://user:pass@${await listening(proxy)}`,
  })
  await expect(opening).rejects.toMatchObject({ code: 'PROXY_TARGET_UNREACHABLE' })
  expect(new Set(asked)).toEqual(new Set(['0123abcd.eu-west-1.aws.example.com:9243']))
  proxy.close()
})

test('a stream that falls silent is sent after the time that a body may wait', async () => {
  await using lab = await startLab()
  const { url, apiKey, caFile } = lab.line.cluster
  const source = new PassThrough()
  const loading = ingest({
    target: { url, apiKey, ca: readFileSync(caFile) },
    proxy: lab.line.proxy.http,
    source,
    index: 'slow',
    batchMs: 30,
    preflightConnections: 1,
    onEvent: event => {
      // The end comes only when the first documents were stored.
      if (event.type === 'progress' && event.counts.created === 2) source.end('{"n":3}\n')
    },
  })
  source.write('{"n":1}\n{"n":2}\n')
  expect(await loading).toMatchObject({ read: 3, created: 3, requests: 2 })
})

test('errors of the client, and of Sluice, hold no credentials', async () => {
  await using lab = await startLab()
  const { url, apiKey, caFile } = lab.line.cluster
  const proxyPassword = decodeURIComponent(new URL(lab.line.proxy.http).password)
  const target = { url, apiKey, ca: readFileSync(caFile) }
  const way = await connect({ target, proxy: lab.line.proxy.http, preflightConnections: 1 })
  const errors: unknown[] = [await way.client.get({ index: 'none', id: '1' }).catch((error: unknown) => error)]
  lab.control.plant({ handshake: { kind: 'fin' }, drop: {} })
  const run = { target, proxy: lab.line.proxy.http, source: [{}], index: 'secrets', maxElapsedMs: 0 }
  errors.push(
    await way.client.bulk({ index: 'secrets', operations: [{ create: {} }, {}] }).catch((error: unknown) => error),
    await ingest(run).catch((error: unknown) => error),
  )
  lab.control.heal()
  lab.control.plant({ bulk: { status: 400, body: '{"error":{"type":"x","reason":"y"},"status":400}' } })
  errors.push(await ingest({ ...run, source: [{}, {}] }).catch((error: unknown) => error))
  await way.close()
  expect(errors.map(error => error instanceof Error)).toEqual([true, true, true, true])
  for (const error of errors) {
    const shown = `${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(error)}${String(error)}`
    for (const secret of [apiKey, proxyPassword, encodeURIComponent(proxyPassword)]) expect(shown).not.toContain(secret)
  }
})
