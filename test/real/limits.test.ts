/** A real Elasticsearch that has too little of something, or may not: every document ends in its place, and the receipt balances. */
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { type IngestOptions, type Receipt, type Refused, SluiceError, ingest } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { newIndex, loadThrough } from '../contracts/options.js'
import { describeOnRealServers } from './on-real-servers.js'

const documentOf = (n: number, bytes = 1000) => `{"n":${n},"text":"${'x'.repeat(bytes)}"}\n`
const lines = (count: number, bytes?: number) => Array.from({ length: count }, (_, n) => documentOf(n, bytes)).join('')

interface Loaded {
  readonly receipt: Receipt
  readonly refused: readonly Refused[]
  readonly retried: readonly string[]
  readonly code: string | undefined
}

/** Loads to the receipt, whether or not the run had to stop. */
async function load(world: RealWorld, index: string, text: string, more: Partial<IngestOptions> = {}): Promise<Loaded> {
  const refused: Refused[] = []
  const retried: string[] = []
  const running = ingest({
    ...loadThrough(world, world.proxy.http),
    source: Readable.from([Buffer.from(text)], { objectMode: false }),
    format: 'ndjson',
    index,
    preflightConnections: 1,
    onEvent: event => {
      if (event.type === 'rejected') refused.push(...event.documents)
      if (event.type === 'retry') retried.push(event.failure.code)
    },
    ...more,
  })
  const [receipt, code] = await running.then(
    done => [done, undefined] as const,
    (error: unknown) => {
      if (!(error instanceof SluiceError) || error.receipt === undefined) throw error
      return [error.receipt as Receipt, error.code] as const
    },
  )
  const { read, created, duplicate, rejected, skipped, unsent, unknown } = receipt
  expect(created + duplicate + rejected + skipped + unsent + unknown).toBe(read)
  expect(refused).toHaveLength(rejected)
  return { receipt, refused, retried, code }
}

