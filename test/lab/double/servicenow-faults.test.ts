import { describe, expect, it } from 'vitest'
import type { ServiceNowFaults } from '../../../src/lab/index.js'
import { openServiceNow } from '../../support/lab/servicenow-client.js'

const incidents = '/api/now/table/incident'

describe('a platform under load', () => {
  it('refuses with the headers of a rate limit rule until its window ends', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-01-01 00:00:00', true)
    world.sn.limitRate({ requests: 2 })
    const statuses = [await world.call(incidents), await world.call(incidents)].map(({ status }) => status)
    expect(statuses).toEqual([200, 200])
    world.sn.advanceClock(1_800_000)
    const refused = await world.call(incidents)
    expect([refused.status, refused.text]).toEqual([
      429,
      '{"error":{"message":"Rate limit exceeded","detail":"Rate limit of 2 requests per hour for Table API exceeded"},"status":"failure"}',
    ])
    expect(refused.headers).toMatchObject({
      'retry-after': '1800',
      'x-ratelimit-limit': '2',
      'x-ratelimit-reset': String(Date.UTC(2026, 0, 1, 1) / 1000),
      'x-ratelimit-rule': expect.stringMatching(/^[0-9a-f]{32}$/) as string,
    })
    world.sn.advanceClock(1_800_000)
    expect((await world.call(incidents)).status).toBe(200)
  })

  // [fault, status, headers that are there, headers that are not]
  const table: [ServiceNowFaults, number, string[], string[]][] = [
    [{ rateRule: { times: 1, retryAfterSeconds: 2 } }, 429, ['retry-after', 'x-ratelimit-reset'], []],
    [{ semaphore: { times: 1 } }, 429, [], ['retry-after', 'x-ratelimit-limit', 'server', 'x-transaction-id']],
    [{ sessionQueue: { times: 1 } }, 202, [], ['x-transaction-id']],
    [{ balancer: { times: 1 } }, 500, ['server'], ['x-transaction-id']],
    [{ login: { times: 1 } }, 401, ['www-authenticate'], []],
    [{ answer: { times: 1, status: 418, headers: { via: 'tea' } } }, 418, ['via'], ['server']],
  ]
  it.each(table)('answers as planted with %j, and as ever after that', async (fault, status, there, absent) => {
    await using world = await openServiceNow()
    world.sn.plant(fault)
    const { sys_id: id } = world.sn.insert('incident', {})
    const struck = await world.call(`${incidents}/${id}`, { method: 'DELETE' })
    expect(struck.status).toBe(status)
    for (const name of there) expect(struck.headers).toHaveProperty(name)
    for (const name of absent) expect(struck.headers).not.toHaveProperty(name)
    expect(world.sn.count('incident')).toBe(1)
    expect((await world.call(`${incidents}/${id}`, { method: 'DELETE' })).status).toBe(204)
    const [name] = Object.keys(fault) as (keyof ServiceNowFaults)[]
    expect(name && world.sn.struck(name)).toBe(1)
  })

  it('strikes only the API and the method that a fault is aimed at', async () => {
    await using world = await openServiceNow()
    world.sn.plant({ semaphore: { api: 'oauth' }, balancer: { method: 'POST', after: 1 } })
    const { username, password } = world.lab.line.servicenow
    const form = { grant_type: 'password', username, password }
    expect((await world.call(incidents)).status).toBe(200)
    expect((await world.call(incidents, { json: {} })).status).toBe(201)
    expect((await world.call(incidents, { json: {} })).status).toBe(500)
    const token = await world.call('/oauth_token.do', { form, authorization: '' })
    expect(token.status).toBe(500)
    world.sn.plant({ balancer: { method: 'PUT' } })
    expect((await world.call('/oauth_token.do', { form, authorization: '' })).status).toBe(429)
    world.sn.heal()
    expect((await world.call(incidents, { json: {} })).status).toBe(201)
  })
})

describe('a page that takes longer than the quota', () => {
  it('is answered with 200, the first rows and an error, in broken JSON', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 5)
    world.sn.plant({ quota: { rows: 2 } })
    const parameters = 'sysparm_query=ORDERBYsys_id&sysparm_fields=number&sysparm_limit='
    const { status, headers, text } = await world.call(`${incidents}?${parameters}5`)
    expect([status, headers['x-total-count']]).toEqual([200, '5'])
    expect(() => JSON.parse(text) as unknown).toThrow()
    expect(text).toMatch(
      /^\{"result":\[\{"number":"INC\d{7}"\},\{"number":"INC\d{7}"\}""\],"error":\{"detail":"Transaction cancelled: maximum execution time exceeded\. Check logs for error trace\.","message":"Transaction cancelled: maximum execution time exceeded"\},"status":"failure"\}$/,
    )
    const small = await world.call(`${incidents}?${parameters}2`)
    expect(JSON.parse(small.text)).toMatchObject({ result: [{}, {}] })
  })

  it('is answered in good JSON too: a text among the rows, and an error beside them', async () => {
    await using world = await openServiceNow()
    world.sn.seed('incident', 3)
    world.sn.plant({ quota: { rows: 1, json: 'valid', times: 1 } })
    const { rows } = await world.list('incident', { sysparm_fields: 'state' })
    expect(rows).toEqual([{ state: expect.any(String) as string }, ''])
    const message = 'Transaction cancelled: maximum execution time exceeded'
    world.sn.plant({ quota: { rows: 0, json: 'valid', times: 1 } })
    const { text } = await world.call(incidents)
    expect(JSON.parse(text)).toEqual({
      result: [''],
      error: {
        message,
        detail: `${message} Check logs for error trace or enable glide.rest.debug property to verify REST request processing`,
      },
      status: 'failure',
    })
    expect((await world.list('incident')).rows).toHaveLength(3)
  })
})

describe('an answer that is lost', () => {
  it.each([
    [{ drop: {} }, 0],
    [{ drop: { done: true } }, 1],
    [{ cut: {} }, 1],
    [{ stall: {} }, 0],
    [{ stall: { done: true } }, 1],
  ] as [ServiceNowFaults, number][])('with %j leaves %i rows', async (fault, count) => {
    await using world = await openServiceNow()
    world.sn.plant(fault)
    const reached = new Promise<void>(resolve => {
      world.sn.onRequest(() => resolve())
    })
    const call = world.call(incidents, { json: { short_description: 'lost' } })
    // What is not answered ends with the lab.
    const lost = expect(call).rejects.toThrow(/hang up|aborted|ECONNRESET/)
    await reached
    expect(world.sn.count('incident')).toBe(count)
    expect(world.sn.requests()).toMatchObject([{ method: 'POST', status: fault.cut ? 201 : 0 }])
    if (fault.stall) await world.lab.close()
    await lost
  })

  it('of the balancer may stand for a request that was carried out', async () => {
    await using world = await openServiceNow()
    world.sn.plant({ balancer: { done: true, times: 1 } })
    expect((await world.call(incidents, { json: {} })).status).toBe(500)
    expect(world.sn.count('incident')).toBe(1)
  })

  it('comes late, when it is only slow', async () => {
    await using world = await openServiceNow()
    world.sn.plant({ slow: { delayMs: 30, times: 1 } })
    expect((await world.call(incidents)).status).toBe(200)
    expect(world.sn.struck('slow')).toBe(1)
  })
})
