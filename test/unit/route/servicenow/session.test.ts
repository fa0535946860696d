import { describe, expect, test } from 'vitest'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import type { Access } from '../../../../src/route/servicenow/choose-access.js'
import { openSession, tokensInMemory, type TokenStore } from '../../../../src/route/servicenow/login/session.js'
import type { TokenRequest, Tokens } from '../../../../src/route/servicenow/login/token-call.js'

const client = { id: 'id', secret: 'hush' }
const password: Access = { grant: 'password', client, username: 'u', password: 'p' }

/** An instance that numbers its tokens; each is good for 10 s, and renewed after 5. */
function world(access: Access, given: { store?: TokenStore; refuses?: (request: TokenRequest) => boolean } = {}) {
  const state = { now: 0, calls: [] as string[], issued: 0 }
  const store = given.store ?? tokensInMemory()
  const session = openSession({
    access,
    store,
    instance: 'https://instance.example',
    place: '/tokens.json',
    now: () => state.now,
    call: async request => {
      state.calls.push(request.grant === 'refresh_token' ? `refresh ${request.refreshToken}` : request.grant)
      await Promise.resolve()
      if (given.refuses?.(request) === true) throw refusal(request.grant)
      state.issued += 1
      const refreshToken = request.grant === 'client_credentials' ? {} : { refreshToken: `r${state.issued}` }
      return { accessToken: `a${state.issued}`, ...refreshToken, renewAt: state.now + 5000 }
    },
  })
  return { state, session, store }
}

function refusal(grant: string): SluiceError {
  const evidence = { instance: 'https://instance.example', grant, reason: 'access_denied (server_error)' }
  return new SluiceError(failure('SERVICENOW_TOKEN_REFUSED', evidence))
}

describe('a session', () => {
  test('of Basic authentication has one proof, and no other', async () => {
    const { session } = world({ grant: 'basic', username: 'ü', password: 'p:w' })
    const value = await session.authorization()
    expect(Buffer.from(value.slice('Basic '.length), 'base64').toString()).toBe('ü:p:w')
    expect(await session.another(value)).toBeUndefined()
  })

  test('asks for a token once, and for all who wait for it', async () => {
    const { session, state } = world(password)
    const values = await Promise.all(Array.from({ length: 8 }, async () => await session.authorization()))
    expect(new Set(values)).toEqual(new Set(['Bearer a1']))
    expect(state.calls).toEqual(['password'])
  })

  test('renews before the end, with the refresh token that came last', async () => {
    const { session, state } = world(password)
    await session.authorization()
    state.now = 4999
    expect(await session.authorization()).toBe('Bearer a1')
    state.now = 5000
    expect(await session.authorization()).toBe('Bearer a2')
    state.now = 10_000
    expect(await session.authorization()).toBe('Bearer a3')
    expect(state.calls).toEqual(['password', 'refresh r1', 'refresh r2'])
  })

  test('renews once when several requests are refused with the same token', async () => {
    const { session, state } = world(password)
    const old = await session.authorization()
    const others = await Promise.all([1, 2, 3].map(async () => await session.another(old)))
    expect(others).toEqual(['Bearer a2', 'Bearer a2', 'Bearer a2'])
    // One that comes late learns of it.
    expect(await session.another(old)).toBe('Bearer a2')
    expect(state.calls).toEqual(['password', 'refresh r1'])
  })

  test('falls back to the password when the refresh token is refused', async () => {
    const { session, state } = world(password, { refuses: ({ grant }) => grant === 'refresh_token' })
    const old = await session.authorization()
    expect(await session.another(old)).toBe('Bearer a2')
    expect(state.calls).toEqual(['password', 'refresh r1', 'password'])
  })

  test('with a refresh token alone names it when it is refused', async () => {
    const { session, state } = world({ grant: 'refresh_token', client, refreshToken: 'given' }, { refuses: () => true })
    await expect(session.authorization()).rejects.toMatchObject({
      code: 'SERVICENOW_TOKEN_REFUSED',
      message: expect.stringContaining('refresh_token grant'),
    })
    expect(state.calls).toEqual(['refresh given'])
  })

  test('tries the refresh token that was given after the one that was kept', async () => {
    const store = tokensInMemory()
    await store.exclusively(async () => await Promise.resolve({ accessToken: 'old', refreshToken: 'kept', renewAt: 0 }))
    const refuses = (request: TokenRequest) => request.grant === 'refresh_token' && request.refreshToken === 'kept'
    const { session, state } = world({ grant: 'refresh_token', client, refreshToken: 'given' }, { store, refuses })
    expect(await session.authorization()).toBe('Bearer a1')
    expect(state.calls).toEqual(['refresh kept', 'refresh given'])
    expect(await store.read()).toMatchObject({ accessToken: 'a1', refreshToken: 'r1' })
  })

  test('of client credentials asks anew each time', async () => {
    const { session, state } = world({ grant: 'client_credentials', client })
    await session.authorization()
    state.now = 5000
    expect(await session.authorization()).toBe('Bearer a2')
    expect(state.calls).toEqual(['client_credentials', 'client_credentials'])
  })

  test('of somebody who has not logged in says so', async () => {
    const { session } = world({ grant: 'authorization_code', client })
    await expect(session.authorization()).rejects.toMatchObject({
      code: 'SERVICENOW_LOGIN_NEEDED',
      message: expect.stringContaining('/tokens.json'),
    })
  })

  test('takes the tokens that another process has renewed meanwhile', async () => {
    const store = tokensInMemory()
    const one = world(password, { store })
    const other = world(password, { store })
    const old = await one.session.authorization()
    await other.session.authorization()
    other.state.issued = 10
    await other.session.another(old)
    expect(await one.session.another(old)).toBe('Bearer a11')
    expect(one.state.calls).toEqual(['password'])
  })

  test('takes them also when its own refresh token was used up by the other process', async () => {
    const newer: Tokens = { accessToken: 'theirs', refreshToken: 'r9', renewAt: 99_999 }
    const kept: { tokens: Tokens } = { tokens: { accessToken: 'a0', refreshToken: 'r0', renewAt: 0 } }
    // A store that could not wait for its turn.
    const store: TokenStore = {
      read: async () => await Promise.resolve(kept.tokens),
      exclusively: async renew => (kept.tokens = await renew(kept.tokens)),
    }
    const refuses = () => {
      kept.tokens = newer
      return true
    }
    const { session } = world({ grant: 'authorization_code', client }, { store, refuses })
    expect(await session.authorization()).toBe('Bearer theirs')
  })

  test('lets one who waits give up without ending it for the others', async () => {
    const { session, state } = world(password)
    const controller = new AbortController()
    const one = session.authorization(controller.signal)
    const other = session.authorization()
    controller.abort('SIGINT')
    await expect(one).rejects.toMatchObject({ code: 'RUN_INTERRUPTED' })
    expect(await other).toBe('Bearer a1')
    expect(state.calls).toEqual(['password'])
  })

  test('asks again after a renewal that failed', async () => {
    let isDown = true
    const { session } = world(password, { refuses: () => isDown })
    await expect(session.authorization()).rejects.toMatchObject({ code: 'SERVICENOW_TOKEN_REFUSED' })
    isDown = false
    expect(await session.authorization()).toBe('Bearer a1')
  })
})
