/** The instance as programs see it, on the lab: through its proxy, against its platform. */
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../support/eventually.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { type InstanceOptions, instanceSettings, openServiceNow } from '../../../src/route/connect/open-servicenow.js'
import { openInstance } from '../../../src/route/servicenow/open-instance.js'
import { startPort } from '../../support/servers/proxy-servers.js'
import { type ServiceNowConnection, connectServiceNow } from '../../../src/servicenow.js'
import { SkippingClock } from '../../support/load/held-clock.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab({ pick: 'round-robin' })
  lab.control.servicenow.seed('incident', 20)
})
afterAll(async () => await lab.close())

beforeEach(() => {
  lab.control.forgetConnections()
  platform().forgetRequests()
})
afterEach(() => {
  const sn = platform()
  sn.heal()
  sn.register('both')
  for (const api of ['table', 'oauth'] as const) sn.setAccessPolicy(api, undefined)
  sn.setAdaptiveAuthentication(undefined)
  sn.allowBasic(true)
  sn.rotateRefreshTokens(false)
})

const platform = () => lab.control.servicenow
const pair = () => lab.line.staticIps
const only = (address: string) => [{ from: address, to: address }]

/** The way there, with Basic authentication. */
function basic(): InstanceOptions & ServiceNowConnection {
  const { url, username, password } = lab.line.servicenow
  return {
    servicenow: { url, username, password, ca: readFileSync(lab.line.cluster.caFile) },
    proxy: lab.line.proxy.http,
  }
}

/** The same with OAuth. */
function oauth(more: Partial<InstanceOptions['servicenow']> = {}): InstanceOptions & ServiceNowConnection {
  const { clientId, clientSecret } = lab.line.servicenow
  return { ...basic(), servicenow: { ...basic().servicenow, clientId, clientSecret, ...more } }
}

function asked(path: string) {
  return platform()
    .requests()
    .filter(request => request.path === path)
}

describe('a table', () => {
  test('takes all five methods, each through the proxy', async () => {
    await using servicenow = await connectServiceNow(oauth())
    const incidents = servicenow.table('incident')
    const created = await incidents.create({ short_description: 'disk full' })
    const id = String(created['sys_id'])
    expect(await incidents.get(id, { fields: ['short_description'] })).toEqual({ short_description: 'disk full' })
    expect(await incidents.update(id, { urgency: '1' })).toMatchObject({ urgency: '1', short_description: 'disk full' })
    expect(await incidents.replace(id, { short_description: 'disk is full' })).toMatchObject({
      short_description: 'disk is full',
    })
    const page = await incidents.list({ query: `sys_id=${id}`, fields: ['sys_id'], limit: 5 })
    expect(page).toEqual({ records: [{ sys_id: id }], total: 1 })
    expect(await incidents.remove(id)).toBe(true)
    expect(await incidents.remove(id)).toBe(false)
    expect(await incidents.get(id)).toBeUndefined()
    const methods = new Set(
      platform()
        .requests()
        .map(({ method }) => method),
    )
    expect(methods).toEqual(new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']))
    const from = new Set(
      platform()
        .requests()
        .map(request => request.from),
    )
    expect(from).toEqual(new Set(pair()))
    const arrived = lab.control.connections().filter(({ at }) => at === 'servicenow')
    expect(arrived.filter(({ from: address }) => !pair().includes(address))).toEqual([])
  })

  test('that is not there, or may not be read, says so', async () => {
    await using servicenow = await connectServiceNow(basic())
    await expect(servicenow.table('incidents').list()).rejects.toMatchObject({
      code: 'SERVICENOW_TABLE_UNKNOWN',
      message: expect.stringContaining('no table incidents'),
    })
    await expect(servicenow.table('../../etc').list()).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    await expect(servicenow.call({ method: 'DELETE', table: 'incident' })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    })
  })
})