const small = {
  'http.max_content_length': '200kb',
  'action.auto_create_index': '-absent*,+*',
  'node.processors': 1,
  'thread_pool.write.queue_size': 2,
}
describeOnRealServers({ major: 9, settings: small }, world => {
  test('413 with an empty body: requests are halved until they pass, and the one that is too large is rejected', async () => {
    const index = newIndex('limits')
    const text = `${lines(300)}${documentOf(300, 300_000)}${documentOf(301)}`
    const { receipt, refused } = await load(world(), index, text)
    expect(receipt).toMatchObject({ status: 'finished', read: 302, created: 301, rejected: 1, unknown: 0 })
    expect(refused.map(({ status, origin }) => [status, origin.document])).toEqual([[413, 301]])
    expect(await world().count(index)).toBe(301)
  })

  test('an index that takes no writes stops the run with every document unsent', async () => {
    const index = newIndex('limits')
    await world().ask('PUT', `/${index}`, { settings: { 'index.blocks.write': true } })
    const { receipt, code, retried } = await load(world(), index, lines(200))
    expect(code).toBe('INDEX_BLOCKED')
    // The request is too large, and its connection may end before the 413 is read. Then its documents are unknown.
    expect(receipt).toMatchObject({ created: 0, rejected: 0, ...(retried.length === 0 ? { unknown: 0 } : {}) })
    expect(await world().count(index)).toBe(0)
  })

  test('an index at flood stage is waited for, and takes every document when there is room again', async () => {
    const index = newIndex('limits')
    await world().ask('PUT', `/${index}`, { settings: { 'index.blocks.read_only_allow_delete': true } })
    let isFreed = false
    const { receipt, code } = await load(world(), index, lines(200), {
      onEvent: ({ type }) => {
        if (type !== 'retry' || isFreed) return
        isFreed = true
        void world().ask('PUT', `/${index}/_settings`, { 'index.blocks.read_only_allow_delete': null })
      },
    })
    expect({ code, isFreed }).toEqual({ code: undefined, isFreed: true })
    expect(receipt).toMatchObject({ status: 'finished', created: 200, unknown: 0 })
    expect(await world().count(index)).toBe(200)
  })

  test('a closed index stores nothing, and no document is lost on the way', async () => {
    const index = newIndex('limits')
    await world().ask('PUT', `/${index}`)
    await world().ask('POST', `/${index}/_close`)
    const { receipt, refused } = await load(world(), index, lines(50))
    expect(receipt).toMatchObject({ created: 0, unknown: 0 })
    for (const { type, status } of refused) expect([type, status]).toEqual(['index_closed_exception', 400])
    await world().ask('POST', `/${index}/_open`)
    expect(await world().count(index)).toBe(0)
  })

  test('a pipeline that fails for some documents rejects those, without a second try', async () => {
    const index = newIndex('limits')
    const fail = { fail: { message: 'not this one', if: 'ctx.n % 10 == 0' } }
    await world().ask('PUT', '/_ingest/pipeline/limits', { processors: [fail] })
    const { receipt, refused, retried } = await load(world(), index, lines(100), { pipeline: 'limits' })
    expect(receipt).toMatchObject({ status: 'finished', created: 90, rejected: 10, unknown: 0 })
    expect(new Set(refused.map(({ type }) => type))).toEqual(new Set(['fail_processor_exception']))
    expect(retried).toEqual([])
    expect(await world().count(index)).toBe(90)
  })

  test('an index that may not be made is 404 for each document, which the receipt tells', async () => {
    const { receipt, refused, code } = await load(world(), newIndex('absent'), lines(20))
    expect(receipt).toMatchObject({ created: 0, unknown: 0 })
    if (code === undefined) for (const { status } of refused) expect(status).toBe(404)
  })

  // A request has items for more shards than there are places in the queue.
  test('429 for single items: those alone are sent again, until all are stored', async () => {
    const loads = Array.from({ length: 2 }, async () => {
      const index = newIndex('limits')
      await world().ask('PUT', `/${index}`, { settings: { number_of_shards: 8, number_of_replicas: 0 } })
      const loaded = await load(world(), index, lines(800, 200), { batchDocs: 200, concurrency: 4 })
      expect(await world().count(index)).toBe(800)
      return loaded
    })
    const loaded = await Promise.all(loads)
    for (const { receipt } of loaded) expect(receipt).toMatchObject({ status: 'finished', created: 800, unknown: 0 })
    expect(loaded.flatMap(({ retried }) => retried)).toContain('CLUSTER_OVERLOADED')
  })
})

const pressure = {
  'indexing_pressure.memory.limit': '1mb',
  'indexing_pressure.memory.split_bulk.watermark.low': '20kb',
  'indexing_pressure.memory.split_bulk.watermark.low.bulk_size': '20kb',
  'indexing_pressure.memory.split_bulk.watermark.high': '40kb',
  'indexing_pressure.memory.split_bulk.watermark.high.bulk_size': '40kb',
  'http.max_content_length': '20mb',
}
describeOnRealServers({ major: 9, settings: pressure }, world => {
  test('a refused request that was stored in part: every document ends up there once', async () => {
    const index = newIndex('limits')
    const text = `${lines(400)}${documentOf(400, 1_200_000)}${lines(100)}`
    const { receipt, refused } = await load(world(), index, text, { batchBytes: 20_000_000 })
    expect(receipt).toMatchObject({ status: 'finished', read: 501, rejected: 1, unsent: 0, unknown: 0 })
    expect(refused).toMatchObject([{ type: 'never_accepted', origin: { document: 401 } }])
    expect(receipt.created + receipt.duplicate).toBe(500)
    expect(await world().count(index)).toBe(500)
  })

  test('429 for whole requests: smaller ones pass', async () => {
    // As before 8.17: a request is taken whole or not at all.
    await world().ask('PUT', '/_cluster/settings', { persistent: { 'rest.incremental_bulk': false } })
    const index = newIndex('limits')
    const { receipt, retried } = await load(world(), index, lines(30, 50_000))
    await world().ask('PUT', '/_cluster/settings', { persistent: { 'rest.incremental_bulk': null } })
    expect(retried).toContain('CLUSTER_OVERLOADED')
    expect(receipt).toMatchObject({ status: 'finished', read: 30, created: 30, rejected: 0, unknown: 0 })
    expect(await world().count(index)).toBe(30)
  })
})
