import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connected, connect } from '../../src/index.js'
import { newIndex, through } from './options.js'
import type { World } from './world.js'

type Query = Readonly<Record<string, unknown>>

/** Searches, updates and index templates, as tests of an application use them. */
export function describeSearch(world: () => World): void {
  let opened: Connected
  let index = ''

  beforeAll(async () => {
    const { username, password } = world().cluster
    // Templates are more than the API key may make.
    const { target, deadLetters: _, ...way } = through(world(), world().proxy.http)
    const user = { ...target, apiKey: undefined, username, password }
    opened = await connect({ ...way, target: user, preflightConnections: 1 })
    index = newIndex('searched')
    const lines = documents.flatMap((document, at) => [JSON.stringify({ index: { _id: String(at + 1) } }), document])
    await ask('POST', `/${index}/_bulk?refresh=true`, `${lines.join('\n')}\n`)
  })
  afterAll(async () => await opened.close())

  const ask = async (method: string, path: string, body?: unknown) => {
    const [plain = '', querystring = ''] = path.split('?')
    const asked = { method, path: plain, querystring, ...(path.includes('_bulk') ? { bulkBody: body as string } : { body: body as object }) } // prettier-ignore
    const answered = await opened.client.transport.request<Query>(asked, { meta: true, ignore: [400, 404, 409] })
    return { status: answered.statusCode, body: answered.body }
  }
  const search = async (body: Query, query = '') => {
    const { status, body: found } = await ask('POST', `/${index}/_search${query}`, body)
    const { hits } = found as { hits?: { total?: { value: number }; hits: { _id: string; sort?: unknown[]; _source?: unknown }[] } } // prettier-ignore
    return { status, total: hits?.total?.value, hits: hits?.hits ?? [], found }
  }
  const idsOf = async (body: Query) => (await search(body)).hits.map(({ _id: id }) => Number(id))
  /** Elasticsearch sorts by scores, and the lab has none. */
  const matching = async (query: Query) => (await idsOf({ query, sort: ['_doc'] })).toSorted((a, b) => a - b)

  describe('searches', () => {
    test.each(queries)('find what matches %j', async (query, ids) => {
      expect(await matching(query)).toEqual(ids)
    })

    test.each(strings)('find what a search box says: %s', async (words, ids, more = {}) => {
      expect(await matching({ query_string: { query: words, ...more } })).toEqual(ids)
    })

    test.each(refused)('refuse %j', async body => {
      expect((await search(body)).status).toBe(400)
    })

    test('show pages in an order, with the values that they were sorted by', async () => {
      const { hits, total } = await search({ sort: [{ n: 'desc' }], from: 1, size: 2 })
      expect([total, hits.map(({ _id: id, sort }) => [id, sort])]).toEqual([
        4,
        [
          ['3', [3]],
          ['2', [2]],
        ],
      ])
      expect(await idsOf({ sort: [{ price: { order: 'asc' } }] })).toEqual([1, 2, 4, 3])
      expect(await idsOf({ sort: [{ price: { order: 'desc', missing: '_first' } }] })).toEqual([3, 4, 2, 1])
      expect(await idsOf({ sort: ['city.keyword'] })).toEqual([1, 2, 4, 3])
      expect(await idsOf({ sort: [{ ok: 'desc' }, { n: 'desc' }] })).toEqual([1, 2, 4, 3])
      const byTime = await search({ sort: ['at'], size: 3 })
      expect(byTime.hits.map(({ sort }) => sort)).toEqual([[1768435200000], [1769947200000], [1772236800000]])
      const after = await search({ sort: [{ n: 'asc' }], search_after: [2], size: 1 })
      expect(after.hits.map(({ _id: id }) => id)).toEqual(['3'])
      const inUrl = await search({}, '?q=city:york&sort=n:desc&size=1&_source=n')
      expect(inUrl.hits).toMatchObject([{ _id: '4', _source: { n: 10 } }])
    })

    test('show all of a document, some of it or nothing', async () => {
      const first = async (source: unknown) => (await search({ query: { ids: { values: ['1'] } }, _source: source })).hits[0]?._source // prettier-ignore
      expect(await first(true)).toEqual(JSON.parse(documents[0]))
      expect(await first(false)).toBeUndefined()
      expect(await first(['n', 'o'])).toEqual({ n: 1, o: { x: 1, y: { z: 'deep' } } })
      expect(await first('o.y.*')).toEqual({ o: { y: { z: 'deep' } } })
      expect(await first({ includes: ['o', 'c*'], excludes: ['o.x'] })).toEqual({
        city: 'New York',
        o: { y: { z: 'deep' } },
      })
    })

    test('count hits unless told otherwise, and show versions', async () => {
      const { found } = await search({ size: 1, sort: ['n'], version: true, seq_no_primary_term: true })
      const hit = { _index: index, _id: '1', _version: 1, _seq_no: 0, _primary_term: 1, _score: null }
      expect(found).toMatchObject({ timed_out: false, hits: { total: { value: 4, relation: 'eq' }, max_score: null, hits: [hit] } }) // prettier-ignore
      expect((await search({ track_total_hits: false })).found['hits']).not.toHaveProperty('total')
      expect((await search({ track_total_hits: 2 })).found).toMatchObject({ hits: { total: { value: 2, relation: 'gte' } } }) // prettier-ignore
      expect((await search({ query: { match_all: {} }, size: 1 })).found).toMatchObject({ hits: { max_score: 1, hits: [{ _score: 1 }] } }) // prettier-ignore
      const { body: counted } = await ask('POST', `/${index}/_count`, { query: { range: { n: { gte: 2 } } } })
      expect(counted).toMatchObject({ count: 3 })
    })
  })

  describe('updates', () => {
    test('merge, do nothing, make a missing document, and name what is missing or has changed', async () => {
      const other = newIndex('updated')
      const update = async (id: string, body: Query, query = '') =>
        await ask('POST', `/${other}/_update/${id}${query}`, body)
      expect(await update('1', { doc: { a: 1 }, doc_as_upsert: true })).toMatchObject({ status: 201, body: { _id: '1', _version: 1, result: 'created' } }) // prettier-ignore
      expect(await update('1', { doc: { o: { b: [2] } } })).toMatchObject({ status: 200, body: { _version: 2, result: 'updated' } }) // prettier-ignore
      expect(await update('1', { doc: { a: 1 } }, '?refresh=true')).toMatchObject({ status: 200, body: { _version: 2, result: 'noop' } }) // prettier-ignore
      expect(await world().source(other, '1')).toBe('{"a":1,"o":{"b":[2]}}')
      expect(await update('2', { doc: { a: 1 }, upsert: { a: 2 } })).toMatchObject({ status: 201 })
      expect(await update('3', { doc: { a: 1 } })).toMatchObject({ status: 404, body: { error: { type: 'document_missing_exception' } } }) // prettier-ignore
      expect(await update('1', { doc: { a: 3 } }, '?if_seq_no=0&if_primary_term=1')).toMatchObject({ status: 409 })
      expect(await update('1', { docs: {} })).toMatchObject({ status: 400 })
      const again = await ask('PUT', `/${other}/_doc/1?op_type=create`, { a: 9 })
      expect(again).toMatchObject({ status: 409, body: { error: { type: 'version_conflict_engine_exception' } } })
      expect(await ask('PUT', `/${other}/_doc/1?if_seq_no=0&if_primary_term=1`, { a: 9 })).toMatchObject({
        status: 409,
      })
    })
  })

  describe('index templates', () => {
    test('are made, listed, applied to new indices, and deleted', async () => {
      const name = newIndex('template')
      const path = `/_index_template/${name}`
      const template = { settings: { number_of_replicas: 0 }, mappings: { properties: { total: { type: 'double' } } } }
      expect(await ask('HEAD', path)).toMatchObject({ status: 404 })
      expect(await ask('PUT', path, { template })).toMatchObject({ status: 400 })
      const given = { index_patterns: [`${name}-*`], priority: 7, template }
      expect(await ask('PUT', path, given)).toEqual({ status: 200, body: { acknowledged: true } })
      expect(await ask('PUT', `${path}?create=true`, given)).toMatchObject({ status: 400 })
      expect(await ask('HEAD', path)).toMatchObject({ status: 200 })
      for (const asked of [path, `/_index_template/${name.slice(0, -2)}*`]) {
        const { body } = await ask('GET', asked)
        expect(body).toMatchObject({ index_templates: [{ name, index_template: { index_patterns: [`${name}-*`], priority: 7 } }] }) // prettier-ignore
      }
      await ask('PUT', `/${name}-1/_doc/1`, { total: 1 })
      const { body: made } = await ask('GET', `/${name}-1/_mapping`)
      expect(made).toMatchObject({ [`${name}-1`]: { mappings: { properties: { total: { type: 'double' } } } } })
      expect(await ask('DELETE', path)).toEqual({ status: 200, body: { acknowledged: true } })
      expect(await ask('GET', path)).toMatchObject({ status: 404 })
      expect(await ask('DELETE', path)).toMatchObject({ status: 404 })
    })
  })
}

