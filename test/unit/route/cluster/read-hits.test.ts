import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { highestNumber, readHits } from '../../../../src/route/cluster/read-hits.js'
import type { HitsPage } from '../../../../src/route/cluster/documents.js'
import type { ReachedCluster } from '../../../../src/route/cluster/request.js'

interface Asked {
  readonly path: string
  readonly querystring: Readonly<Record<string, string>>
  readonly body: Buffer
}

function clusterWith(hits: readonly string[], before = '"timed_out":false,', behind = '') {
  return clusterOf(`{"took":1,${before}"hits":{"max_score":null,"hits":[${hits.join(' ,\n')}]}${behind}}`)
}

function answering(text: string): ReachedCluster {
  return clusterOf(text).cluster
}

function clusterOf(text: string) {
  const asked: Asked[] = []
  const request = async (one: Asked) => {
    asked.push(one)
    const headers = { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' }
    return await Promise.resolve({ statusCode: 200, headers, body: Readable.from([Buffer.from(text)]) })
  }
  const route = { target: new URL('http://localhost:9200'), form: 'direct' }
  const cluster = { client: { transport: { request } }, route, display: 'http://localhost:9200' }
  return { asked, cluster: cluster as unknown as ReachedCluster }
}

const hit = (number: number, source = '{"n":1.0}') =>
  `{"_index":".ds-logs-000001","_id":"${number}","_source":${source},"sort":[${number}]}`

const question = { index: 'logs', shard: 2, after: undefined, upTo: Infinity, query: undefined, size: 3 }

/** White space may stand before a hit. */
function linesOf({ lines }: HitsPage): string[] {
  const text = lines.toString()
  if (text === '') return []
  expect(text).toMatch(/\n$/)
  return text
    .slice(0, -1)
    .split('\n')
    .map(line => line.trimStart())
}

describe('a page of hits', () => {
  test('ends at the last number that is asked for', async () => {
    const { cluster, asked } = clusterWith([hit(3), hit(5), hit(8)])
    const page = await readHits(cluster, { ...question, after: 2, upTo: 7 })
    expect([page.numbers, page.isLast, linesOf(page)]).toEqual([[3, 5], true, [hit(3), hit(5)]])
    const [{ path, querystring, body } = { path: '', querystring: {}, body: Buffer.alloc(0) }] = asked
    expect([path, querystring['preference']]).toEqual(['/logs/_search', '_shards:2|sluice-reads'])
    expect(JSON.parse(body.toString())).toMatchObject({
      size: 3,
      sort: [{ _seq_no: 'asc' }],
      query: { bool: { filter: [{ range: { _seq_no: { gt: 2, lte: 7 } } }] } },
    })
    const whole = await readHits(clusterWith([hit(3), hit(5), hit(8)]).cluster, { ...question, upTo: 8 })
    expect([whole.numbers, whole.isLast]).toEqual([[3, 5, 8], false])
    const short = await readHits(clusterWith([hit(3)]).cluster, question)
    expect([short.numbers, short.isLast]).toEqual([[3], true])
  })

  test('keeps the bytes of a document, except for line feeds between its parts', async () => {
    const odd = '{\n "a" : 1234567890123456789,\n\n"t":"x\\ny"}'
    const page = await readHits(clusterWith([hit(1), hit(2, odd), hit(3)]).cluster, question)
    expect(linesOf(page)).toEqual([hit(1), hit(2, odd).replaceAll('\n', ' '), hit(3)])
  })

  test('names the data stream instead of the index behind it', async () => {
    for (const namedAs of ['logs', 'a-name-that-is-longer-than-the-index']) {
      const page = await readHits(clusterWith([hit(1), hit(2), hit(3)]).cluster, { ...question, namedAs })
      expect(linesOf(page)).toEqual([1, 2, 3].map(n => hit(n).replace('.ds-logs-000001', namedAs)))
    }
  })

  test('may have no hits', async () => {
    const page = await readHits(clusterWith([]).cluster, question)
    expect([page.numbers, page.isLast, linesOf(page)]).toEqual([[], true, []])
    const past = await readHits(clusterWith([hit(9), hit(10)]).cluster, { ...question, upTo: 8, namedAs: 'logs' })
    expect([past.numbers, past.isLast, linesOf(past)]).toEqual([[], true, []])
  })

  test('that is not whole is refused', async () => {
    const behind = clusterWith([hit(1)], '', ',"timed_out":true').cluster
    await expect(readHits(behind, question)).rejects.toMatchObject({ code: 'CLUSTER_UNAVAILABLE' })
    const none = clusterWith([], '"hits":7,').cluster
    await expect(readHits(none, question)).resolves.toMatchObject({ numbers: [] })
    for (const hits of ['', '"hits":{"hits":{}}', '"hits":{"hits":[', `"hits":{"hits":[${hit(1)}`])
      await expect(readHits(answering(`{"took":1,${hits}`), question)).rejects.toMatchObject({
        code: 'CLUSTER_NOT_ELASTICSEARCH',
      })
    const late = clusterWith([hit(1)], '"timed_out":true,').cluster
    await expect(readHits(late, question)).rejects.toMatchObject({ code: 'CLUSTER_UNAVAILABLE' })
    const unsorted = clusterWith(['{"_id":"1","_source":{}}']).cluster
    await expect(readHits(unsorted, question)).rejects.toMatchObject({ code: 'CLUSTER_NOT_ELASTICSEARCH' })
  })
})

test('the highest number of a shard is that of its last hit', async () => {
  const { cluster, asked } = clusterWith(['{"_id":"1","sort":[41]}'])
  expect(await highestNumber(cluster, { index: 'logs', shard: 0 })).toBe(41)
  expect(JSON.parse(asked[0]?.body.toString() ?? '')).toMatchObject({ size: 1, sort: [{ _seq_no: 'desc' }] })
  expect(await highestNumber(clusterWith([]).cluster, { index: 'logs', shard: 0 })).toBe(-1)
})
