// @module-tag long
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type ServiceNowWorld, openServiceNow } from '../../support/lab/servicenow-client.js'

const incidents = '/api/now/table/incident'

const read = async (world: ServiceNowWorld, token: unknown) =>
  (await world.call(incidents, { authorization: `Bearer ${String(token)}` })).status

async function signIn(world: ServiceNowWorld): Promise<{ access: string; refresh: string }> {
  const { username, password } = world.lab.line.servicenow
  const { value } = await world.token({ grant_type: 'password', username, password })
  return { access: String(value['access_token']), refresh: String(value['refresh_token']) }
}

const refresh = (world: ServiceNowWorld, token: string) =>
  world.token({ grant_type: 'refresh_token', refresh_token: token })

describe('a token', () => {
  it('is answered as a real one', async () => {
    await using world = await openServiceNow()
    const { username, password } = world.lab.line.servicenow
    const { answer, value } = await world.token({ grant_type: 'password', username, password })
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json;charset=UTF-8', server: 'snow_adc' })
    expect(Object.keys(value)).toEqual(['scope', 'token_type', 'expires_in', 'refresh_token', 'access_token'])
    expect(value).toMatchObject({ scope: 'useraccount', token_type: 'Bearer', expires_in: 1799 })
  })

  it('is good for its lifetime, by the platform’s clock', async () => {
    await using world = await openServiceNow()
    const { clientId, username, password } = world.lab.line.servicenow
    world.sn.changeClient(clientId, { accessTokenSeconds: 5 })
    world.sn.setClock('2026-01-01 00:00:00', true)
    const { value } = await world.token({ grant_type: 'password', username, password })
    expect(value['expires_in']).toBe(4)
    world.sn.advanceClock(4999)
    expect(await read(world, value['access_token'])).toBe(200)
    world.sn.advanceClock(1)
    expect(await read(world, value['access_token'])).toBe(401)
    expect(await read(world, (await refresh(world, String(value['refresh_token']))).value['access_token'])).toBe(200)
  })

  it('is renewed until the refresh token ends or is revoked', async () => {
    await using world = await openServiceNow()
    world.sn.setClock('2026-01-01 00:00:00', true)
    const first = await signIn(world)
    expect((await refresh(world, first.refresh)).value['refresh_token']).toBe(first.refresh)
    world.sn.advanceClock(8_640_000_000)
    expect((await refresh(world, first.refresh)).status).toBe(401)

    const second = await signIn(world)
    world.sn.revokeTokens('refresh', 'somebody else')
    expect((await refresh(world, second.refresh)).status).toBe(200)
    world.sn.revokeTokens('refresh', world.lab.line.servicenow.username)
    expect((await refresh(world, second.refresh)).status).toBe(401)
    expect(await read(world, second.access)).toBe(200)
    world.sn.revokeTokens('access')
    expect(await read(world, second.access)).toBe(401)
  })

  it('comes with a new refresh token each time once they rotate', async () => {
    await using world = await openServiceNow()
    world.sn.rotateRefreshTokens(true)
    const { refresh: first } = await signIn(world)
    const second = String((await refresh(world, first)).value['refresh_token'])
    expect(second).not.toBe(first)
    expect((await refresh(world, first)).status).toBe(401)
    expect((await refresh(world, second)).status).toBe(200)
  })

  it.each([{ active: false }, { lockedOut: true }])('is worth nothing for a user who is %j', async change => {
    await using world = await openServiceNow()
    const { username, password } = world.lab.line.servicenow
    const { access, refresh: token } = await signIn(world)
    world.sn.changeUser(username, change)
    expect(await read(world, access)).toBe(401)
    expect((await refresh(world, token)).status).toBe(401)
    expect((await world.token({ grant_type: 'password', username, password })).status).toBe(401)
    expect((await world.call(incidents)).status).toBe(401)
    world.sn.changeUser(username, { active: true, lockedOut: false })
    expect(await read(world, access)).toBe(200)
  })

  it('is not given to a client that is inactive, or for a grant that is not the client’s', async () => {
    await using world = await openServiceNow()
    const { clientId, username, password } = world.lab.line.servicenow
    const { access } = await signIn(world)
    world.sn.changeClient(clientId, { grants: ['authorization_code'] })
    expect((await world.token({ grant_type: 'password', username, password })).status).toBe(401)
    expect(await read(world, access)).toBe(200)
    world.sn.changeClient(clientId, { isActive: false })
    expect(await read(world, access)).toBe(401)
  })

  it('is given for credentials of the client alone once that is enabled', async () => {
    await using world = await openServiceNow()
    world.sn.allowClientCredentials(true)
    const { status, value } = await world.token({ grant_type: 'client_credentials' })
    expect([status, Object.keys(value)]).toEqual([200, ['scope', 'token_type', 'expires_in', 'access_token']])
    expect(await read(world, value['access_token'])).toBe(200)
  })
})

