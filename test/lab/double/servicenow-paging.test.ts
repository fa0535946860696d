// @module-tag long
import { describe, expect, it } from 'vitest'
import { openServiceNow } from '../../support/lab/servicenow-client.js'

const incidents = '/api/now/table/incident'

describe('pages of a table', () => {
  it('have the headers of a real one', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 73)
    const { headers, rows } = await world.list('incident', { sysparm_limit: '1' })
    const base = `${world.lab.line.servicenow.httpUrl}${incidents}?sysparm_limit=1&sysparm_offset=`
    expect(rows).toHaveLength(1)
    expect(headers).toMatchObject({
      'content-type': 'application/json;charset=UTF-8',
      server: 'snow_adc',
      'x-is-logged-in': 'true',
      'x-transaction-id': expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      'x-total-count': '73',
      link: `<${base}0>;rel="first",<${base}-1>;rel="prev",<${base}1>;rel="next",<${base}72>;rel="last"`,
    })
  })

  // [parameters, rows, X-Total-Count, relations]
  const table: [Record<string, string>, number, string | undefined, string][] = [
    [{}, 25, '25', ''],
    [{ sysparm_limit: '25' }, 25, '25', ''],
    [{ sysparm_limit: '10' }, 10, '25', 'first,prev,next,last'],
    [{ sysparm_limit: '10', sysparm_offset: '10' }, 10, '25', 'first,prev,next,last'],
    [{ sysparm_limit: '10', sysparm_offset: '20' }, 5, '25', 'first,prev,last'],
    [{ sysparm_limit: '10', sysparm_offset: '30' }, 0, '25', 'first,prev,last'],
    [{ sysparm_limit: '10', sysparm_no_count: 'true' }, 10, undefined, 'first,prev,next'],
    [{ sysparm_limit: '10', sysparm_suppress_pagination_header: 'true' }, 10, '25', ''],
  ]
  it.each(table)('with %j have %i rows, the count %s and the links %j', async (parameters, count, total, relations) => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 25)
    const { rows, headers } = await world.list('incident', parameters)
    expect(rows).toHaveLength(count)
    expect(headers['x-total-count']).toBe(total)
    const found = [...String(headers.link ?? '').matchAll(/rel="(\w+)"/g)].map(([, relation]) => relation)
    expect(found.join(',')).toBe(relations)
  })

  it('keep the query in their links, and lead to the next rows', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 9)
    const parameters = { sysparm_query: 'stateIN1,2,3,6,7^ORDERBYnumber', sysparm_limit: '5', sysparm_fields: 'number' }
    const first = await world.list('incident', parameters)
    const next = /<([^>]+)>;rel="next"/.exec(String(first.headers.link))?.[1] ?? ''
    const url = new URL(next)
    const { rows } = await world.list('incident', Object.fromEntries(url.searchParams))
    const numbers = [...first.rows, ...rows].map(({ number = '' }) => number)
    expect(numbers).toEqual(numbers.toSorted())
    expect(new Set(numbers).size).toBe(9)
  })

  it('are limited to 10,000 rows where nothing is said', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 10_001)
    const { rows, headers } = await world.list('incident', { sysparm_fields: 'sys_id' })
    expect([rows.length, headers['x-total-count']]).toEqual([10_000, '10001'])
    expect(headers.link).toContain('rel="next"')
  })

  it('come short, and empty, with more behind them, where rows are hidden: the limit is applied first', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 30)
    const hidden = world.sn
      .rows('incident')
      .toSorted((a, b) => (a.sys_id < b.sys_id ? -1 : 1))
      .slice(3, 20)
    world.sn.addAcl({ table: 'incident', query: `sys_idIN${hidden.map(row => row.sys_id).join(',')}` })
    const sizes: number[] = []
    for (const offset of [0, 10, 20]) {
      const sysparm_query = 'ORDERBYsys_id'
      const page = await world.list('incident', { sysparm_query, sysparm_limit: '10', sysparm_offset: String(offset) })
      expect(page.headers['x-total-count']).toBe('30')
      expect(String(page.headers.link).includes('rel="next"')).toBe(offset < 20)
      sizes.push(page.rows.length)
    }
    expect(sizes).toEqual([3, 0, 10])
    const one = await world.call(`${incidents}/${hidden[0]?.sys_id}`)
    expect(one.status).toBe(404)
    world.sn.clearRules()
    expect((await world.list('incident')).rows).toHaveLength(30)
  })

  it('hide rows from one user and show them to another', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 5)
    world.sn.setUser('somebody', 'else')
    world.sn.addAcl({ table: 'incident', username: 'somebody', query: 'sys_idISNOTEMPTY' })
    const authorization = `Basic ${Buffer.from('somebody:else').toString('base64')}`
    const theirs = await world.call(incidents, { authorization })
    expect([theirs.text, theirs.headers['x-total-count']]).toEqual(['{"result":[]}', '5'])
    expect((await world.list('incident')).rows).toHaveLength(5)
  })

  it('of no rows are an empty list, and not found in the first version', async () => {
    await using world = await openServiceNow()
    const empty = await world.call(incidents)
    expect([empty.status, empty.text]).toEqual([200, '{"result":[]}'])
    expect((await world.call('/api/now/v2/table/incident')).status).toBe(200)
    expect((await world.call('/api/now/v1/table/incident')).status).toBe(404)
  })

  it('follow one another by keyset, in either order, while rows come, change and go', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-01-01 00:00:00', true)
    world.sn.seed('incident', 3000, { spacingSeconds: 1 })
    for (const field of ['sys_id', 'sys_updated_on'] as const) {
      const kept = new Set(world.sn.rows('incident').map(row => row.sys_id))
      const seen = new Map<string, number>()
      let [last, time] = ['', '']
      for (let page = 0; ; page++) {
        const condition =
          field === 'sys_id' ? `sys_id>${last}` : `sys_updated_on>${time}^NQsys_updated_on=${time}^sys_id>${last}`
        const order = field === 'sys_id' ? 'ORDERBYsys_id' : 'ORDERBYsys_updated_on^ORDERBYsys_id'
        const { rows } = await world.list('incident', {
          sysparm_query: page === 0 ? order : `${condition}^${order}`,
          sysparm_limit: '100',
          sysparm_fields: 'sys_id,sys_updated_on',
        })
        for (const { sys_id: id = '' } of rows) seen.set(id, (seen.get(id) ?? 0) + 1)
        if (rows.length < 100) break
        last = rows.at(-1)?.['sys_id'] ?? ''
        time = rows.at(-1)?.['sys_updated_on'] ?? ''
        const [first, second] = [...kept].filter(id => page % 2 === 0 || !seen.has(id))
        world.sn.insert('incident', { short_description: `while reading, ${page}` })
        if (first !== undefined) {
          world.sn.delete('incident', first)
          kept.delete(first)
        }
        // Of what is read by sys_id, an update moves nothing.
        if (second !== undefined && field === 'sys_id') world.sn.update('incident', second, { description: `${page}` })
      }
      for (const id of kept) expect(seen.get(id)).toBe(1)
      expect(Math.max(...seen.values())).toBe(1)
    }
  })

  it('read by offset in an order with equals give rows twice, and others never', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 200)
    const seen = new Set<string>()
    for (let offset = 0; offset < 200; offset += 50) {
      const { rows } = await world.list('incident', {
        sysparm_query: 'ORDERBYpriority',
        sysparm_limit: '50',
        sysparm_offset: String(offset),
      })
      for (const { sys_id: id = '' } of rows) seen.add(id)
    }
    expect(seen.size).toBeLessThan(200)
  })
})
