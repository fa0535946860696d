// @module-tag long
import { describe, expect, it } from 'vitest'
import { ask } from '../../support/lab/lab-clients.js'
import { type ServiceNowWorld, openServiceNow } from '../../support/lab/servicenow-client.js'

const incidents = '/api/now/table/incident'

async function control(
  world: ServiceNowWorld,
  operation: string,
  body?: unknown,
): Promise<{ status: number; value: unknown }> {
  const [method = '', path = ''] = operation.split(' ')
  const answer = await ask(`${world.lab.line.control}/servicenow${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, value: answer.text === '' ? undefined : (JSON.parse(answer.text) as unknown) }
}

describe('seeded rows', () => {
  it('depend on the seed alone', async () => {
    const rowsOf = async (seed: number) => {
      await using world = await openServiceNow()
      world.sn.seed('incident', 50, { seed })
      return world.sn.rows('incident')
    }
    const [first, again, other] = [await rowsOf(7), await rowsOf(7), await rowsOf(8)]
    expect(again).toEqual(first)
    expect(other.map(row => row.sys_id)).not.toEqual(first.map(row => row.sys_id))
  })

  it('are told apart by their sys_id, also when a table is filled twice', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 100)
    world.sn.seed('incident', 100, { values: { category: 'network' } })
    const rows = world.sn.rows('incident')
    expect(new Set(rows.map(row => row.sys_id)).size).toBe(200)
    expect(new Set(rows.map(row => row['number'])).size).toBe(200)
    expect(world.sn.rows('incident', 'category=network')).toHaveLength(100)
  })

  it('were created one after another, and many were updated in the same second as others', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 2000, { from: '2025-01-01 00:00:00', spacingSeconds: 1 })
    const rows = world.sn.rows('incident')
    expect(rows[1999]?.sys_created_on).toBe('2025-01-01 00:33:19')
    const updated = rows.filter(row => row.sys_mod_count !== '0').map(row => row.sys_updated_on)
    expect(updated.length).toBeGreaterThan(500)
    expect(new Set(updated).size).toBeLessThan(updated.length)
    for (const row of rows) expect(row.sys_updated_on >= row.sys_created_on).toBe(true)
  })

  it('were not updated later than now', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-01-01 01:00:00', true)
    world.sn.seed('incident', 60, { from: '2026-01-01 00:00:00', spacingSeconds: 60 })
    const rows = world.sn.rows('incident')
    expect(rows.every(row => row.sys_updated_on <= '2026-01-01 01:00:00')).toBe(true)
    expect(rows.some(row => row.sys_updated_on === '2026-01-01 01:00:00')).toBe(true)
  })
})

describe('the control of the platform', () => {
  it('sets its clock: rows, and the Date of an answer, have its time', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2030-02-03 04:05:06', true)
    const { text, headers } = await world.call(incidents, { json: {} })
    expect(JSON.parse(text)).toMatchObject({ result: { sys_created_on: '2030-02-03 04:05:06' } })
    expect(headers.date).toBe('Sun, 03 Feb 2030 04:05:06 GMT')
    world.sn.setClock(undefined)
    const before = Date.now()
    const now = world.sn.now()
    const after = Date.now()
    expect(now).toBeGreaterThan(before - 1000)
    expect(now).toBeLessThan(after + 1000)
  })

  it('changes rows as users do: a change counts, and what changes nothing does not', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-01-01 00:00:00', true)
    const { sys_id: id } = world.sn.insert('incident', { short_description: 'a' })
    world.sn.advanceClock(60_000)
    world.sn.update('incident', id, { short_description: 'a' })
    expect(world.sn.row('incident', id)).toMatchObject({ sys_mod_count: '0', sys_updated_on: '2026-01-01 00:00:00' })
    world.sn.update('incident', id, { short_description: 'b' })
    expect(world.sn.row('incident', id)).toMatchObject({ sys_mod_count: '1', sys_updated_on: '2026-01-01 00:01:00' })
    world.sn.delete('incident', id)
    expect(world.sn.row('incident', id)).toBeUndefined()
  })

  it('inserts a row that is there later than its time says', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-01-01 00:00:00', true)
    const commit = world.sn.insertLate('incident', { short_description: 'late' })
    world.sn.advanceClock(10_000)
    expect((await world.list('incident')).rows).toEqual([])
    commit()
    expect((await world.list('incident')).rows).toMatchObject([{ sys_updated_on: '2026-01-01 00:00:00' }])
  })

  it('tells of every request, until it forgets them', async () => {
    await using world = await openServiceNow()
    const { username } = world.lab.line.servicenow
    const heard: string[] = []
    const stop = world.sn.onRequest(({ method }) => void heard.push(method))
    await world.call(`${incidents}?sysparm_limit=1&sysparm_query=active%3Dtrue`)
    await world.call('/api/now/table/nothing', { method: 'DELETE', authorization: '' })
    expect(world.sn.requests()).toMatchObject([
      {
        method: 'GET',
        path: incidents,
        query: { sysparm_limit: '1', sysparm_query: 'active=true' },
        from: '127.0.0.1',
        port: 'http',
        username,
        status: 200,
      },
      { method: 'DELETE', username: undefined, status: 401 },
    ])
    stop()
    world.sn.forgetRequests()
    await world.call(incidents)
    expect([world.sn.requests().length, heard]).toEqual([1, ['GET', 'DELETE']])
  })
})

describe('the control API of the platform', () => {
  it('fills, asks and changes tables', async () => {
    await using world = await openServiceNow()
    expect(await control(world, 'POST /tables/incident/seed', { count: 3, seed: 2 })).toMatchObject({ status: 204 })
    expect(await control(world, 'GET /tables/incident/count')).toEqual({ status: 200, value: { count: 3 } })
    const { value } = await control(world, 'POST /tables/incident/rows', { short_description: 'made' })
    const { sys_id: id } = value as { sys_id: string }
    expect(await control(world, `PATCH /tables/incident/rows/${id}`, { impact: 1, urgency: 1 })).toMatchObject({
      value: { priority: '1' },
    })
    expect(await control(world, 'POST /tables/incident/search', { query: 'short_description=made' })).toMatchObject({
      value: [{ sys_id: id }],
    })
    expect(await control(world, `GET /tables/incident/rows/${id}`)).toMatchObject({ value: { sys_id: id } })
    expect(await control(world, `DELETE /tables/incident/rows/${id}`)).toMatchObject({ status: 204 })
    expect(await control(world, 'GET /tables/incident/rows')).toMatchObject({ value: [{}, {}, {}] })
    await control(world, 'POST /tables', { name: 'u_lamp', fields: { u_colour: { type: 'string' } } })
    expect((await world.call('/api/now/table/u_lamp')).status).toBe(200)
  })

  it('changes addresses, logins, rules and weather', async () => {
    await using world = await openServiceNow()
    const { clientId, username } = world.lab.line.servicenow
    const range = { from: '203.0.113.7', to: '203.0.113.9' }
    // [operation, body, what a request of the lab's user is answered with after it]
    const steps: [string, unknown, number][] = [
      ['PUT /register', { which: 'both' }, 403],
      ['PUT /register', { which: 'open' }, 200],
      ['POST /address-rules', { kind: 'deny', from: '127.0.0.1' }, 403],
      ['POST /address-rules', { kind: 'allow', from: '127.0.0.1', to: '127.0.0.2' }, 200],
      ['DELETE /address-rules', { kind: 'allow', from: '127.0.0.1', to: '127.0.0.2' }, 403],
      ['DELETE /address-rules', { kind: 'deny', from: '127.0.0.1' }, 200],
      ['PUT /access-policies/table', { ranges: [range] }, 401],
      ['DELETE /access-policies/table', undefined, 200],
      ['PUT /adaptive-authentication', { ranges: [range], status: 403 }, 403],
      ['DELETE /adaptive-authentication', undefined, 200],
      ['PUT /basic', { isOn: false }, 401],
      ['PUT /basic', { isOn: true }, 200],
      [`PATCH /users/${username}`, { active: false }, 401],
      [`PATCH /users/${username}`, { active: true }, 200],
      ['POST /acls', { table: 'incident' }, 403],
      ['DELETE /rules', undefined, 200],
      ['PUT /rate-limit', { requests: 0 }, 429],
      ['DELETE /rate-limit', undefined, 200],
      ['POST /faults', { sessionQueue: {} }, 202],
      ['DELETE /faults', undefined, 200],
      ['PUT /hibernation', { how: 'redirect' }, 302],
      ['DELETE /hibernation', undefined, 200],
    ]
    for (const [operation, body, status] of steps) {
      expect([operation, (await control(world, operation, body)).status]).toEqual([operation, 204])
      expect([operation, (await world.call(incidents)).status]).toEqual([operation, status])
    }
    await control(world, `PATCH /clients/${clientId}`, { accessTokenSeconds: 7 })
    expect(world.sn.clients()[0]?.accessTokenSeconds).toBe(7)
    await control(world, 'PUT /clock', { time: '2026-05-05 05:05:05', frozen: true })
    await control(world, 'POST /clock/advance', { ms: 1000 })
    expect((await control(world, 'GET /clock')).value).toEqual({ now: Date.UTC(2026, 4, 5, 5, 5, 6) })
    expect((await control(world, 'GET /requests')).value).toHaveLength(steps.length)
  })

  it.each([
    ['PUT /register', { which: 'everyone' }, 400, 'must be one of both, first, second, none, open'],
    ['POST /address-rules/deny-all', undefined, 400, 'would lock out your own address'],
    ['POST /address-rules', { kind: 'deny', from: '10.0.0.0/8' }, 400, '10.0.0.0/8 is not an IPv4 address'],
    ['POST /faults', { semaphor: {} }, 400, 'no such fault: semaphor'],
    ['PUT /clock', { time: 'noon' }, 400, 'yyyy-MM-dd HH:mm:ss'],
    ['PUT /basic', {}, 400, 'isOn must be true or false'],
    ['GET /tables/nothing/count', undefined, 404, 'no such table: nothing'],
    ['PATCH /clients/nothing', {}, 404, 'no such client: nothing'],
    ['PATCH /users/nobody', { active: false }, 404, 'no such user: nobody'],
    ['DELETE /tables/incident/rows/x', undefined, 404, 'no such row of incident: x'],
  ])('answers %s %j with %i', async (operation, body, status, problem) => {
    await using world = await openServiceNow()
    const answer = await control(world, operation, body)
    expect([answer.status, JSON.stringify(answer.value)]).toEqual([status, expect.stringContaining(problem) as string])
  })
})
