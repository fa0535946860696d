// @module-tag long
import { describe, expect, it } from 'vitest'
import { openServiceNow } from '../../support/lab/servicenow-client.js'
import { rounds } from '../../support/rounds.js'

const incidents = '/api/now/table/incident'

function resultOf(text: string): Record<string, string> {
  return (JSON.parse(text) as { result: Record<string, string> }).result
}

describe('the Table API', () => {
  it('inserts, reads, updates and deletes a row', async () => {
    await using world = await openServiceNow()
    const json = { short_description: 'no light', impact: 1, urgency: '2', no_such_field: 'x', sys_mod_count: '9' }
    const created = await world.call(incidents, { json })
    const row = resultOf(created.text)
    expect(created.status).toBe(201)
    expect(row).toMatchObject({
      sys_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      number: expect.stringMatching(/^INC\d{7}$/) as string,
      short_description: 'no light',
      priority: '2',
      state: '1',
      active: 'true',
      sys_mod_count: '0',
      sys_created_by: world.lab.line.servicenow.username,
      sys_created_on: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/) as string,
    })
    expect(row).not.toHaveProperty('no_such_field')
    const path = `${incidents}/${row['sys_id']}`
    expect(created.headers.location).toBe(world.lab.line.servicenow.httpUrl + path)
    for (const [method, description] of Object.entries({ PATCH: 'one', PUT: 'two' })) {
      const changed = await world.call(path, { method, json: { description } })
      expect([changed.status, resultOf(changed.text)['short_description']]).toEqual([200, 'no light'])
      expect(resultOf((await world.call(path)).text)['description']).toBe(description)
    }
    expect(resultOf((await world.call(path)).text)['sys_mod_count']).toBe('2')
    const deleted = await world.call(path, { method: 'DELETE' })
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    expect((await world.call(path)).status).toBe(404)
  })

  it('goes through the proxy, and judges the address that it leaves from', async () => {
    await using world = await openServiceNow({ register: 'first' })
    const { proxy, servicenow } = world.lab.line
    expect((await world.callThrough(proxy.nodes[0], incidents)).status).toBe(200)
    expect((await world.callThrough(proxy.nodes[1], incidents)).status).toBe(403)
    expect(world.lab.control.connections().filter(({ at }) => at === 'servicenow')).toMatchObject([
      { port: 'https', from: '127.0.0.2' },
      { port: 'https', from: '127.0.0.3' },
    ])
    expect(world.sn.requests()).toMatchObject([
      { method: 'GET', path: incidents, from: '127.0.0.2', username: servicenow.username, status: 200 },
      { from: '127.0.0.3', username: undefined, status: 403 },
    ])
  })

  it('gives every row once by keyset', async () => {
    await using world = await openServiceNow()
    const all = rounds(25_000, 250_000)
    world.sn.seed('incident', all)
    const seen = new Set<string>()
    let last: string | undefined = ''
    while (last !== undefined) {
      const after = last === '' ? '' : `sys_id>${last}^`
      const { rows, headers } = await world.list('incident', {
        sysparm_query: `${after}ORDERBYsys_id`,
        sysparm_limit: '10000',
        sysparm_fields: 'sys_id,sys_updated_on',
      })
      if (last === '') expect(headers['x-total-count']).toBe(String(all))
      for (const row of rows) seen.add(row['sys_id'] ?? '')
      last = rows.at(-1)?.['sys_id']
    }
    expect(seen.size).toBe(all)
  })

  it('gives tokens for the password, refresh_token and client_credentials grants', async () => {
    await using world = await openServiceNow({ register: 'both' })
    const { username, password } = world.lab.line.servicenow
    const first = await world.token({ grant_type: 'password', username, password })
    expect([first.status, first.value]).toMatchObject([
      200,
      { scope: 'useraccount', token_type: 'Bearer', expires_in: 1799 },
    ])
    const { proxy } = world.lab.line
    const read = (token: unknown) =>
      world.callThrough(proxy.http, incidents, { authorization: `Bearer ${String(token)}` })
    expect((await read(first.value['access_token'])).status).toBe(200)
    expect((await read('wrong')).status).toBe(401)
    const refreshed = await world.token({
      grant_type: 'refresh_token',
      refresh_token: String(first.value['refresh_token']),
    })
    expect((await read(refreshed.value['access_token'])).status).toBe(200)
    expect((await world.token({ grant_type: 'client_credentials' })).status).toBe(401)
    world.sn.allowClientCredentials(true)
    const own = await world.token({ grant_type: 'client_credentials' })
    expect(own.value).not.toHaveProperty('refresh_token')
    expect((await read(own.value['access_token'])).status).toBe(200)
  })
})
