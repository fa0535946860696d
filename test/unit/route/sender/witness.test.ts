import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Cluster, openCluster } from '../../../../src/route/cluster/open-cluster.js'
import { Sender, type SenderOptions } from '../../../../src/route/sender/sender.js'
import { placesIn } from '../../../../src/route/sender/layers/places.js'
import { batchOf } from '../../../support/load/sender-batch.js'
import { senderOptions } from '../../../support/load/sender-options.js'

interface Item {
  _id?: string
  _index?: string
  status: number
  failure_store?: string
}

async function heard(items: readonly Item[]) {
  const batch = await batchOf(items.map((_, n) => `{"n":${n}}`))
  const answer = Buffer.from(JSON.stringify({ errors: false, items: items.map(item => ({ create: item })) }))
  const body = { bytes: batch.bytes, items: batch.docs, first: 0 }
  const { otherId, elsewhere } = placesIn(answer, { body, index: 'logs', isNamed: true }, 1000)
  batch.release()
  return { otherId, elsewhere: [...elsewhere] }
}

describe('the first answer', () => {
  test('says nothing where ids are kept, in the index itself or behind a data stream of its name', async () => {
    expect(
      await heard([
        { _id: 't-1', _index: 'logs', status: 201 },
        { _id: 't-2', _index: '.ds-logs-2026.11.21-000002', status: 201 },
        { _id: 'refused', _index: 'else', status: 400 },
        { _id: 'other', _index: '.fs-logs-2026.11.21-000001', status: 201, failure_store: 'used' },
      ]),
    ).toEqual({ otherId: false, elsewhere: [] })
  })

  test('tells of ids that a pipeline has set, and of documents that went elsewhere', async () => {
    expect(await heard([{ _id: 'made', _index: 'logs', status: 201 }])).toEqual({ otherId: true, elsewhere: [] })
    expect(await heard([{ _id: 't-1', _index: 'logs-else', status: 201 }])).toEqual({
      otherId: false,
      elsewhere: [['logs-else', 'logs']],
    })
  })

  test('that cannot be read says nothing', () => {
    const body = { bytes: Buffer.alloc(0), items: 0, first: 0 }
    expect(placesIn(Buffer.from('{"items":['), { body, index: 'logs', isNamed: true }, 1000)).toEqual({
      otherId: false,
      elsewhere: new Map(),
    })
  })
})

describe('the sender', () => {
  let server: Server
  let cluster: Cluster
  let paths: string[]
  let bulk: (request: IncomingMessage, response: ServerResponse) => void
  let settings: object

  beforeEach(async () => {
    paths = []
    settings = { logs: { settings: { index: { uuid: 'u' } } } }
    server = createServer((request, response) => {
      if (request.url === '/') return answer(response, 200, { version: { number: '9.4.3' }, cluster_name: 'c' })
      paths.push(request.url ?? '')
      if (request.url?.includes('_settings') === true) return answer(response, 200, settings)
      request.resume().once('end', () => bulk(request, response))
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

  function answer(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }

  function senderOf(doubts: string[], more: Partial<SenderOptions> = {}): Sender {
    return new Sender(senderOptions(cluster, { onDoubt: message => doubts.push(message), ...more }))
  }

  const created = (more: object) => (_: IncomingMessage, response: ServerResponse) =>
    answer(response, 200, { errors: false, items: [{ create: { status: 201, ...more } }] })

  test('asks one answer alone for ids and indices, the next one where that was refused', async () => {
    const doubts: string[] = []
    const sender = senderOf(doubts)
    bulk = (_, response) => {
      bulk = created({ _id: 't-1', _index: 'logs' })
      answer(response, 503, { error: { type: 'x', reason: 'r', root_cause: [] }, status: 503 })
    }
    await sender.send(await batchOf(['{}']))
    await sender.send(await batchOf(['{}']))
    expect(paths.map(path => path.includes('_index'))).toEqual([true, true, false])
    expect(doubts).toEqual([])
    const foreign = senderOf(doubts, { ownIds: false })
    await foreign.send(await batchOf(['{}']))
    expect(paths.at(-1)).not.toContain('_index')
  })

  test('says once what a pipeline that sets ids or reroutes takes away', async () => {
    const doubts: string[] = []
    const sender = senderOf(doubts)
    bulk = created({ _id: 'made', _index: 'elsewhere' })
    for (let sent = 0; sent < 3; sent += 1) await sender.send(await batchOf(['{}']))
    // It may choose yet another index.
    expect(paths.filter(path => path.includes('_bulk')).map(path => path.includes('_index'))).toEqual([
      true,
      true,
      true,
    ])
    expect(doubts).toEqual([
      expect.stringContaining('do not keep their ids') as string,
      expect.stringContaining('go to elsewhere instead of logs') as string,
    ])
  })

  test('hears of each index that a pipeline chooses, in every answer', async () => {
    const elsewhere: string[] = []
    const sender = senderOf([], { followsPlaces: true, onElsewhere: index => elsewhere.push(index) })
    for (const index of ['logs', 'moved', 'logs', 'other', 'moved']) {
      bulk = created({ _id: 't-1', _index: index })
      await sender.send(await batchOf(['{}']))
    }
    expect(new Set(elsewhere)).toEqual(new Set(['moved', 'other']))
    const asked = paths.filter(path => path.includes('_bulk'))
    expect(asked.map(path => path.includes('_index'))).toEqual(Array(5).fill(true))
  })

  test('takes an index behind an alias for what it is', async () => {
    const doubts: string[] = []
    settings = { 'logs-000007': { settings: { index: { uuid: 'u' } } } }
    bulk = created({ _id: 't-1', _index: 'logs-000007' })
    await senderOf(doubts).send(await batchOf(['{}']))
    expect(doubts).toEqual([])
  })
})
