import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../support/eventually.js'
import { longUnless } from '../../../support/long.js'
import { type Cluster, openCluster } from '../../../../src/route/cluster/open-cluster.js'
import { explain } from '../../../../src/base/failure/failure.js'
import type { Batch, Outcome, Addressed } from '../../../../src/base/flow.js'
import type { Blocked } from '../../../../src/route/sender/layers/access.js'
import { Sender, type SenderOptions } from '../../../../src/route/sender/sender.js'
import { HeldClock, SkippingClock } from '../../../support/load/held-clock.js'
import { batchOf } from '../../../support/load/sender-batch.js'
import { senderOptions } from '../../../support/load/sender-options.js'

interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

type Answering = (received: Received, response: ServerResponse) => void

let server: Server
let cluster: Cluster
let answering: Answering
/** Whether probes are answered by an IP filter. */
let isFiltered: boolean
let received: Received[]

beforeEach(async () => {
  received = []
  isFiltered = false
  server = createServer((request, response) => {
    if (request.method === 'GET' && isFiltered) return refuseByFilter(response)
    // What stands behind a name.
    if (request.url?.includes('/_settings') === true) return answer(response, 404, {})
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
  return new Sender(senderOptions(cluster, more))
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

function refuseByFilter(response: ServerResponse): void {
  response.writeHead(403, { 'content-type': 'application/json' })
  response.end('{"ok":false,"message":"Forbidden"}')
}

/** Long enough for one more request to arrive, if there were one. */
async function aMoment(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 20))
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
      filter_path:
        'errors,items.*.status,items.*.error.type,items.*.error.reason,items.*.failure_store,items.*._id,items.*._index',
      include_source_on_error: 'false',
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
    expect(await senderOf({ compress: { isGzip: true } }).send(batch)).toMatchObject({ created: 2 })
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

describe('a batch of dead letters', () => {
  const addressed = (ids: Addressed['ids']): Addressed => ({
    ids,
    destination: { index: 'meant', pipeline: 'p', idField: 'f' },
    attempts: ordinal => 10 * (ordinal + 1),
  })

  async function sendAgain(ids: Addressed['ids'], more: Partial<SenderOptions> = {}): Promise<Outcome> {
    const batch = await batchOf(['{"a":1}', '{"b":2}', '{"c":3}'])
    return await senderOf({ ownIds: false, safeToResend: false, ...more }).send({ ...batch, addressed: addressed(ids) })
  }

  test('goes where it was meant to go, and what is refused again adds its attempts up', async () => {
    answering = (_, response) => items(response, [201, 400, 400])
    const { rejected } = await sendAgain('own')
    const url = new URL(received[0]?.path ?? '', 'http://x')
    expect([url.pathname, url.searchParams.get('pipeline')]).toEqual(['/meant/_bulk', 'p'])
    expect([...rejected].map(({ id, attempts, destination }) => [id, attempts, destination])).toEqual([
      ['t-2', 21, addressed('own').destination],
      ['t-3', 31, addressed('own').destination],
    ])
  })

  test('was stored by an earlier send where its id is Sluice’s own and taken, else somebody else has the id', async () => {
    answering = (_, response) => items(response, [201, 409, 400])
    expect(await sendAgain('own')).toMatchObject({ created: 1, duplicate: 1, rejected: { length: 1 } })
    expect(await sendAgain('given')).toMatchObject({ created: 1, duplicate: 0, unknown: 0, rejected: { length: 2 } })
    expect(await sendAgain('given', { onConflict: 'skip' })).toMatchObject({ skipped: 1, rejected: { length: 1 } })
  })

  test('is sent again after a lost answer where it has ids, and is unknown where it has none', async () => {
    const lostOnce: Answering = (one, response) => {
      if (received.length === 1) response.destroy()
      else stored(one, response)
    }
    answering = lostOnce
    expect(await sendAgain('given')).toMatchObject({ created: 3, unknown: 0 })
    received = []
    expect(await sendAgain('none')).toMatchObject({ created: 0, unknown: 3 })
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

  const odd: readonly (readonly [string, Answering])[] = [
    ['of 200 without the product header', (_, response) => void response.end('{"errors":false,"items":[]}')],
    ['that is a web page', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['that is a redirect', (_, response) => void response.writeHead(302, { location: 'https://login.example' }).end()],
    ['with a broken list of items', (_, response) => answer(response, 200, { errors: true, items: [null] })],
    ['with an item too many', (_, response) => items(response, [201, 201])],
    [
      'that inflates beyond its limit',
      (_, response) => {
        response.writeHead(200, { 'x-elastic-product': 'Elasticsearch', 'content-encoding': 'gzip' })
        response.end(gzipSync(Buffer.alloc(16 << 20)))
      },
    ],
    ['of a gateway with 500', (_, response) => void response.writeHead(500).end('<p>')],
  ]
  for (const [what, oddly] of odd) {
    test(
      `${what} is asked for again, and ends the run only with patience, as one that may pass`,
      longUnless(!what.includes('inflates')),
      async () => {
        answering = (one, response) => (received.length === 1 ? oddly : stored)(one, response)
        expect(await send(['{"a":1}'])).toMatchObject({ created: 1, unknown: 0 })
        expect(received).toHaveLength(2)
        answering = oddly
        const { unknown, stop } = await send(['{"a":1}'])
        const code = what.includes('inflates') ? 'CLUSTER_ANSWER_TOO_LONG' : 'CLUSTER_UNAVAILABLE'
        expect([unknown, stop?.code]).toEqual([1, code])
        expect(explain(stop?.code ?? 'INTERNAL').exit).toBe(4)
      },
    )
  }

  test('of a gateway that refuses is asked for a few times, and then somebody has to change something', async () => {
    const refused: Answering = (_, response) => void response.writeHead(403).end('<p>Forbidden</p>')
    answering = (one, response) => (received.length < 4 ? refused : stored)(one, response)
    expect(await send(['{"a":1}'])).toMatchObject({ created: 1 })
    answering = refused
    expect(await send(['{"a":1}'])).toMatchObject({ unsent: 1, stop: { code: 'GATEWAY_REFUSED' } })
    expect(received).toHaveLength(4 + 5)
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
    const clock = new SkippingClock()
    const sender = senderOf({ ownIds: false, safeToResend: false, concurrency: 1, clock })
    const outcomes: Outcome[] = []
    for (let batch = 0; batch < 8; batch += 1) outcomes.push(await sender.send(await batchOf(['{"a":1}'])))
    expect(outcomes.map(({ unknown }) => unknown)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    expect(outcomes.map(({ stop }) => stop?.code)).toEqual([
      ...Array.from({ length: 7 }, () => undefined),
      'CLUSTER_UNAVAILABLE',
    ])
    expect(clock.slept).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000])
  })

  test('that is lost, of a batch whose ids the cluster makes, keeps the next batch waiting', async () => {
    answering = (_, response) => void response.destroy()
    const clock = new HeldClock()
    const sender = senderOf({ ownIds: false, safeToResend: false, concurrency: 1, clock })
    const sent = [await batchOf(['{"a":1}']), await batchOf(['{"b":2}'])].map(async batch => await sender.send(batch))
    await until(() => clock.sleeping === 1)
    await aMoment()
    expect(received).toHaveLength(1)
    answering = stored
    clock.advance(250)
    expect(await Promise.all(sent)).toMatchObject([{ unknown: 1 }, { created: 1 }])
  })
})

describe('room for one more batch', () => {
  /** Lines of one byte more each, so that the batches can be told apart. */
  async function batches(count: number) {
    return await Promise.all(Array.from({ length: count }, async (_, n) => await batchOf([`{"n":${10 ** n}}`])))
  }

  /** Whether there was room at once. */
  async function hasRoom(sender: Sender): Promise<boolean> {
    let has = false
    void sender.room().then(() => (has = true))
    await aMoment()
    return has
  }

  test('is there while no more are open than may be under way, and again when one of them is settled', async () => {
    const held: (() => void)[] = []
    answering = (one, response) => void held.push(() => stored(one, response))
    const sender = senderOf()
    const [first, second, third] = (await batches(3)) as [Batch, Batch, Batch]
    const sent = [sender.send(first), sender.send(second)]
    expect(await hasRoom(sender)).toBe(true)
    sent.push(sender.send(third))
    await until(() => held.length === 2)
    let goesOn = false
    const room = sender.room().then(() => (goesOn = true))
    await aMoment()
    expect(goesOn).toBe(false)
    expect(received).toHaveLength(2)
    held.shift()?.()
    await room
    await until(() => held.length === 2)
    for (const answerNow of held) answerNow()
    expect(await Promise.all(sent)).toMatchObject([{ created: 1 }, { created: 1 }, { created: 1 }])
  })

  test('is there beside a batch that waits before it is sent again, whose place another one takes', async () => {
    const clock = new HeldClock()
    const sender = senderOf({ concurrency: 1, clock })
    answering = (one, response) => {
      if (received.length > 1) stored(one, response)
      else items(response, [429])
    }
    const [first, second] = (await batches(2)) as [Batch, Batch]
    const waiting = sender.send(first)
    await until(() => clock.sleeping === 1)
    expect(await hasRoom(sender)).toBe(true)
    expect(await sender.send(second)).toMatchObject({ created: 1 })
    clock.advance(250)
    expect(await waiting).toMatchObject({ created: 1 })
    expect(received.map(({ bytes }) => bytes.equals(received[0]?.bytes ?? bytes))).toEqual([true, false, true])
  })

  test('does not grow without end while nothing is taken', async () => {
    const clock = new HeldClock()
    const sender = senderOf({ clock })
    answering = (_, response) => {
      response.writeHead(429)
      response.end()
    }
    let read = 0
    const outcomes: Promise<Outcome>[] = []
    for (const batch of await batches(12)) {
      if (!(await hasRoom(sender))) break
      read += 1
      outcomes.push(sender.send(batch))
      await until(() => clock.sleeping === read)
    }
    // One may be under way, one may be filled, and three wait.
    expect(read).toBe(5)
    sender.halt()
    expect(await hasRoom(sender)).toBe(true)
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ unsent: 1 })
  })
})

describe('while access is lost', () => {
  test('nothing is sent, and the time that a body may be refused for stands still', async () => {
    const clock = new HeldClock()
    const told: string[] = []
    const access = {
      waitMs: 60_000,
      renew: async () => await Promise.resolve(undefined),
      onBlocked: ({ failure }: Blocked) => void told.push(failure.code),
      onUnblocked: () => void told.push('unblocked'),
    }
    const sender = senderOf({ clock, access, maxElapsedMs: 1000 })
    answering = ({ bytes, ...more }, response) => {
      if (isFiltered) refuseByFilter(response)
      else if (received.length < 4) items(response, [429])
      else stored({ bytes, ...more }, response)
    }
    const busy = sender.send(await batchOf(['{"busy":1}']))
    await until(() => clock.sleeping === 1)
    isFiltered = true
    const filtered = sender.send(await batchOf(['{"n":1}']))
    await until(() => told.length === 1)
    // The busy one wakes, and waits with the others.
    clock.advance(250)
    const later = sender.send(await batchOf(['{"n":2}']))
    await aMoment()
    expect(received).toHaveLength(2)

    isFiltered = false
    clock.advance(4750)
    await until(() => told.length === 2)
    expect(told).toEqual(['EGRESS_NOT_ALLOWED', 'unblocked'])
    // Refused as busy once more: after five seconds, of which it was given one.
    await until(() => clock.sleeping > 0)
    for (let step = 0; step < 4; step += 1) {
      await aMoment()
      clock.advance(500)
    }
    const outcomes = await Promise.all([busy, filtered, later])
    for (const outcome of outcomes) expect(outcome).toMatchObject({ created: 1, unsent: 0, unknown: 0 })
  })
})

describe('a body that is too large', () => {
  /** What later bodies are like, after one of 600 kB met a cluster that takes `most` bytes. */
  async function bodyBytesAfter(most: number): Promise<number> {
    answering = (one, response) => {
      if (one.bytes.length <= most) return stored(one, response)
      response.writeHead(413)
      response.end()
    }
    const sender = senderOf({ batchBytes: 1_000_000 })
    expect(sender.bodyBytes).toBe(1_000_000)
    const lines = Array.from({ length: 600 }, (_, n) => `{"n":${n},"pad":"${'x'.repeat(1000)}"}`)
    expect(await sender.send(await batchOf(lines))).toMatchObject({ created: 600 })
    return sender.bodyBytes
  }

  test('makes later ones smaller, as small as what passes of it', async () => {
    const bytes = await bodyBytesAfter(200_000)
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThanOrEqual(200_000)
  })

  test('leaves later ones large enough to be worth a request', async () => {
    expect(await bodyBytesAfter(20_000)).toBe(65_536)
  })

  test('tells nothing of the others when it is a single document that is larger than any body', async () => {
    answering = (_, response) => {
      response.writeHead(413)
      response.end()
    }
    const sender = senderOf({ batchBytes: 80_000 })
    const outcome = await sender.send(await batchOf([`{"n":"${'x'.repeat(200_000)}"}`]))
    expect(outcome.rejected).toHaveLength(1)
    expect(sender.bodyBytes).toBe(80_000)
  })
})
