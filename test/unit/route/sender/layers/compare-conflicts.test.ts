import { expect, test } from 'vitest'
import { fail, isSluiceError } from '../../../../../src/base/failure/failure.js'
import type { SourcesQuestion } from '../../../../../src/route/cluster/documents.js'
import type { IndexFacts } from '../../../../../src/route/cluster/indices.js'
import type { Cluster } from '../../../../../src/route/cluster/open-cluster.js'
import { compareConflicts } from '../../../../../src/route/sender/layers/compare-conflicts.js'
import type { BulkRequest, RefusedItem, Verdict } from '../../../../../src/route/sender/send.js'

const body = ['a', 'b', 'c', 'd'].map(id => `{"create":{"_id":"${id}"}}\n{"id":"${id}"}\n`).join('')

const request = (doubtful = false) =>
  ({
    body: { bytes: Buffer.from(body), items: 4, first: 0 },
    batch: { operation: 'create' },
    history: { resent: doubtful, doubtful },
  }) as unknown as BulkRequest

const conflict = (item: number, index?: string): RefusedItem => ({
  item,
  status: 409,
  type: 'version_conflict_engine_exception',
  reason: 'exists',
  ...(index === undefined ? {} : { index }),
})

const answered = (refused: readonly RefusedItem[]): Verdict => ({
  kind: 'done',
  settled: { created: 4 - refused.length, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused },
})

type Stored = (question: SourcesQuestion) => readonly (string | undefined)[]

async function judged(
  refused: readonly RefusedItem[],
  stored: Stored,
  doubtful = false,
  facts: readonly IndexFacts[] = [],
) {
  const doubts: string[] = []
  const readSources = async (question: SourcesQuestion) =>
    await Promise.resolve(stored(question).map(one => (one === undefined ? undefined : Buffer.from(one))))
  const indices = { read: async () => await Promise.resolve(facts) }
  const cluster = { documents: { readSources }, indices } as unknown as Cluster
  const options = { cluster, index: 'orders', onDoubt: (message: string) => doubts.push(message) }
  const send = compareConflicts(options, async () => await Promise.resolve(answered(refused)))
  const verdict = await send(request(doubtful))
  if (verdict.kind !== 'done' && verdict.kind !== 'retryItems') throw new Error(verdict.kind)
  const left = Array.from(verdict.settled.refused, ({ item }) => item)
  expect(verdict.settled.refused).toHaveLength(left.length)
  return { ...verdict, left, doubts }
}

test('a document that is stored as it is sent is a duplicate, and another one stays a conflict', async () => {
  const asked: SourcesQuestion[] = []
  const refused = [conflict(0), conflict(1, '.ds-x'), { ...conflict(2), status: 400 }, conflict(3)]
  const seen = await judged(refused, question => {
    asked.push(question)
    return question.wanted.map(({ id }) => (id === 'd' ? '{"id":"other"}' : `{"id": "${id}"}`))
  })
  expect(asked.map(({ index, wanted }) => [index, wanted.map(({ id }) => id)])).toEqual([
    ['orders', ['a', 'd']],
    ['.ds-x', ['b']],
  ])
  expect(seen).toMatchObject({ kind: 'done', settled: { created: 0, duplicate: 2 }, left: [2, 3], doubts: [] })
})

test('many conflicts are looked up in parts, each of one index', async () => {
  const ids = Array.from({ length: 1100 }, (_, n) => `d${n}`)
  const bytes = Buffer.from(ids.map(id => `{"create":{"_id":"${id}"}}\n{"id":"${id}"}\n`).join(''))
  const asked: [string, number][] = []
  const readSources = async ({ index, wanted }: SourcesQuestion) => {
    asked.push([index, wanted.length])
    return await Promise.resolve(wanted.map(({ id }) => Buffer.from(`{"id":"${id}"}`)))
  }
  const refused = ids.map((_, item) => conflict(item, item % 11 === 0 ? 'other' : undefined))
  const options = { cluster: { documents: { readSources } } as unknown as Cluster, index: 'orders' }
  const one = { ...request(), body: { bytes, items: ids.length, first: 0 } }
  const verdict = await compareConflicts(options, async () => await Promise.resolve(answered(refused)))(one)
  expect(verdict).toMatchObject({ kind: 'done', settled: { duplicate: 1100, refused: { length: 0 } } })
  expect(asked).toEqual([
    ['orders', 500],
    ['other', 100],
    ['orders', 500],
  ])
})

