import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { viewOf } from '../../../../src/route/cluster/alias-view.js'
import type { Cluster } from '../../../../src/route/cluster/open-cluster.js'
import { isSluiceError } from '../../../../src/index.js'

type Answers = Readonly<Record<string, readonly [number, object]>>

/** A cluster that gives these answers by path. */
function answering(answers: Answers): Cluster {
  const request = async ({ path }: { path: string }) => {
    const [statusCode, body] = answers[path] ?? [599, {}]
    const headers = { 'x-elastic-product': 'Elasticsearch' }
    return await Promise.resolve({ statusCode, headers, body: Readable.from([Buffer.from(JSON.stringify(body))]) })
  }
  const route = { form: 'direct', target: new URL('https://localhost:9200') }
  return { client: { transport: { request } }, route, display: 'https://localhost:9200' } as unknown as Cluster
}

const alias = (properties: object): Answers => ({
  '/a/_alias/a': [200, { one: { aliases: { a: {} } }, two: { aliases: { a: properties } } }],
})
const behind = { kind: 'name', behind: ['one', 'two'], uuids: ['u', 'v'] } as const
const security = { type: 'security_exception', reason: 'action [indices:admin/aliases/get] is unauthorized' }
const may = (read: boolean): Answers => ({
  '/_security/user/_has_privileges': [200, { index: { one: { read: true }, two: { read } } }],
})

test('a search for documents goes to an alias, and behind one that hides some of them', async () => {
  for (const [answers, names, mayHide] of [
    [alias({}), ['a'], false],
    [alias({ is_write_index: true, index_routing: 'x' }), ['a'], false],
    [{ ...alias({ filter: { term: { n: 1 } } }), ...may(true) }, ['one', 'two'], false],
    [{ ...alias({ search_routing: 'x' }), ...may(true) }, ['one', 'two'], false],
    // A cluster without security does not say what the credentials may do.
    [alias({ filter: { term: { n: 1 } } }), ['one', 'two'], false],
    // A data stream is no alias.
    [{ '/a/_alias/a': [404, { error: 'alias [a] missing', status: 404 }] }, ['a'], false],
    [{ '/a/_alias/a': [403, { error: { root_cause: [security], ...security }, status: 403 }] }, ['a'], true],
  ] as [Answers, string[], boolean][]) {
    expect(await viewOf(answering(answers), 'a', behind)).toEqual({ names, mayHide })
  }
  expect(await viewOf(answering({}), 'a', { kind: 'index', uuid: 'u' })).toEqual({ names: ['a'], mayHide: false })
  expect(await viewOf(answering({}), 'a', { kind: 'missing' })).toEqual({ names: ['a'], mayHide: false })
})

test('credentials that may use only the alias are refused by name, because a search would show nothing', async () => {
  const cluster = answering({ ...alias({ filter: { term: { n: 1 } } }), ...may(false) })
  const failed = await viewOf(cluster, 'a', behind).catch((caught: unknown) => caught)
  expect(isSluiceError(failed) ? failed.message : failed).toBe(
    'https://localhost:9200 refused with 403: a is an alias that hides documents, so Sluice cannot look them up without read on two',
  )
})
