import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { type RequestListener, createServer } from 'node:http'
import { type AddressInfo, type Server, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { explain } from '../../../src/base/failure/failure.js'
import { diagnose } from '../../support/lab/patient-doctor.js'
import { type Receipt, type SluiceError, connect, ingest } from '../../../src/index.js'
import { startLab } from '../../../src/lab/index.js'

const root = JSON.stringify({ cluster_name: 'c\u001B[31m', version: { number: '9.4.3' } })
const product = { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' }

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function serving(serve: RequestListener): Promise<{ url: string } & AsyncDisposable> {
  const server = createServer(serve)
  const url = `http://${await listening(server)}`
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('an endless answer is read no further than an answer can be', async () => {
  let sent = 0
  await using server = await serving((_, response) => {
    response.writeHead(200, product)
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(1 << 16, 0x20))) sent += 1 << 16
    }
    response.on('drain', more)
    more()
  })
  await expect(connect({ target: { url: server.url } })).rejects.toMatchObject({ code: 'CLUSTER_NOT_ELASTICSEARCH' })
  expect(sent).toBeLessThan(50_000_000)
})

test('answers that are compressed unasked are understood, and a name is shown without control characters', async () => {
  await using server = await serving((request, response) => {
    const items = '{"errors":false,"items":[{"create":{"status":201}}]}'
    request.resume().on('end', () => {
      response.writeHead(200, { ...product, 'content-encoding': 'gzip' })
      response.end(gzipSync(request.method === 'GET' ? root : items))
    })
  })
  const receipt = await ingest({ target: { url: server.url }, source: [{ n: 1 }], index: 'gzip', deadLetters: false })
  expect(receipt).toMatchObject({ created: 1, unknown: 0, cluster: { name: 'c [31m' } })
})

test('a server that sends the request back gives no credentials away', async () => {
  await using server = await serving((request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ headers: request.headers }))
  })
  const apiKey = Buffer.from('planted:KEY123').toString('base64')
  const error = await connect({ target: { url: server.url, apiKey } }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'GATEWAY_REFUSED' })
  expect(String(error)).toContain('***')
  expect(JSON.stringify(error) + String(error)).not.toContain(apiKey)
})

test('a proxy that announces its answer for ever is named, and does not end the process', async () => {
  const proxy = createTcpServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(60_000)))
  })
  const opening = connect({
    target: { url: 'https://cluster.example.com:9243' },
    proxy: `http://user:pass@${await listening(proxy)}`,
  })
  await expect(opening).rejects.toMatchObject({ code: 'PROXY_UNREACHABLE' })
  proxy.close()
})

test('the doctor finds an open filter with a fingerprint too, and calls a certificate that it cannot check no refusal', async () => {
  await using lab = await startLab({ register: 'unattached' })
  const { url, apiKey, caFile } = lab.line.cluster
  const proxy = lab.line.proxy.http
  const caFingerprint = new X509Certificate(readFileSync(caFile)).fingerprint256
  const pinned = await diagnose({ target: { url, apiKey, caFingerprint }, proxy })
  expect(pinned.findings.map(({ code }) => code)).toEqual(['FILTER_NOT_ENFORCED'])
  const blind = await diagnose({ target: { url, apiKey }, proxy })
  expect(blind.ok).toBe(false)
  expect(blind.findings.map(({ code }) => code)).toContain('CLUSTER_CERT_INVALID')
})

test('a filter that refuses in mid-run keeps its name when the proxy dies before it can be asked again', async () => {
  await using lab = await startLab()
  const { url, apiKey, caFile } = lab.line.cluster
  const run = ingest({
    target: { url, apiKey, ca: readFileSync(caFile) },
    proxy: lab.line.proxy.http,
    source: Array.from({ length: 500 }, (_, n) => ({ n })),
    index: 'blocked',
    batchDocs: 10,
    concurrency: 1,
    preflightConnections: 1,
    deadLetters: false,
    onEvent: event => {
      if (event.type !== 'progress') return
      lab.control.register('none')
      lab.control.plant({ handshake: { kind: 'fin' } })
    },
  })
  await expect(run).rejects.toMatchObject({ code: 'EGRESS_NOT_ALLOWED' })
})