describe('OAuth', () => {
  test('renews on 401 and repeats the call, once', async () => {
    await using instance = await openServiceNow(oauth())
    const read = async () => await instance.call({ method: 'GET', table: 'incident', query: { sysparm_limit: '1' } })
    await read()
    platform().revokeTokens('access')
    platform().forgetRequests()
    expect(await read()).toMatchObject({ status: 200 })
    expect(
      platform()
        .requests()
        .map(({ path, status }) => `${path} ${status}`),
    ).toEqual(['/api/now/table/incident 401', '/oauth_token.do 200', '/api/now/table/incident 200'])
  })

  test('renews once for all calls that meet the same 401', async () => {
    await using instance = await openServiceNow(oauth())
    const read = async () => await instance.call({ method: 'GET', table: 'incident', query: { sysparm_limit: '1' } })
    await read()
    platform().revokeTokens('access')
    platform().forgetRequests()
    await Promise.all(Array.from({ length: 8 }, read))
    expect(asked('/oauth_token.do')).toHaveLength(1)
  })

  test('goes back to the password when the refresh token was revoked', async () => {
    await using instance = await openServiceNow(oauth())
    await instance.call({ method: 'GET', table: 'incident' })
    platform().revokeTokens('access')
    platform().revokeTokens('refresh')
    expect(await instance.call({ method: 'GET', table: 'incident' })).toMatchObject({ status: 200 })
  })

  test('names a refresh token that was revoked', async () => {
    const refreshToken = 'revoked-long-ago'
    const { url, clientId, clientSecret } = lab.line.servicenow
    const { ca } = basic().servicenow
    const opening = connectServiceNow({ ...basic(), servicenow: { url, clientId, clientSecret, refreshToken, ca } })
    await expect(opening).rejects.toMatchObject({
      code: 'SERVICENOW_TOKEN_REFUSED',
      message: expect.stringContaining('refresh_token grant'),
    })
  })

  test('takes client credentials where they are enabled', async () => {
    const { url, clientId, clientSecret } = lab.line.servicenow
    const options = { ...basic(), servicenow: { url, clientId, clientSecret, ca: basic().servicenow.ca } }
    await expect(connectServiceNow(options)).rejects.toMatchObject({
      code: 'SERVICENOW_TOKEN_REFUSED',
      message: expect.stringContaining('client_credentials grant'),
    })
    platform().allowClientCredentials(true)
    await using servicenow = await connectServiceNow(options)
    expect((await servicenow.table('incident').list({ limit: 3 })).records).toHaveLength(3)
  })

  test('keeps up with refresh tokens that change with each use', async () => {
    platform().rotateRefreshTokens(true)
    await using instance = await openServiceNow(oauth())
    for (let round = 0; round < 3; round += 1) {
      await instance.call({ method: 'GET', table: 'incident' })
      platform().revokeTokens('access')
    }
    // The first from the password, the others from refresh tokens.
    expect(asked('/oauth_token.do').every(({ status }) => status === 200)).toBe(true)
    expect(asked('/oauth_token.do')).toHaveLength(3)
  })

  test('with tokens that live a second goes on as if they lived for ever', { tags: 'long' }, async () => {
    const { clientId } = lab.line.servicenow
    platform().changeClient(clientId, { accessTokenSeconds: 1 })
    await using instance = await openServiceNow(oauth())
    while (asked('/oauth_token.do').length < 4) {
      const { status } = await instance.call({ method: 'GET', table: 'incident', query: { sysparm_limit: '1' } })
      expect(status).toBe(200)
    }
    platform().changeClient(clientId, { accessTokenSeconds: 1800 })
  })
})

