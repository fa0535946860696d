/** The bodies and headers of the platform's answers, against those that were recorded of real instances. */
import { describe, expect, it } from 'vitest'
import { ask } from '../../support/lab/lab-clients.js'
import { type ServiceNowWorld, openServiceNow } from '../../support/lab/servicenow-client.js'

const incidents = '/api/now/table/incident'
const json = 'application/json;charset=UTF-8'

interface Recorded {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Headers of a transaction: what stands in front of the platform sends none of them. */
const transaction = ['x-transaction-id', 'x-is-logged-in', 'set-cookie']

async function expectAnswer(world: ServiceNowWorld, path: string, recorded: Recorded, asked = {}): Promise<void> {
  const { status, headers, text } = await world.call(path, asked)
  expect({ status, text }).toEqual({ status: recorded.status, text: recorded.body })
  expect(headers).toMatchObject(recorded.headers)
}

describe('a refusal of the platform', () => {
  it('of a table that is not there', async () => {
    await using world = await openServiceNow()
    await expectAnswer(world, '/api/now/table/sys_nonexistent', {
      status: 400,
      headers: { 'content-type': json, server: 'snow_adc' },
      body: '{"error":{"message":"Invalid table sys_nonexistent","detail":"Table sys_nonexistent does not exist"},"status":"failure"}',
    })
  })

  it.each([
    ['without credentials', ''],
    ['with a wrong password', 'Basic d3Jvbmc6d3Jvbmc='],
    ['with a wrong token', 'Bearer wrong'],
    ['with another scheme', 'ApiKey wrong'],
  ])('%s', async (_, authorization) => {
    await using world = await openServiceNow()
    const recorded = {
      status: 401,
      headers: { 'content-type': json, server: 'snow_adc', 'www-authenticate': 'BASIC realm="Service-now"' },
      body: '{"error":{"message":"User Not Authenticated","detail":"Required to provide Auth information"},"status":"failure"}',
    }
    // Whether there is such a table is no matter: so an instance is told to be awake.
    for (const path of [incidents, '/api/now/table/x?sysparm_limit=1']) {
      await expectAnswer(world, path, recorded, { authorization })
    }
  })

  it('of a table that a user may not read', async () => {
    await using world = await openServiceNow()
    world.sn.addAcl({ table: 'incident', operations: ['read'] })
    await expectAnswer(world, incidents, {
      status: 403,
      headers: { 'content-type': json, server: 'snow_adc' },
      body: '{"error":{"message":"Insufficient rights to query records","detail":null},"status":"failure"}',
    })
    expect((await world.call(incidents, { json: {} })).status).toBe(201)
  })

  it('of what a business rule aborts', async () => {
    await using world = await openServiceNow()
    const name = 'Change Model: Check State Transition'
    world.sn.createTable('change_request', { fields: { state: { type: 'integer' } } })
    world.sn.addBusinessRule({ table: 'change_request', name, operations: ['update'], query: 'state=3' })
    const { sys_id: id } = world.sn.insert('change_request', { state: '1' })
    const path = `/api/now/table/change_request/${id}`
    const detail = `Operation against file 'change_request' was aborted by Business Rule '${name}^${id}'. Business Rule Stack:${name}`
    await expectAnswer(
      world,
      path,
      {
        status: 403,
        headers: { 'content-type': json, server: 'snow_adc' },
        body: `{"error":{"message":"Operation Failed","detail":"${detail}"},"status":"failure"}`,
      },
      { method: 'PATCH', json: { state: 3 } },
    )
    expect(world.sn.row('change_request', id)?.['state']).toBe('1')
    expect((await world.call(path, { method: 'PATCH', json: { state: 2 } })).status).toBe(200)
  })

  it('of a row that is not there', async () => {
    await using world = await openServiceNow()
    const recorded = {
      status: 404,
      headers: { 'content-type': json, server: 'snow_adc' },
      body: `{"error":{"message":"No Record found","detail":"Record doesn't exist or ACL restricts the record retrieval"},"status":"failure"}`,
    }
    const path = `${incidents}/${'0'.repeat(32)}`
    for (const asked of [{}, { method: 'PATCH', json: {} }, { method: 'DELETE' }]) {
      await expectAnswer(world, path, recorded, asked)
    }
  })

  it('of a client, user, secret, token or grant that is not good: all alike', async () => {
    await using world = await openServiceNow()
    const { username, password } = world.lab.line.servicenow
    const good = { grant_type: 'password', username, password }
    const wrong: Record<string, string>[] = [
      {},
      { ...good, client_id: 'other' },
      { ...good, client_secret: 'wrong' },
      { ...good, username: 'nobody' },
      { ...good, password: 'wrong' },
      { ...good, grant_type: 'device_code' },
      { grant_type: 'refresh_token', refresh_token: 'wrong' },
      { grant_type: 'authorization_code', code: 'wrong', redirect_uri: 'http://localhost/' },
      { grant_type: 'client_credentials' },
    ]
    for (const form of wrong) {
      const { answer } = await world.token(form)
      expect({ status: answer.status, text: answer.text }).toEqual({
        status: 401,
        text: '{"error_description":"access_denied","error":"server_error"}',
      })
      expect(answer.headers).toMatchObject({ 'content-type': json, server: 'snow_adc' })
    }
  })

  it('of a resource, a method and a body that it does not understand', async () => {
    await using world = await openServiceNow()
    expect(await world.call('/api/now/nothing')).toMatchObject({ status: 400, headers: { 'content-type': json } })
    expect(await world.call(incidents, { method: 'DELETE' })).toMatchObject({ status: 405 })
    const options = { method: 'POST', headers: { authorization: world.basic }, body: '{"short_description":' }
    expect(await ask(world.lab.line.servicenow.httpUrl + incidents, options)).toMatchObject({ status: 400 })
  })

  it('of an incident that is resolved without saying how', async () => {
    await using world = await openServiceNow()
    const { sys_id: id } = world.sn.insert('incident', {})
    const resolve = async (json: Record<string, string>) =>
      await world.call(`${incidents}/${id}`, { method: 'PATCH', json })
    const refused = await resolve({ state: '6', close_code: 'Solved' })
    expect([refused.status, refused.text]).toEqual([
      403,
      '{"error":{"message":"Operation Failed","detail":"Data Policy Exception: The following fields are mandatory: Resolution notes"},"status":"failure"}',
    ])
    expect((await resolve({ state: '6', close_code: 'Solved', close_notes: 'Restarted' })).status).toBe(200)
    expect(world.sn.row('incident', id)).toMatchObject({
      state: '6',
      active: 'true',
      resolved_at: expect.stringMatching(/^\d/) as string,
    })
    world.sn.setDataPolicy(false)
    expect((await resolve({ state: '7', close_code: '' })).status).toBe(200)
    expect(world.sn.row('incident', id)).toMatchObject({ state: '7', active: 'false' })
  })
})

describe('a page in front of the platform', () => {
  it('answers for an instance that sleeps, whatever is asked', async () => {
    await using world = await openServiceNow()
    const page =
      '<html><head><title>Instance Hibernating page</title></head><body><h1>Your instance is hibernating</h1></body></html>'
    world.sn.hibernate('page')
    for (const path of [incidents, '/oauth_token.do', '/']) {
      for (const authorization of ['', world.basic]) {
        const answer = await world.call(path, { authorization })
        expect([answer.status, answer.text]).toEqual([200, page])
        expect(answer.headers).toMatchObject({ 'content-type': 'text/html', server: 'snow_adc' })
        for (const name of [...transaction, 'www-authenticate']) expect(answer.headers).not.toHaveProperty(name)
      }
    }
    world.sn.hibernate('redirect')
    const away = await world.call(incidents)
    expect([away.status, away.headers.location, away.text]).toEqual([
      302,
      'https://developer.servicenow.com/dev.do#!/home?wu=true',
      '',
    ])
    world.sn.hibernate(undefined)
    expect((await world.call(incidents)).status).toBe(200)
  })

  it('refuses an address with a page, and without a transaction', async () => {
    await using world = await openServiceNow({ register: 'none' })
    for (const path of [incidents, '/oauth_token.do', '/oauth_auth.do', '/']) {
      const answer = await world.call(path)
      expect(answer.status).toBe(403)
      expect(answer.headers).toMatchObject({ 'content-type': 'text/html', server: 'snow_adc' })
      expect(() => JSON.parse(answer.text) as unknown).toThrow()
      for (const name of transaction) expect(answer.headers).not.toHaveProperty(name)
    }
  })
})