const documents = [
  '{"n":1,"price":1.5,"city":"New York","tags":["a","b"],"at":"2026-01-15","ok":true,"o":{"x":1,"y":{"z":"deep"}},"big":9007199254740993}',
  '{"n":2,"price":2.5,"city":"Paris","tags":["b"],"at":"2026-02-01T12:00:00Z","ok":false,"big":9007199254740992}',
  '{"n":3,"city":"new orleans","at":"2026-02-28","note":"The quick brown fox. It isn\'t 3.5 times as quick."}',
  '{"n":10,"price":10,"city":"York","tags":[],"note":"quick, not brown","at":null}',
] as const

const queries: readonly [Query, number[]][] = [
  [{ match_all: {} }, [1, 2, 3, 4]],
  [{ match_none: {} }, []],
  [{ term: { 'city.keyword': 'Paris' } }, [2]],
  [{ term: { city: 'york' } }, [1, 4]],
  [{ term: { city: 'York' } }, []],
  [{ term: { note: '3.5' } }, [3]],
  [{ term: { note: "isn't" } }, [3]],
  [{ term: { n: { value: 2 } } }, [2]],
  [{ term: { n: '2' } }, [2]],
  [{ term: { n: 2.5 } }, []],
  [{ term: { price: 2.5 } }, [2]],
  [{ term: { ok: true } }, [1]],
  [{ term: { 'tags.keyword': 'b' } }, [1, 2]],
  [{ term: { 'o.x': 1 } }, [1]],
  [{ term: { 'o.y.z.keyword': 'deep' } }, [1]],
  [{ term: { nowhere: 1 } }, []],
  [{ term: { big: '9007199254740993' } }, [1]],
  [{ term: { at: '2026-02-01' } }, [2]],
  [{ term: { _id: '3' } }, [3]],
  [{ terms: { n: [1, 3] } }, [1, 3]],
  [{ ids: { values: ['2', '9'] } }, [2]],
  [{ exists: { field: 'tags' } }, [1, 2]],
  [{ exists: { field: 'at' } }, [1, 2, 3]],
  [{ exists: { field: 'o' } }, [1]],
  [{ range: { n: { gte: 2, lt: 10 } } }, [2, 3]],
  [{ range: { n: { gt: 2.5 } } }, [3, 4]],
  [{ range: { price: { gt: 1.5, lte: 10 } } }, [2, 4]],
  [{ range: { at: { gte: '2026-02' } } }, [2, 3]],
  [{ range: { at: { lte: '2026-02' } } }, [1, 2]],
  [{ range: { at: { lte: '2026-02-28' } } }, [1, 2, 3]],
  [{ range: { at: { gt: '2026-02-01T12' } } }, [3]],
  [{ range: { at: { lt: '2026-02' } } }, [1]],
  [{ range: { at: { gt: '2026-01' } } }, [1, 2, 3]],
  [{ range: { at: { gt: '2026-01-15' } } }, [2, 3]],
  [{ range: { at: { gte: 1769947200000 } } }, [2, 3]],
  [{ range: { 'city.keyword': { gte: 'P', lt: 'Q' } } }, [2]],
  [{ match: { city: 'new york' } }, [1, 3, 4]],
  [{ match: { city: { query: 'new york', operator: 'and' } } }, [1]],
  [{ bool: { must: [{ match: { note: 'quick' } }], must_not: { term: { n: 3 } } } }, [4]],
  [{ bool: { filter: [{ range: { n: { lte: 3 } } }], should: [{ term: { n: 1 } }, { term: { ok: false } }], minimum_should_match: 1 } }, [1, 2]], // prettier-ignore
  [{ bool: { should: [{ term: { n: 1 } }, { term: { n: 3 } }] } }, [1, 3]],
  [{ bool: { must: { term: { n: 1 } }, should: { term: { n: 3 } } } }, [1]],
]