describe('access control by address', () => {
  test('with one of the two addresses is found before the first row', async () => {
    platform().register('first')
    for (const options of [basic(), oauth()]) {
      await expect(connectServiceNow(options)).rejects.toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED' })
    }
  })

  test('with neither says how it was refused', async () => {
    platform().register('none')
    for (const options of [basic(), oauth()]) {
      await expect(connectServiceNow(options)).rejects.toMatchObject({
        code: 'SERVICENOW_ADDRESS_REFUSED',
        message: expect.stringContaining('status 403, text/html'),
      })
    }
  })

  test('that changes in the middle of a run is told apart from credentials', async () => {
    await using instance = await openServiceNow(basic())
    const read = async () => await instance.call({ method: 'GET', table: 'incident', query: { sysparm_limit: '1' } })
    await read()
    // Its one connection has the first address.
    const { from } = platform().requests()[0] ?? { from: '' }
    platform().register(from === pair()[0] ? 'second' : 'first')
    await expect(read()).rejects.toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED' })
    platform().register('both')
    platform().setAccessPolicy('table', only(from === pair()[0] ? pair()[1] : pair()[0]))
    await expect(read()).rejects.toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED' })
    platform().setAccessPolicy('table', only('192.0.2.1'))
    await expect(read()).rejects.toMatchObject({ code: 'SERVICENOW_ADDRESS_REFUSED' })
  })

  test('by a policy of the Table API is told apart from a token that is not good', async () => {
    platform().setAccessPolicy('table', only('192.0.2.1'))
    await expect(connectServiceNow(oauth())).rejects.toMatchObject({
      code: 'SERVICENOW_ADDRESS_REFUSED',
      message: expect.stringContaining('a token that it issued'),
    })
    platform().setAccessPolicy('table', only(pair()[1]))
    await expect(connectServiceNow(oauth())).rejects.toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED' })
    await expect(connectServiceNow(basic())).rejects.toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED' })
  })

  test('by a policy of the token endpoint is told apart from a wrong password', async () => {
    platform().setAccessPolicy('oauth', only(pair()[1]))
    // Which address comes first is chance: with both orders one of the token calls is refused.
    const codes = [1, 2].map(async () => {
      await using instance = await openServiceNow(oauth())
      return await instance.call({ method: 'GET', table: 'incident' }).then(
        () => 'let in',
        (error: unknown) => (error as { code: string }).code,
      )
    })
    expect(new Set(await Promise.all(codes))).not.toContain('SERVICENOW_TOKEN_REFUSED')
  })

  test('of adaptive authentication is named, whatever the status', async () => {
    platform().setAdaptiveAuthentication(only('192.0.2.1'), 403)
    await expect(connectServiceNow(basic())).rejects.toMatchObject({ code: 'SERVICENOW_ADDRESS_REFUSED' })
    platform().setAdaptiveAuthentication(only(pair()[0]), 401)
    await expect(connectServiceNow(basic())).rejects.toMatchObject({ code: 'SERVICENOW_PARTLY_ALLOWED' })
  })
})

describe('a refusal that passes', () => {
  test('of good credentials is not taken for an address: the call is repeated once all are let in', async () => {
    await using instance = await openServiceNow(basic())
    const read = async () => await instance.call({ method: 'GET', table: 'incident', query: { sysparm_limit: '1' } })
    await read()
    platform().plant({ login: { times: 1 } })
    expect(await read()).toMatchObject({ status: 200 })
    platform().plant({ answer: { times: 1, status: 403, body: '<html>Forbidden</html>' } })
    expect(await read()).toMatchObject({ status: 200 })
  })

  test('at the very beginning is none either', async () => {
    platform().plant({ login: { times: 1 } })
    await using servicenow = await connectServiceNow(basic())
    expect(servicenow.preflight.probes).toBe(16)
  })
})

describe('credentials', () => {
  test('that are wrong are tried a few times and no more: an instance may lock the user out', async () => {
    const wrong = { ...basic(), servicenow: { ...basic().servicenow, password: 'wrong' } }
    await expect(connectServiceNow(wrong)).rejects.toMatchObject({
      code: 'SERVICENOW_AUTH_REJECTED',
      message: expect.stringContaining('User Not Authenticated'),
    })
    expect(platform().requests()).toHaveLength(3)
    platform().forgetRequests()
    const wrongClient = oauth({ clientSecret: 'wrong' })
    await expect(connectServiceNow(wrongClient)).rejects.toMatchObject({ code: 'SERVICENOW_TOKEN_REFUSED' })
    expect(platform().requests()).toHaveLength(3)
  })

  test('of Basic authentication that are good, and not taken, are told apart where there is a client', async () => {
    platform().allowBasic(false)
    await expect(connectServiceNow(oauth({ grant: 'basic' }))).rejects.toMatchObject({
      code: 'SERVICENOW_BASIC_FORBIDDEN',
    })
    await expect(connectServiceNow(basic())).rejects.toMatchObject({ code: 'SERVICENOW_AUTH_REJECTED' })
  })

  test('stand in no error, although the other side repeats what it was sent', async () => {
    const { password, clientSecret, username } = lab.line.servicenow
    const sent = new URLSearchParams({ password, client_secret: clientSecret }).toString()
    const pairSent = Buffer.from(`${username}:${password}`).toString('base64')
    for (const status of [400, 401, 403, 404, 502]) {
      const body = `<html>${sent} ${pairSent} ${password} ${clientSecret}</html>`
      platform().plant({ answer: { status, body, headers: { 'content-type': 'text/html' } } })
      const opening = connectServiceNow({ ...oauth(), maxElapsedMs: 0 })
      const error: unknown = await opening.catch((thrown: unknown) => thrown)
      const shown = JSON.stringify([error, (error as { failure: unknown }).failure, String(error)])
      expect(shown).toContain('SERVICENOW_')
      for (const secret of [password, clientSecret, pairSent]) expect(shown).not.toContain(secret)
    }
  })
})

