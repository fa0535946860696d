import { once } from 'node:events'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until } from '../../../support/eventually.js'
import { findDocuments } from '../../../../src/route/cluster/find-documents.js'
import { type Cluster, openCluster } from '../../../../src/route/cluster/open-cluster.js'
import type { LearntLimits } from '../../../../src/route/sender/layers/learn.js'
import { ByteBudget } from '../../../../src/route/sender/layers/limits.js'
import { Sender, type SenderOptions } from '../../../../src/route/sender/sender.js'
import { HeldClock } from '../../../support/load/held-clock.js'
import { batchOf } from '../../../support/load/sender-batch.js'
import { senderOptions } from '../../../support/load/sender-options.js'

let server: Server
let cluster: Cluster
/** Answers a bulk request; told once its body was read. */
let answering: (request: IncomingMessage, response: ServerResponse) => void

beforeEach(async () => {
  server = createServer((request, response) => {
    response.setHeader('x-elastic-product', 'Elasticsearch')
    response.setHeader('content-type', 'application/json')
    if (request.method === 'GET') response.end('{"cluster_name":"c","version":{"number":"9.4.3"}}')
    else request.resume().on('end', () => answering(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}`)
  cluster = await openCluster({ url, connections: 4, timeoutMs: 60_000, preflightConnections: 1 })
})
afterEach(async () => {
  await cluster.route.destroy()
  server.closeAllConnections()
  server.close()
})

const told: string[] = []
function senderOf(more: Partial<SenderOptions> = {}): Sender {
  told.length = 0
  return new Sender(senderOptions(cluster, { clock: new HeldClock(), onRetry: ({ code }) => told.push(code), ...more }))
}

const stored = '{"errors":false,"items":[{"create":{"status":201}}]}'

for (const [ids, safeToResend] of [
  ['of our own', true],
  ['of the cluster', false],
] as const) {
  test(`with ids ${ids}, a request that is given up has an unknown outcome, and its connection is closed`, async () => {
    const arrived = new Promise<Socket>(resolve => (answering = request => resolve(request.socket)))
    const givenUp = new AbortController()
    const sender = senderOf({ givenUp: givenUp.signal, safeToResend })
    const sending = sender.send(await batchOf(['{"a":1}', '{"b":2}']))
    const socket = await arrived
    const closed = once(socket, 'close')
    sender.halt()
    givenUp.abort()
    expect(await sending).toMatchObject({ docs: 2, unknown: 2, unanswered: 2, unsent: 0, created: 0 })
    await closed
    expect(sender.learnt).toBeUndefined()
    expect({ told, requests: sender.requests, retries: sender.retries }).toEqual({ told: [], requests: 1, retries: 0 })
  })
}

test('another request that is given up before it was sent does not make this one unsent', async () => {
  const arrived = new Promise<void>(resolve => (answering = () => resolve()))
  const { port } = server.address() as AddressInfo
  const single = {
    url: new URL(`http://127.0.0.1:${port}`),
    connections: 1,
    timeoutMs: 60_000,
    preflightConnections: 1,
  }
  const one = await openCluster(single)
  const givenUp = new AbortController()
  const { signal } = givenUp
  const sender = new Sender(senderOptions(one, { clock: new HeldClock(), givenUp: signal, safeToResend: true }))
  const sending = sender.send(await batchOf(['{"a":1}']))
  await arrived
  // The only connection is busy.
  const question = findDocuments(one, { index: 'i', by: 'id', wanted: [{ id: '1' }], signal })
  sender.halt()
  givenUp.abort()
  await expect(question).rejects.toThrow('gave up')
  expect(await sending).toMatchObject({ unknown: 1, unanswered: 1, unsent: 0 })
  await one.route.destroy()
})

test('an answer within the grace counts', async () => {
  const arrived = new Promise<ServerResponse>(resolve => (answering = (_, response) => resolve(response)))
  const sender = senderOf({ givenUp: new AbortController().signal })
  const sending = sender.send(await batchOf(['{"a":1}']))
  const response = await arrived
  sender.halt()
  response.end(stored)
  expect(await sending).toMatchObject({ created: 1, unknown: 0 })
})

test('a refusal within the grace is not answered by another attempt', async () => {
  const arrived = new Promise<ServerResponse>(resolve => (answering = (_, response) => resolve(response)))
  const sender = senderOf()
  const sending = sender.send(await batchOf(['{"a":1}']))
  const response = await arrived
  sender.halt()
  response.writeHead(429).end('{"error":{"type":"es_rejected_execution_exception","reason":"full"},"status":429}')
  expect(await sending).toMatchObject({ unsent: 1, unknown: 0 })
  expect(told).toEqual([])
})

test('a request after the end of the grace is not sent', async () => {
  answering = () => expect.unreachable()
  const sender = senderOf({ givenUp: AbortSignal.abort() })
  sender.halt()
  expect(await sender.send(await batchOf(['{"a":1}']))).toMatchObject({ unsent: 1 })
  expect(sender.requests).toBe(0)
})

test('a request that does not fit into the byte budget is unsent', async () => {
  answering = (_, response) => response.end(stored)
  const { route } = cluster
  const used = () => route.traffic.bytesSent + route.traffic.bytesReceived
  const spent: number[] = []
  const limit = used() + 3000
  const budget = new ByteBudget({ limit, used, overhead: 700, onSpent: ({ needed }) => spent.push(needed) })
  const sender = senderOf({ budget })
  expect(await sender.send(await batchOf(['{"a":1}']))).toMatchObject({ created: 1 })
  const large = await batchOf([`{"a":"${'x'.repeat(1500)}"}`])
  expect(await sender.send(large)).toMatchObject({ unsent: 1 })
  expect(spent).toHaveLength(1)
  expect(sender.requests).toBe(1)
  expect(used()).toBeLessThan(limit)
})

test('a request that waited for the byte budget when access was lost is sent once access is back, not before', async () => {
  const order: (string | undefined)[] = []
  server.on('request', ({ method }) => order.push(method))
  const first = new Promise<ServerResponse>(resolve => (answering = (_, response) => resolve(response)))
  let asked = 0
  const used = () => {
    asked += 1
    return 0
  }
  // One of the bodies fits, and not both at once.
  const budget = new ByteBudget({ limit: 3000, used, overhead: 100, onSpent: () => expect.unreachable() })
  const sender = senderOf({ budget })
  const document = `{"a":"${'x'.repeat(1500)}"}`
  const sending = [sender.send(await batchOf([document])), sender.send(await batchOf([document]))]
  const refusing = await first
  await until(() => asked === 2)
  answering = (_, response) => response.end(stored)
  order.length = 0
  refusing.writeHead(403).end('{"ok":false,"message":"Forbidden"}')
  for (const sent of sending) expect(await sent).toMatchObject({ created: 1 })
  expect(order).toEqual([...Array.from({ length: 16 }, () => 'GET'), 'POST', 'POST'])
  expect([sender.requests, sender.retries]).toEqual([3, 1])
})

test('an earlier run’s limits are where a sender begins, and its own are what it leaves', async () => {
  answering = (_, response) => response.end(stored)
  const learnt: LearntLimits = { concurrency: 3, bodyBytes: 70_000 }
  const sender = senderOf({ learnt })
  expect(sender.bodyBytes).toBe(70_000)
  expect(sender.learnt).toBeUndefined()
  await sender.send(await batchOf(['{"a":1}']))
  expect(sender.learnt).toEqual(learnt)
  expect(sender.bodyBytes).toBe(140_000)
})