const strings: readonly [string, number[], Query?][] = [
  ['*', [1, 2, 3, 4]],
  ['city:paris', [2]],
  ['york', [1, 4]],
  ['new york', [1, 3, 4]],
  ['new york', [1], { fields: ['city'], default_operator: 'AND' }],
  ['New York', [1], { default_field: 'city.keyword' }],
  ['quick AND fox', [3]],
  ['quick AND NOT fox', [4]],
  ['quick NOT fox', [4]],
  ['NOT quick', [1, 2]],
  ['"quick brown"', [3]],
  ['note:"brown fox"', [3]],
  ['n:[2 TO 10]', [2, 3, 4]],
  ['n:{2 TO 10}', [3]],
  ['n:[3 TO *]', [3, 4]],
  ['n:>=3', [3, 4]],
  ['n:>2 AND city:york', [4]],
  ['at:[2026-02-01 TO 2026-02-28]', [2, 3]],
  ['city:(paris OR york)', [1, 2, 4]],
  ['city:york OR note:fox AND n:3', [3]],
  ['(city:york OR note:fox) AND n:>1', [3, 4]],
  ['city:new*', [1, 3]],
  ['city:p?ris', [2]],
  ['city.keyword:N*', [1]],
  ['tags:b -n:2', [1]],
  ['+city:york +note:quick', [4]],
  ['city.keyword:"New York"', [1]],
  [String.raw`city.keyword:New\ York`, [1]],
  ['_exists_:note', [3, 4]],
  ['price:*', [1, 2, 4]],
  ['2', [2]],
  ['n:abc', []],
  ['o.\\*:deep', [1]],
]

const refused: readonly Query[] = [
  { query: { term: { n: 'abc' } } },
  { query: { range: { at: { gte: 'yesterday' } } } },
  { query: { nothing_like_it: {} } },
  { query: { term: { n: 1, price: 2 } } },
  { query: { query_string: { query: 'city:(' } } },
  { query: { query_string: { query: 'n:abc', default_field: 'city' } } },
  { sort: ['city'] },
  { sort: ['nowhere'] },
  { from: 9_999, size: 2 },
  { size: -1 },
  { nothing: 1 },
]