test('a question that may succeed later leaves the conflicts open', async () => {
  const seen = await judged([conflict(1), { ...conflict(2), status: 400 }], () => {
    throw fail('CLUSTER_OVERLOADED', { cluster: 'c', reason: 'busy', status: 429 })
  })
  expect(seen).toMatchObject({ kind: 'retryItems', items: [1], delivery: 'none', left: [2] })
})

test('without the privilege to read, conflicts are rejected, or unknown after a lost answer', async () => {
  const refuse = () => {
    throw fail('CLUSTER_PRIVILEGE_MISSING', { cluster: 'c', reason: 'no read', status: 403 })
  }
  const seen = await judged([conflict(1)], refuse)
  expect(seen).toMatchObject({ kind: 'done', left: [1] })
  expect(seen.doubts).toEqual([expect.stringMatching(/^Sluice cannot see whether documents that exist in orders/)])
  expect(await judged([conflict(1)], refuse, true)).toMatchObject({ kind: 'done', settled: { unknown: 1 }, left: [] })
})

test('an error of ours is thrown', async () => {
  const thrown = await judged([conflict(1)], () => {
    throw new TypeError('a bug')
  }).catch((error: unknown) => error)
  expect(isSluiceError(thrown)).toBe(false)
})

const facts = (settings: object, mappings: object = {}): IndexFacts[] => [
  {
    name: 'orders',
    settings: settings as IndexFacts['settings'],
    mappings: mappings as IndexFacts['mappings'],
    aliases: {},
  },
]

test.each([
  ['a default pipeline', { 'index.default_pipeline': 'enrich' }],
  ['a final pipeline', { 'index.final_pipeline': 'enrich' }],
])(
  'if %s may have changed a document, it is no duplicate, and unknown only after an earlier attempt',
  async (_, settings) => {
    const other: Stored = ({ wanted }) => wanted.map(({ id }) => (id === 'a' ? '{"id":"a"}' : '{"id":"enriched"}'))
    const both = [conflict(0), conflict(1)]
    const first = await judged(both, other, false, facts(settings))
    expect(first).toMatchObject({ settled: { duplicate: 1, unknown: 0 }, left: [1] })
    expect(first.doubts).toEqual([expect.stringMatching(/^an ingest pipeline may have changed documents of orders/)])
    expect(await judged(both, other, true, facts(settings))).toMatchObject({
      settled: { duplicate: 1, unknown: 1 },
      left: [],
    })
    const plain = await judged(both, other, true, facts({ 'index.default_pipeline': '_none' }))
    expect(plain).toMatchObject({ settled: { duplicate: 1, unknown: 0 }, left: [1], doubts: [] })
  },
)

test.each([
  ['a setting', { 'index.mapping.source.mode': 'synthetic' }, {}],
  ['a mapping', {}, { _source: { mode: 'synthetic' } }],
  ['its mode', { 'index.mode': 'logsdb' }, {}],
])('if an index builds documents by %s, equal values are the same document', async (_, settings, mappings) => {
  const built = facts(settings, { ...mappings, properties: { id: { type: 'keyword' } } })
  const stored: Stored = ({ wanted }) => wanted.map(({ id }) => (id === 'a' ? '{"id":["a"]}' : '{"id":"other"}'))
  expect(await judged([conflict(0), conflict(1)], stored, false, built)).toMatchObject({
    settled: { duplicate: 1 },
    left: [1],
  })
  const { left } = await judged([conflict(0)], stored, false, facts({ 'index.mode': 'standard' }))
  expect(left).toEqual([0])
})