test('warns, and records no address, if the egress check fails', async () => {
  await using server = await serving((request, response) => {
    if (request.url === '/ip') response.writeHead(500).end('{"ip":"192.0.2.1"}')
    else response.writeHead(200, product).end(root)
  })
  const ipCheckUrl = `${server.url}/ip`
  const warnings: string[] = []
  const receipt = await ingest({
    target: { url: server.url },
    ipCheckUrl,
    source: [{}],
    index: 'check',
    dryRun: true,
    onEvent: event => event.type === 'warning' && warnings.push(event.message),
  })
  expect(receipt.egress).toEqual({})
  expect(warnings).toEqual([
    `the address check ${server.url} showed no address 1 of 1 times (status 500), so Sluice does not know which address these requests left from`,
  ])
})

test(
  'one odd answer in the middle of a load does not end it; such answers that last end it with 4',
  { tags: 'long' },
  async () => {
    await using lab = await startLab()
    const { url, apiKey, caFile } = lab.line.cluster
    const load = async (maxElapsedMs?: number) =>
      await ingest({
        target: { url, apiKey, ca: readFileSync(caFile) },
        proxy: lab.line.proxy.http,
        source: Array.from({ length: 60 }, (_, n) => ({ n })),
        index: 'odd',
        batchDocs: 10,
        batchMs: 3_600_000,
        // An answer that is refused and left unread would hold the one connection.
        concurrency: 1,
        maxElapsedMs,
        deadLetters: false,
      })
    const body = `<html>Sign in${' '.repeat(1 << 20)}</html>`
    const page = { status: 200, body, headers: { 'content-type': 'text/html' } }
    lab.control.plant({ bulk: { ...page, after: 2, times: 2 } })
    expect(await load()).toMatchObject({ created: 60, unknown: 0, retries: 2 })
    lab.control.plant({ bulk: { ...page, after: 2 } })
    const ended: unknown = await load(500).catch((error: unknown) => error)
    expect(ended).toMatchObject({ code: 'CLUSTER_UNAVAILABLE', receipt: { created: 20 } })
    const { unknown, unsent } = (ended as SluiceError<Receipt>).receipt ?? { unknown: 0, unsent: 0 }
    expect([unknown > 0, unknown + unsent]).toEqual([true, 40])
    expect(String(ended)).toContain('content-type: text/html, no x-elastic-product header')
    expect(explain('CLUSTER_UNAVAILABLE').exit).toBe(4)
  },
)

test('credentials that a server repeats reach neither the dead letters nor the failure', async () => {
  await using lab = await startLab()
  const { url, apiKey, caFile } = lab.line.cluster
  const [, key = ''] = Buffer.from(apiKey, 'base64').toString().split(':')
  const folder = await mkdtemp(join(tmpdir(), 'sluice-repeats-'))
  const deadLetters = join(folder, 'dead.ndjson')
  const load = async (source: object[]) =>
    await ingest({
      target: { url, apiKey, ca: readFileSync(caFile) },
      proxy: lab.line.proxy.http,
      source,
      index: 'repeats',
      deadLetters,
    })
  const reason = `ApiKey ${apiKey}, of id:${key}, may not`
  lab.control.plant({ items: { status: 400, type: `type_${key}`, reason, times: 1 } })
  expect(await load([{ n: 1 }, { n: 2 }])).toMatchObject({ created: 1, rejected: 1 })
  const body = JSON.stringify({ error: { type: 'illegal_argument_exception', reason }, status: 400 })
  lab.control.plant({ bulk: { status: 400, body, times: 1 } })
  // The documents themselves stay as they are.
  expect(await load([{ key }])).toMatchObject({ rejected: 1 })
  const records = readFileSync(deadLetters, 'utf8')
  expect(records.split('\n').filter(line => line.includes('of id:***'))).toHaveLength(2)
  expect(records).not.toContain(apiKey)
  expect(records.replaceAll(`"document":{"key":"${key}"}`, '')).not.toContain(key)
  lab.control.plant({
    bulk: { status: 403, body: JSON.stringify({ error: { type: 'security_exception', reason }, status: 403 }) },
  })
  const failed: unknown = await load([{ n: 3 }]).catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'CLUSTER_PRIVILEGE_MISSING' })
  expect(String(failed) + JSON.stringify((failed as SluiceError).failure)).not.toContain(key)
  await rm(folder, { recursive: true })
})
