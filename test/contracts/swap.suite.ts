import { describe, expect, test } from 'vitest'
import { type Connected, type IngestOptions, connect, ingest, rollback } from '../../src/index.js'
import { documents, failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Loads that switch an alias when they are through: what the cluster holds before, meanwhile and after. */
export function describeSwap(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 })
  const load = async (swapAlias: string, more: Partial<IngestOptions> = {}) =>
    await ingest({ ...base(), source: documents(10), swapAlias, ...more })

  async function ask<T>(question: (client: Connected['client']) => Promise<T>): Promise<T> {
    await using way = await connect(base())
    return await question(way.client)
  }

  const indexOf = async (name: string) =>
    await ask(async client => Object.entries(await client.indices.get({ index: name, flat_settings: true })))

  /** The names that an alias leads to. */
  const namesBehind = async (alias: string) => (await indexOf(alias)).map(([name]) => name)

  const body = {
    settings: {
      refresh_interval: '7s',
      number_of_shards: 2,
      number_of_replicas: 1,
      analysis: { analyzer: { plain: { type: 'custom', tokenizer: 'whitespace', filter: ['lowercase'] } } },
    },
    mappings: {
      _meta: { owner: 'shop' },
      properties: { n: { type: 'integer' }, message: { type: 'text', analyzer: 'plain' } },
    },
  }

  describe('guarded loads', () => {
    test('make the alias, then switch it to an index like the one before; a rollback leads back', async () => {
      const alias = newIndex('swap')
      const first = await load(alias, { indexBody: body })
      const one = first.alias?.to ?? ''
      expect(first).toMatchObject({ created: 10, alias: { name: alias, to: one, switched: true } })
      expect(one).toMatch(new RegExp(`^${alias}-\\d{8}t\\d{6}z-[0-9a-f]{6}$`))
      expect(first.alias).not.toHaveProperty('from')
      expect(await namesBehind(alias)).toEqual([one])
      // An alias keeps what else it says.
      const add = { index: one, alias, index_routing: '7', search_routing: '7' }
      await ask(async client => await client.indices.updateAliases({ actions: [{ add }] }))

      const second = await load(alias, { source: documents(20) })
      const two = second.alias?.to ?? ''
      expect(second.alias).toEqual({ name: alias, from: one, to: two, switched: true })
      expect(await namesBehind(alias)).toEqual([two])
      const described = (await indexOf(alias))[0]?.[1]
      expect(described).toMatchObject({
        aliases: { [alias]: { index_routing: '7', search_routing: '7', is_write_index: true } },
        settings: {
          'index.refresh_interval': '7s',
          'index.number_of_shards': '2',
          'index.number_of_replicas': '1',
          'index.analysis.analyzer.plain.filter': ['lowercase'],
        },
        mappings: { properties: { n: { type: 'integer' }, message: { type: 'text' } } },
      })
      // How it was loaded is said there, and nothing is left to restore.
      expect(described?.mappings?._meta).toEqual({ owner: 'shop', sluice: { run: second.run, alias, previous: one } })
      expect([await world().count(one), await world().count(two)]).toEqual([10, 20])

      const target = { ...base(), deadLetters: undefined }
      const { deadLetters: _, ...way } = target
      expect(await rollback({ ...way, alias })).toEqual({ alias, from: two, to: one, documents: 10 })
      expect(await namesBehind(alias)).toEqual([one])
      const back = (await indexOf(alias))[0]?.[1]
      expect(back?.aliases?.[alias]).toMatchObject({ index_routing: '7', is_write_index: true })
      expect((await failureOf(rollback({ ...way, alias }))).code).toBe('ROLLBACK_IMPOSSIBLE')
      expect((await failureOf(rollback({ ...way, alias, to: `${one}-missing` }))).code).toBe('ROLLBACK_IMPOSSIBLE')
      expect(await rollback({ ...way, alias, to: two })).toMatchObject({ from: one, to: two, documents: 20 })
      expect(await namesBehind(alias)).toEqual([two])
    })

    test('refresh and copy nothing while documents stream in, and lead nowhere until they are through', async () => {
      const alias = newIndex('swap')
      const before = (await load(alias, { indexBody: body })).alias?.to ?? ''
      const seen: unknown[] = []
      const source = async function* () {
        yield { n: 1 }
        const found = await indexOf(`${alias}-*`)
        const [, fresh] = found.find(([name]) => name !== before) ?? []
        const settings = fresh?.settings
        seen.push(fresh?.aliases, settings?.['index.refresh_interval'], settings?.['index.number_of_replicas'])
        seen.push(fresh?.mappings?._meta?.['sluice'], await namesBehind(alias))
        yield { n: 2 }
      }
      const { run, alias: switched } = await load(alias, { source: source(), batchMs: 1 })
      const restore = { 'index.refresh_interval': '7s', 'index.number_of_replicas': '1' }
      expect(seen).toEqual([{}, '-1', '0', { run, alias, previous: before, loading: true, restore }, [before]])
      expect(switched).toMatchObject({ from: before, switched: true })
    })

    test('leave the alias when a check fails, keep the index and name it', async () => {
      const alias = newIndex('swap')
      const before = (await load(alias, { indexBody: body })).alias?.to ?? ''
      const query = { exists: { field: 'sku' } }
      const cases: [Partial<IngestOptions>, string][] = [
        [{ checkQuery: { query } }, 'the check query must match at least 1 document but matched 0'],
        [
          { checkQuery: { query: { match_all: {} } }, checkHits: 11 },
          'must match at least 11 documents but matched 10',
        ],
        [{ source: new Set(['{"n":"none"}', '{"n":1}']) }, '1 document was rejected'],
        [{ source: new Set() }, 'the index holds no document'],
      ]
      for (const [more, observed] of cases) {
        const { code, evidence, receipt } = await failureOf(load(alias, more))
        const { to = '', ...rest } = (receipt as { alias: { to?: string } }).alias
        expect([code, evidence, rest]).toEqual([
          'LOAD_CHECK_FAILED',
          { alias, index: to, observed: expect.stringContaining(observed) as string },
          { name: alias, from: before, switched: false },
        ])
        expect(await namesBehind(alias)).toEqual([before])
        expect((await indexOf(to))[0]?.[1].settings).toMatchObject({ 'index.refresh_interval': '7s' })
      }
      const passes = { checkQuery: { query: { match_all: {} } }, checkHits: 10 }
      expect((await load(alias, passes)).alias).toMatchObject({ switched: true })
      const few = await load(alias, { source: new Set(['{"n":"none"}', '{"n":1}']), maxRejected: 1 })
      expect(few).toMatchObject({ rejected: 1, created: 1, alias: { switched: true } })
    })

    test('refuse a name that is an index, or an alias of several', async () => {
      const [index, alias] = [newIndex('swap'), newIndex('swap')]
      await ingest({ ...base(), source: documents(1), index })
      const refused = await failureOf(load(index))
      expect(refused).toMatchObject({ code: 'ALIAS_CONFLICT', evidence: { observed: 'an index has this name' } })
      const one = (await load(alias)).alias?.to ?? ''
      await ask(async client => await client.indices.updateAliases({ actions: [{ add: { index, alias } }] }))
      const several = await failureOf(load(alias))
      expect(several.evidence['observed']).toMatch(/^it is on 2 indices: /)
      expect((await namesBehind(alias)).toSorted()).toEqual([one, index].toSorted())
    })

    test('stop when the alias was switched or made by somebody else meanwhile', async () => {
      const other = newIndex('swap')
      await ingest({ ...base(), source: documents(1), index: other })
      for (const isFirst of [true, false]) {
        const alias = newIndex('swap')
        const before = isFirst ? undefined : (await load(alias)).alias?.to
        const source = async function* () {
          yield { n: 1 }
          const remove = before === undefined ? [] : [{ remove: { index: before, alias } }]
          const actions = [...remove, { add: { index: other, alias, is_write_index: true } }]
          await ask(async client => await client.indices.updateAliases({ actions }))
        }
        const { code, evidence } = await failureOf(load(alias, { source: source() }))
        expect(code).toBe('ALIAS_CONFLICT')
        expect(evidence['observed']).toContain(`it was on ${before ?? 'no index'} but is now on ${other}`)
        expect(await namesBehind(alias)).toEqual([other])
      }
    })

    test('find a query that the cluster does not know before the first document', async () => {
      const alias = newIndex('swap')
      const { code, evidence } = await failureOf(load(alias, { checkQuery: { query: { nonsense: {} } } }))
      expect([code, evidence['status']]).toEqual(['INDEX_REQUEST_REFUSED', 400])
      const made = await namesBehind(`${alias}*`)
      expect(made).toHaveLength(1)
      expect(await world().count(made[0] ?? '')).toBe(0)
    })

    test('name a body that the cluster refuses, and leave nothing behind', async () => {
      const alias = newIndex('swap')
      const { code, evidence } = await failureOf(load(alias, { indexBody: { nonsense: {} } }))
      expect(code).toBe('INDEX_REQUEST_REFUSED')
      expect(evidence).toMatchObject({ status: 400, reason: expect.stringContaining('nonsense') as string })
      expect(await indexOf(`${alias}*`)).toEqual([])
    })

    test('change nothing in a dry run', async () => {
      const alias = newIndex('swap')
      expect(await load(alias, { dryRun: true })).toMatchObject({ unsent: 10 })
      expect(await indexOf(`${alias}*`)).toEqual([])
    })
  })
}