describe('an instance', () => {
  test('that hibernates is named by page and by redirect, and no redirect is followed', async () => {
    for (const how of ['page', 'redirect'] as const) {
      platform().hibernate(how)
      await expect(connectServiceNow(basic())).rejects.toMatchObject({ code: 'SERVICENOW_HIBERNATING' })
    }
  })

  test('is asked again after 429, 202, 500 and a lost answer', async () => {
    const clock = new SkippingClock()
    await using instance = await openServiceNow({ ...basic(), clock })
    platform().plant({
      drop: { times: 1 },
      balancer: { times: 1 },
      semaphore: { times: 1 },
      sessionQueue: { times: 1 },
    })
    platform().plant({ rateRule: { times: 1, retryAfterSeconds: 40 } })
    expect(await instance.call({ method: 'GET', table: 'incident' })).toMatchObject({ status: 200 })
    expect(clock.slept).toHaveLength(5)
    expect(Math.max(...clock.slept)).toBe(40_000)
  })

  test('that limits the rate for too long is named with what it asks for', async () => {
    platform().plant({ rateRule: { retryAfterSeconds: 1800 } })
    await using instance = await openServiceNow(basic())
    await expect(instance.call({ method: 'GET', table: 'incident' })).rejects.toMatchObject({
      code: 'SERVICENOW_RATE_LIMITED',
      message: expect.stringContaining('Retry-After 1800 s'),
    })
    expect(asked('/api/now/table/incident')).toHaveLength(1)
  })

  test('is not sent a change again whose answer was lost, unless the caller says that it may be', async () => {
    await using instance = await openServiceNow({ ...basic(), clock: new SkippingClock() })
    const create = { method: 'POST', table: 'incident', body: { short_description: 'once' } } as const
    platform().plant({ drop: { times: 1, done: true } })
    await expect(instance.call(create)).rejects.toMatchObject({
      code: 'SERVICENOW_UNREACHABLE',
      message: expect.stringContaining('does not know whether ServiceNow made the change'),
    })
    expect(platform().rows('incident', 'short_description=once')).toHaveLength(1)
    platform().plant({ drop: { times: 1, done: true } })
    await instance.call({ ...create, isRepeatable: true })
    expect(platform().rows('incident', 'short_description=once')).toHaveLength(3)
    // Refused before it was carried out: certainly not done.
    platform().plant({ semaphore: { times: 1 } })
    await instance.call(create)
    expect(platform().rows('incident', 'short_description=once')).toHaveLength(4)
  })

  test('whose page is not whole says so', async () => {
    await using instance = await openServiceNow(basic())
    for (const json of ['malformed', 'valid'] as const) {
      platform().plant({ quota: { rows: 5, json } })
      const query = { sysparm_limit: '10' }
      await expect(instance.call({ method: 'GET', table: 'incident', query })).rejects.toMatchObject({
        code: 'SERVICENOW_PAGE_TRUNCATED',
        failure: { evidence: { rows: 10 } },
      })
    }
  })

  test('behind a proxy that refuses, or with a certificate of an unknown authority, is not asked again', async () => {
    const proxy = lab.line.proxy.http.replace(/:[^:@]+@/, ':wrong@')
    await expect(connectServiceNow({ ...basic(), proxy })).rejects.toMatchObject({ code: 'PROXY_AUTH_REJECTED' })
    const { ca: _, ...servicenow } = basic().servicenow
    await expect(connectServiceNow({ ...basic(), servicenow })).rejects.toMatchObject({
      code: 'SERVICENOW_CERT_INVALID',
    })
    expect(platform().requests()).toEqual([])
  })

  test('whose proxy port expects TLS is not called a proxy that is down', async () => {
    const proxy = lab.line.proxy.https.replace('https:', 'http:')
    await expect(connectServiceNow({ ...basic(), proxy, maxElapsedMs: 0 })).rejects.toMatchObject({
      code: 'PROXY_TLS_MISMATCH',
    })
  })

  test('that is not let in directly says that no proxy was used', async () => {
    const { proxy: _, ...direct } = basic()
    await expect(connectServiceNow(direct)).rejects.toMatchObject({
      code: 'SERVICENOW_ADDRESS_REFUSED',
      message: expect.stringContaining('No proxy was used'),
    })
  })

  test('that is not let in directly, although a proxy is meant to be used, names that first', async () => {
    for (const more of [
      { proxy: { environmentProxy: lab.line.proxy.http, noProxy: 'localhost' } },
      { proxy: undefined, staticIps: pair() },
    ]) {
      await using servicenow = await openServiceNow({ ...basic(), ...more })
      const error = { code: 'PROXY_NOT_USED', message: expect.stringContaining('No proxy was used') as string }
      await expect(servicenow.probe()).rejects.toMatchObject(error)
      await expect(servicenow.call({ method: 'GET', table: 'incident' })).rejects.toMatchObject(error)
    }
  })

  test('behind a proxy that takes long is waited for as long as --timeout says', async () => {
    expect(instanceSettings(basic()).connectTimeoutMs).toBeUndefined()
    expect(instanceSettings({ ...basic(), timeoutMs: 60_000 }).connectTimeoutMs).toBe(60_000)
    await using silent = await startPort(() => {})
    const proxy = `http://127.0.0.1:${silent.port}`
    const settings = { ...instanceSettings({ ...basic(), proxy, timeoutMs: 60_000 }), connectTimeoutMs: 50 }
    await using servicenow = openInstance({ ...settings, maxElapsedMs: 0 })
    await expect(servicenow.call({ method: 'GET', table: 'incident' })).rejects.toMatchObject({
      code: 'PROXY_TIMEOUT',
      failure: { evidence: { limitMs: 50 } },
    })
  })

  test('that was closed is not asked again and again', async () => {
    const instance = await openServiceNow(basic())
    await instance[Symbol.asyncDispose]()
    await expect(instance.call({ method: 'GET', table: 'incident' })).rejects.toMatchObject({
      code: 'SERVICENOW_UNREACHABLE',
    })
  })

  test('is asked three times in the preflight before a 500 is a finding', async () => {
    platform().plant({ balancer: { times: 2 } })
    await using servicenow = await connectServiceNow(basic())
    expect(servicenow.preflight.probes).toBe(16)
    platform().plant({ balancer: {} })
    await expect(connectServiceNow(basic())).rejects.toMatchObject({ code: 'SERVICENOW_UNREACHABLE' })
  })

  test('that does not exist is not called a cluster', async () => {
    const servicenow = { ...basic().servicenow, url: 'https://127.0.0.1:1' }
    await expect(connectServiceNow({ ...basic(), servicenow, maxElapsedMs: 0 })).rejects.toMatchObject({
      code: 'PROXY_TARGET_UNREACHABLE',
    })
    await expect(connectServiceNow({ servicenow, maxElapsedMs: 0 })).rejects.toMatchObject({
      code: 'SERVICENOW_UNREACHABLE',
      message: expect.not.stringContaining('cluster'),
    })
  })

  test('is left when the caller aborts', async () => {
    const controller = new AbortController()
    await using instance = await openServiceNow(basic())
    platform().plant({ stall: {} })
    const reading = instance.call({ method: 'GET', table: 'incident', signal: controller.signal })
    await until(() => platform().struck('stall') === 1)
    controller.abort('enough')
    await expect(reading).rejects.toMatchObject({ code: 'RUN_INTERRUPTED' })
  })

  test('is left also while it is looked into why it refused', async () => {
    const controller = new AbortController()
    await using instance = await openServiceNow(basic())
    platform().plant({ login: { times: 1 }, stall: { after: 1 } })
    const reading = instance.call({ method: 'GET', table: 'incident', signal: controller.signal })
    await until(() => platform().struck('stall') > 0)
    controller.abort('enough')
    await expect(reading).rejects.toMatchObject({ code: 'RUN_INTERRUPTED' })
  })

  const addresses: readonly [string, string][] = [
    ['with a path', '/nav_to.do'],
    ['with a query', '/?a=b'],
  ]
  test.each(addresses)('is not taken for an address %s', async (_, path) => {
    const servicenow = { ...basic().servicenow, url: lab.line.servicenow.url + path }
    await expect(openServiceNow({ ...basic(), servicenow })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      failure: { evidence: { option: 'servicenow.url' } },
    })
  })

  test('is not sent credentials in clear text, nor at the proxy’s own address', async () => {
    const servicenow = { ...basic().servicenow, url: 'http://instance.example' }
    await expect(openServiceNow({ ...basic(), servicenow })).rejects.toMatchObject({ code: 'PLAINTEXT_CREDENTIALS' })
    const { port } = new URL(lab.line.proxy.http)
    const atProxy = { ...basic().servicenow, url: `http://127.0.0.1:${port}` }
    await expect(openServiceNow({ ...basic(), servicenow: atProxy })).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  })
})
