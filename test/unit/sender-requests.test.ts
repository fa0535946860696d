import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Cluster, openCluster } from '../../src/cluster/open-cluster.js'
import type { Outcome } from '../../src/flow.js'
import { Sender, type SenderOptions } from '../../src/sender/sender.js'
import { SkippingClock } from './held-clock.js'
import { batchOf } from './sender-batch.js'

interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

type Answering = (received: Received, response: ServerResponse) => void

let server: Server
let cluster: Cluster
let answering: Answering
let received: Received[]

beforeEach(async () => {
  received = []
  server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('x-elastic-product', 'Elasticsearch')
      response.end(JSON.stringify({ cluster_name: 'c', version: { number: '9.4.3' } }))
      return
    }
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const one = { path: request.url ?? '', headers: request.headers, bytes: Buffer.concat(parts) }
      received.push(one)
      answering(one, response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}`)
  cluster = await openCluster({ url, connections: 4, timeoutMs: 10_000, preflightConnections: 1 })
})

afterEach(async () => {
  await cluster.route.destroy()
  server.closeAllConnections()
  server.close()
})

function senderOf(more: Partial<SenderOptions> = {}): Sender {
  return new Sender({
    cluster,
    index: 'logs',
    ownIds: true,
    safeToResend: true,
    sentBefore: false,
    onConflict: 'reject',
    concurrency: 4,
    gzip: false,
    maxElapsedMs: 60_000,
    clock: new SkippingClock(),
    wallClock: () => 0,
    random: () => 1,
    onRetry: () => undefined,
    ...more,
  })
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

const documents = (bytes: Buffer) => bytes.toString('utf8').split('\n').length >> 1

function items(response: ServerResponse, statuses: readonly number[]): void {
  const all = statuses.map(status => ({
    create: { status, ...(status > 201 ? { error: { type: 't', reason: 'r' } } : {}) },
  }))
  answer(response, 200, { errors: statuses.some(status => status > 201), items: all })
}

const stored: Answering = ({ bytes }, response) =>
  items(
    response,
    Array.from({ length: documents(bytes) }, () => 201),
  )

describe('a bulk request', () => {
  test('asks for what the sender reads, in media types that every version takes', async () => {
    answering = stored
    const sender = senderOf({ index: 'logs%a', pipeline: 'p/1' })
    const batch = await batchOf(['{"a":1234567890123456789}', '{"b":2}'])
    const framed = Buffer.from(batch.bytes)
    expect(await sender.send(batch)).toMatchObject({ created: 2 })
    const [one] = received
    const url = new URL(one?.path ?? '', 'http://x')
    expect(url.pathname).toBe('/logs%25a/_bulk')
    expect(Object.fromEntries(url.searchParams)).toEqual({
      filter_path: 'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.failure_store',
      pipeline: 'p/1',
    })
    expect(one?.headers).toMatchObject({ 'content-type': 'application/x-ndjson', accept: 'application/json' })
    expect(one?.headers).not.toHaveProperty('content-encoding')
    expect(one?.bytes.equals(framed)).toBe(true)
    expect([sender.requests, sender.retries]).toEqual([1, 0])
  })

  test('may be compressed', async () => {
    answering = ({ bytes, ...more }, response) => stored({ bytes: gunzipSync(bytes), ...more }, response)
    const batch = await batchOf(['{"a":1}', '{"b":2}'])
    expect(await senderOf({ gzip: true }).send(batch)).toMatchObject({ created: 2 })
    expect(received[0]?.headers['content-encoding']).toBe('gzip')
  })

  test('is one of as many as are allowed at once', async () => {
    let underWay = 0
    let most = 0
    answering = (one, response) => {
      underWay += 1
      most = Math.max(most, underWay)
      // Long enough for a third request to arrive, if there were one.
      setTimeout(() => {
        underWay -= 1
        stored(one, response)
      }, 20)
    }
    const sender = senderOf({ concurrency: 2 })
    const batches = await Promise.all(Array.from({ length: 6 }, async () => await batchOf(['{"a":1}'])))
    const outcomes = await Promise.all(batches.map(async batch => await sender.send(batch)))
    expect(outcomes.map(({ created }) => created)).toEqual([1, 1, 1, 1, 1, 1])
    expect(most).toBe(2)
  })

  test('is not sent any more once the sender was halted', async () => {
    const sender = senderOf({ concurrency: 1 })
    answering = (one, response) => {
      sender.halt()
      stored(one, response)
    }
    const batches = await Promise.all([batchOf(['{"a":1}']), batchOf(['{"b":2}'])])
    const outcomes = await Promise.all(batches.map(async batch => await sender.send(batch)))
    expect(outcomes).toMatchObject([{ created: 1 }, { created: 0, unsent: 1 }])
    expect(received).toHaveLength(1)
  })
})

describe('an answer on the wire', () => {
  async function send(lines: readonly string[], more: Partial<SenderOptions> = {}): Promise<Outcome> {
    return await senderOf(more).send(await batchOf(lines))
  }

  test('of 413, empty, with the connection closed, halves the body', async () => {
    answering = (one, response) => {
      if (documents(one.bytes) <= 1) return stored(one, response)
      response.writeHead(413, { 'content-length': '0', connection: 'close' })
      response.end()
    }
    expect(await send(['{"a":1}', '{"b":2}', '{"c":3}'])).toMatchObject({ created: 3 })
  })

  test('of 200 without the product header stops the run, and nobody knows what was stored', async () => {
    answering = (_, response) => void response.end('{"errors":false,"items":[]}')
    expect(await send(['{"a":1}'])).toMatchObject({ unknown: 1, stop: { code: 'CLUSTER_NOT_ELASTICSEARCH' } })
  })

  test('that never comes whole is asked for again, and what was stored is found to be a duplicate', async () => {
    const seen = new Set<string>()
    answering = (one, response) => {
      const id = /"_id":"([^"]+)"/.exec(one.bytes.toString('utf8'))?.[1] ?? ''
      if (seen.has(id)) return items(response, [409])
      seen.add(id)
      response.writeHead(200, { 'x-elastic-product': 'Elasticsearch', 'content-length': '1000' })
      response.write('{"errors":false,')
      setImmediate(() => response.destroy())
    }
    expect(await send(['{"a":1}'])).toMatchObject({ duplicate: 1, unknown: 0 })
    expect(received).toHaveLength(2)
  })

  test('of one document that is always busy does not get it rejected while nothing else is taken', async () => {
    answering = (_, response) => items(response, [429])
    const outcome = await send(['{"a":1}'])
    expect(outcome).toMatchObject({ unsent: 1, rejected: [], stop: { code: 'CLUSTER_OVERLOADED' } })
  })

  test('that swallows batch after batch, whose ids the cluster makes, stops the run', async () => {
    answering = (_, response) => {
      response.writeHead(502)
      response.end('<html>Bad Gateway</html>')
    }
    const sender = senderOf({ ownIds: false, safeToResend: false, concurrency: 1 })
    const outcomes: Outcome[] = []
    for (let batch = 0; batch < 8; batch += 1) outcomes.push(await sender.send(await batchOf(['{"a":1}'])))
    expect(outcomes.map(({ unknown }) => unknown)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    expect(outcomes.map(({ stop }) => stop?.code)).toEqual([
      ...Array.from({ length: 7 }, () => undefined),
      'CLUSTER_UNAVAILABLE',
    ])
  })
})
