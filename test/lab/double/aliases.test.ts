import { describe, expect, it } from 'vitest'
import { type Answer, ask, openLab } from '../../support/lab/lab-clients.js'

const headers = { 'content-type': 'application/json' }

/** Requests to a cluster of its own, with the answer's JSON. */
async function openCluster() {
  const world = await openLab()
  const send = async (method: string, path: string, body?: object): Promise<Answer & { json: unknown }> => {
    const { httpUrl } = world.lab.line.cluster
    const text = body === undefined ? {} : { body: JSON.stringify(body) }
    const answer = await ask(`${httpUrl}${path}`, { method, headers: { ...world.auth, ...headers }, ...text })
    return { ...answer, json: JSON.parse(answer.text) as unknown }
  }
  return { ...world, send, [Symbol.asyncDispose]: async () => await world[Symbol.asyncDispose]() }
}

const add = (index: string, more: object = {}) => ({ add: { index, alias: 'a', ...more } })
const remove = (index: string, more: object = {}) => ({ remove: { index, alias: 'a', ...more } })

describe('aliases of the lab', () => {
  it('lead reads and writes to their index, which answers by its own name', async () => {
    await using cluster = await openCluster()
    await cluster.send('PUT', '/one', { aliases: { a: { is_write_index: true } } })
    expect(await cluster.send('PUT', '/a/_doc/1', { n: 1 })).toMatchObject({ status: 201, json: { _index: 'one' } })
    expect(await cluster.send('GET', '/a/_doc/1')).toMatchObject({ status: 200, json: { _index: 'one', _id: '1' } })
    expect((await cluster.send('GET', '/a/_count')).json).toMatchObject({ count: 1 })
    expect((await cluster.send('GET', '/a')).json).toMatchObject({ one: { aliases: { a: { is_write_index: true } } } })
    expect((await cluster.send('GET', '/_alias/a')).json).toEqual({ one: { aliases: { a: { is_write_index: true } } } })
    expect((await cluster.send('GET', '/_alias/b')).json).toEqual({ error: 'alias [b] missing', status: 404 })
    expect(cluster.lab.control.count('a')).toBe(1)
  })

  it('change as a whole, or not at all', async () => {
    await using cluster = await openCluster()
    for (const index of ['one', 'two']) await cluster.send('PUT', `/${index}`)
    const change = async (...actions: object[]) => await cluster.send('POST', '/_aliases', { actions })
    const where = async () => (await cluster.send('GET', '/_alias/a')).json
    expect(await change(add('one', { is_write_index: true }))).toMatchObject({ status: 200 })
    const before = await where()
    for (const [actions, status, type] of [
      [[add('two'), remove('two', { must_exist: true }), remove('one')], 404, 'aliases_not_found_exception'],
      [[add('two', { is_write_index: true })], 500, 'illegal_state_exception'],
      [[remove('one'), add('three')], 404, 'index_not_found_exception'],
      [[{ add: { index: 'one', alias: 'two' } }], 400, 'invalid_alias_name_exception'],
    ] as const) {
      expect(await change(...actions)).toMatchObject({ status, json: { error: { type } } })
      expect(await where()).toEqual(before)
    }
    await change(remove('one', { must_exist: true }), add('two', { is_write_index: true }))
    expect(await where()).toEqual({ two: { aliases: { a: { is_write_index: true } } } })
  })

  it('of several indices take writes where one of them is named for that', async () => {
    await using cluster = await openCluster()
    for (const index of ['one', 'two']) await cluster.send('PUT', `/${index}`, { aliases: { a: {} } })
    const refused = await cluster.send('PUT', '/a/_doc/1', {})
    expect(refused).toMatchObject({ status: 400, json: { error: { type: 'illegal_argument_exception' } } })
    await cluster.send('POST', '/_aliases', { actions: [add('two', { is_write_index: true })] })
    expect((await cluster.send('PUT', '/a/_doc/1', {})).json).toMatchObject({ _index: 'two' })
    expect((await cluster.send('DELETE', '/a')).json).toMatchObject({ error: { type: 'illegal_argument_exception' } })
    expect(await cluster.send('PUT', '/a')).toMatchObject({ status: 400, json: { error: { index: 'a' } } })
  })
})

