import { type Socket, createServer } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cluster, openCluster } from '../../../../src/route/cluster/open-cluster.js'
import { Sender } from '../../../../src/route/sender/sender.js'
import { batchOf } from '../../../support/load/sender-batch.js'
import { senderOptions } from '../../../support/load/sender-options.js'

let cluster: Cluster
let stored: number
/** The status of a body that is refused as soon as its length is known; nothing more is read then. */
let refused: (length: number) => string | undefined
/** What the server does with a connection on which it has refused a body. */
let leave: (socket: Socket) => void
let close: () => void

beforeEach(async () => {
  stored = 0
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket.on('error', () => undefined))
    serve(socket)
  }).listen(0, '127.0.0.1')
  close = () => {
    server.close()
    for (const socket of open) socket.destroy()
  }
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = new URL(`http://127.0.0.1:${port}`)
  cluster = await openCluster({ url, connections: 4, timeoutMs: 10_000, preflightConnections: 1 })
})
afterEach(async () => {
  await cluster.route.destroy()
  close()
})

function serve(socket: Socket): void {
  let bytes = Buffer.alloc(0)
  socket.on('data', (more: Buffer) => {
    bytes = Buffer.concat([bytes, more])
    const end = bytes.indexOf('\r\n\r\n') + 4
    if (end < 4) return
    const length = Number(/^content-length: (\d+)/im.exec(bytes.toString('latin1', 0, end))?.[1] ?? 0)
    const status = length === 0 ? undefined : refused(length)
    if (status !== undefined) {
      socket.pause()
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`, () => leave(socket))
      return
    }
    if (bytes.length < end + length) return
    const documents = bytes.toString('utf8', end, end + length).split('\n').length >> 1
    bytes = bytes.subarray(end + length)
    stored += documents
    const items = Array.from({ length: documents }, () => ({ create: { status: 201 } }))
    const body = documents === 0 ? root : JSON.stringify({ errors: false, items })
    socket.write(
      `HTTP/1.1 200 OK\r\nX-Elastic-Product: Elasticsearch\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  })
}

const root = '{"cluster_name":"c","version":{"number":"9.4.3"}}'

test.each<[string, (socket: Socket) => void]>([
  ['closes', socket => socket.end()],
  ['is cut off', socket => socket.destroy()],
  ['stands unread', () => undefined],
])('with ids of the cluster no document is in doubt after an early 413 whose connection %s', async (_, left) => {
  leave = left
  refused = length => (length > 200_000 ? '413 Request Entity Too Large' : undefined)
  const sender = new Sender(senderOptions(cluster, { ownIds: false, safeToResend: false }))
  const lines = Array.from({ length: 64 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(12_000) }))
  const batches = await Promise.all(
    Array.from({ length: 8 }, async () => await batchOf(lines, { ids: { from: 'cluster' } })),
  )
  const outcomes = await Promise.all(batches.map(async batch => await sender.send(batch)))
  expect(outcomes).toMatchObject(batches.map(() => ({ created: 64, unknown: 0, unsent: 0, rejected: [] })))
  expect(stored).toBe(8 * 64)
})

test('nor after another refusal of a gateway that reads no further', async () => {
  let refusals = 4
  refused = () => (refusals-- > 0 ? '429 Too Many Requests' : undefined)
  leave = () => undefined
  const sender = new Sender(senderOptions(cluster, { ownIds: false, safeToResend: false }))
  const sent = Array.from({ length: 8 }, async () => {
    return await sender.send(await batchOf(['{"a":1}', '{"b":2}'], { ids: { from: 'cluster' } }))
  })
  expect(await Promise.all(sent)).toMatchObject(sent.map(() => ({ created: 2, unknown: 0, unsent: 0, rejected: [] })))
  expect(stored).toBe(16)
})
