import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { countDocuments, waitForCopies } from '../../../../src/route/cluster/one-index.js'
import { likeBefore } from '../../../../src/route/cluster/indices.js'
import type { Cluster } from '../../../../src/route/cluster/open-cluster.js'
import { isSluiceError } from '../../../../src/index.js'

/** A cluster that gives these answers one after the other, and what it was asked. */
function answering(...answers: readonly (readonly [number, object])[]) {
  const asked: unknown[] = []
  const left = [...answers]
  const request = async ({ path, querystring }: { path: string; querystring?: object }) => {
    asked.push([path, querystring])
    const [statusCode, body] = left.shift() ?? [599, {}]
    const headers = { 'x-elastic-product': 'Elasticsearch' }
    return { statusCode, headers, body: Readable.from([Buffer.from(JSON.stringify(body))]) }
  }
  const route = { form: 'direct', target: new URL('https://localhost:9200') }
  const cluster = { client: { transport: { request } }, route, display: 'https://localhost:9200' }
  return { cluster: cluster as unknown as Cluster, asked }
}

const health = (status: string, nodes: number) => ({ status, number_of_data_nodes: nodes, timed_out: false })
const path = '/_cluster/health/a'

test('copies are waited for where they have a node to be on', async () => {
  const waits = [path, { wait_for_status: 'green', timeout: '30s' }]
  for (const [answers, expected, further] of [
    [[[200, health('green', 3)]], 'green', []],
    [[[200, health('yellow', 1)]], 'yellow', []],
    [[[200, health('red', 3)]], 'red', []],
    [
      [
        [200, health('yellow', 3)],
        [200, health('green', 3)],
      ],
      'green',
      [waits],
    ],
    // The time was over first.
    [
      [
        [200, health('yellow', 3)],
        [408, health('yellow', 3)],
      ],
      'yellow',
      [waits],
    ],
  ] as const) {
    const { cluster, asked } = answering(...answers)
    expect(await waitForCopies(cluster, 'a', 30)).toBe(expected)
    expect(asked).toEqual([[path, {}], ...further])
  }
})

test('a key that may not ask for health is no hindrance', async () => {
  const error = { type: 'security_exception', reason: 'action [cluster:monitor/health] is unauthorized' }
  const { cluster } = answering([403, { error: { root_cause: [error], ...error }, status: 403 }])
  expect(await waitForCopies(cluster, 'a', 30)).toBe('unknown')
})

test('shards that did not answer are told with the count, and a refusal is named', async () => {
  const _shards = { total: 2, successful: 1, skipped: 0, failed: 1 }
  const { cluster } = answering([200, { count: 7, _shards }])
  expect(await countDocuments(cluster, 'a', { match_all: {} })).toEqual({ documents: 7, failedShards: 1 })
  const error = { type: 'parsing_exception', reason: 'unknown query [fuzy]' }
  const refusing = answering([400, { error: { root_cause: [error], ...error }, status: 400 }]).cluster
  const failed = await countDocuments(refusing, 'a b').catch((caught: unknown) => caught)
  expect(isSluiceError(failed) ? failed.message : failed).toBe(
    'https://localhost:9200 refused POST /a b/_count with status 400: parsing_exception: unknown query [fuzy]',
  )
})

test('a new index takes over how documents are handled, and nothing of the state of the one before', () => {
  const kept = {
    'index.number_of_shards': '3',
    'index.number_of_replicas': '1',
    'index.analysis.analyzer.plain.filter': ['lowercase'],
    'index.mapping.total_fields.limit': '2000',
    'index.sort.field': 'at',
    'index.max_result_window': '50000',
  }
  const state = {
    'index.uuid': 'u',
    'index.creation_date': '1',
    'index.provided_name': 'a-1',
    'index.version.created': '9009000',
    'index.blocks.write': 'true',
    'index.lifecycle.name': 'delete-soon',
    'index.routing.allocation.include._tier_preference': 'data_hot',
    'index.resize.source.name': 'a-0',
  }
  const mappings = { properties: { n: { type: 'long' } } }
  const facts = { name: 'a-1', settings: { ...kept, ...state }, mappings, aliases: {} }
  expect(likeBefore(facts, false)).toEqual({ settings: kept, mappings })
  const { 'index.number_of_shards': _, 'index.number_of_replicas': __, ...serverless } = kept
  expect(likeBefore(facts, true)).toEqual({ settings: serverless, mappings })
})