describe('the authorization endpoint', () => {
  const redirect_uri = 'http://127.0.0.1:5555/done'
  const verifier = 'a'.repeat(43)
  const code_challenge = createHash('sha256').update(verifier).digest('base64url')
  const pkce = { code_challenge, code_challenge_method: 'S256' }

  async function authorize(
    world: ServiceNowWorld,
    more: Record<string, string>,
    client = world.lab.line.servicenow.clientId,
  ) {
    const parameters = { response_type: 'code', client_id: client, state: 'a b', redirect_uri, ...more }
    const path = `/oauth_auth.do?${new URLSearchParams(parameters).toString()}`
    const answer = await world.call(path, { authorization: '' })
    const back = answer.headers.location === undefined ? undefined : new URL(answer.headers.location)
    return { path, answer, back, code: back?.searchParams.get('code') ?? '' }
  }

  it('sends the browser back with a code, which a client with a secret changes for a token once', async () => {
    await using world = await openServiceNow()
    const { answer, back, code } = await authorize(world, {})
    expect([answer.status, back?.origin, back?.searchParams.get('state')]).toEqual([
      302,
      'http://127.0.0.1:5555',
      'a b',
    ])
    const form = { grant_type: 'authorization_code', code, redirect_uri }
    const { status, value } = await world.token(form)
    expect([status, await read(world, value['access_token'])]).toEqual([200, 200])
    expect((await world.token(form)).status).toBe(401)
  })

  it('gives a client without a secret a code for a challenge, and a token for its verifier', async () => {
    await using world = await openServiceNow()
    const { publicClientId: client_id } = world.lab.line.servicenow
    const without = await authorize(world, {}, client_id)
    expect(without.back?.searchParams.get('error')).toBe('invalid_request')
    for (const [code_verifier, expected] of [
      ['wrong', 401],
      [verifier, 200],
    ] as const) {
      const { code } = await authorize(world, pkce, client_id)
      const form = { grant_type: 'authorization_code', client_id, client_secret: '', code, redirect_uri, code_verifier }
      expect((await world.token(form)).status).toBe(expected)
    }
  })

  it('refuses a code of another redirect, of another client, or that is too old', async () => {
    await using world = await openServiceNow()
    const { publicClientId } = world.lab.line.servicenow
    const grant_type = 'authorization_code'
    const first = await authorize(world, {})
    const other = { grant_type, code: first.code, redirect_uri: 'http://localhost/other' }
    expect((await world.token(other)).status).toBe(401)
    const second = await authorize(world, pkce)
    const stolen = { grant_type, client_id: publicClientId, code: second.code, redirect_uri, code_verifier: verifier }
    expect((await world.token(stolen)).status).toBe(401)
    const third = await authorize(world, {})
    world.sn.advanceClock(60_001)
    expect((await world.token({ grant_type, code: third.code, redirect_uri })).status).toBe(401)
  })

  it('asks for a name and a password first if no user is logged in', async () => {
    await using world = await openServiceNow()
    world.sn.setBrowser({ asksLogin: true })
    const { username, password } = world.lab.line.servicenow
    const { path, answer } = await authorize(world, {})
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/html'])
    expect(answer.text).toContain('name="user_password"')
    const enter = async (user_password: string) =>
      await world.call(path, { authorization: '', form: { user_name: username, user_password } })
    expect((await enter('wrong')).text).toContain('User name or password invalid')
    expect((await enter(password)).status).toBe(302)
  })

  it('says so when the user does not consent, and answers a client that it does not know with a page', async () => {
    await using world = await openServiceNow()
    world.sn.setBrowser({ consents: false })
    const denied = await authorize(world, {})
    expect([denied.back?.searchParams.get('error'), denied.back?.searchParams.get('state')]).toEqual([
      'access_denied',
      'a b',
    ])
    expect((await authorize(world, {}, 'other')).answer.status).toBe(400)
    const elsewhere = await authorize(world, { redirect_uri: 'https://example.com/done' })
    expect([elsewhere.answer.status, elsewhere.back]).toEqual([400, undefined])
  })
})

describe('without OAuth', () => {
  it('an API key acts for its user', async () => {
    await using world = await openServiceNow()
    const asked = (key: string) => ({ authorization: '', headers: { 'x-sn-apikey': key } })
    expect((await world.call(incidents, asked(world.sn.apiKey()))).status).toBe(200)
    expect((await world.call(incidents, asked('wrong'))).status).toBe(401)
  })

  it('Basic authentication is refused once a policy forbids it, and tokens are not', async () => {
    await using world = await openServiceNow()
    world.sn.allowBasic(false)
    expect((await world.call(incidents)).status).toBe(401)
    expect(await read(world, (await signIn(world)).access)).toBe(200)
  })
})