describe('an index of the lab', () => {
  it('shows its settings as a tree or flat, and takes changes but for what is fixed', async () => {
    await using cluster = await openCluster()
    const analysis = { analyzer: { plain: { tokenizer: 'whitespace', filter: ['lowercase'] } } }
    await cluster.send('PUT', '/one', { settings: { refresh_interval: '9s', analysis } })
    await cluster.send('PUT', '/one/_settings', { 'index.number_of_replicas': 0, index: { refresh_interval: null } })
    const tree = await cluster.send('GET', '/one/_settings')
    expect(tree.json).toMatchObject({ one: { settings: { index: { number_of_replicas: '0', analysis } } } })
    expect(tree.text).not.toContain('refresh_interval')
    const flat = await cluster.send('GET', '/one?flat_settings=true')
    const name = 'index.analysis.analyzer.plain.filter'
    expect(flat.json).toMatchObject({ one: { settings: { [name]: ['lowercase'], 'index.number_of_replicas': '0' } } })
    await cluster.send('PUT', '/one/_settings', { 'index.number_of_replicas': null })
    expect((await cluster.send('GET', '/one/_settings')).text).toContain('"number_of_replicas":"1"')
    expect((await cluster.send('PUT', '/one/_settings', { number_of_shards: 3 })).status).toBe(400)
  })

  it('keeps what a mapping remembers, and replaces it as a whole', async () => {
    await using cluster = await openCluster()
    await cluster.send('PUT', '/one', { mappings: { _meta: { a: 1, b: 2 }, properties: { n: { type: 'long' } } } })
    await cluster.send('PUT', '/one/_mapping', { _meta: { a: 3 }, properties: { s: { type: 'keyword' } } })
    const mappings = { _meta: { a: 3 }, properties: { n: { type: 'long' }, s: { type: 'keyword' } } }
    expect((await cluster.send('GET', '/one/_mapping')).json).toEqual({ one: { mappings } })
    await cluster.send('PUT', '/one/_mapping', { properties: { t: { type: 'date' } } })
    expect((await cluster.send('GET', '/one/_mapping')).json).toMatchObject({ one: { mappings: { _meta: { a: 3 } } } })
  })

  it('counts what a query matches', async () => {
    await using cluster = await openCluster()
    await cluster.send('PUT', '/one/_doc/1', { sku: 'x', o: { n: [1, 2] } })
    await cluster.send('PUT', '/one/_doc/2', { sku: null })
    for (const [query, count] of [
      [{ match_all: {} }, 2],
      [{ exists: { field: 'sku' } }, 1],
      [{ term: { 'sku.keyword': 'x' } }, 1],
      [{ term: { 'o.n': { value: 2 } } }, 1],
      [{ term: { 'o.n': 3 } }, 0],
    ] as const) {
      expect((await cluster.send('POST', '/one/_count', { query })).json).toMatchObject({ count })
    }
    expect((await cluster.send('POST', '/one/_count', { query: { fuzzy: {} } })).status).toBe(400)
  })

  it('can leave a request without an answer, carried out or not', async () => {
    await using cluster = await openCluster()
    const { lab } = cluster
    for (const done of [true, false]) {
      lab.control.plant({ stall: { method: 'PUT', path: '/_settings', done, times: 1 } })
      await cluster.send('PUT', '/one')
      void cluster.send('PUT', '/one/_settings', { 'blocks.write': done }).catch(() => undefined)
      await expect.poll(() => lab.control.struck('stall')).toBe(1)
      const { text } = await cluster.send('GET', '/one/_settings')
      expect(text.includes('"write":"true"')).toBe(done)
      lab.control.heal()
      await cluster.send('DELETE', '/one')
    }
    expect(lab.control.struck('stall')).toBe(0)
  })
})
