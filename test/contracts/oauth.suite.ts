/** What an OAuth server has to do for Sluice, and Sluice for it: run against the lab's double and against a server that somebody else wrote. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type InstanceOptions, logIn, openServiceNow } from '../../src/route/connect/open-servicenow.js'

/** An instance with an OAuth server, and a way there. */
export interface OauthWorld extends AsyncDisposable {
  readonly way: Pick<InstanceOptions, 'proxy'> & {
    readonly servicenow: Pick<InstanceOptions['servicenow'], 'url' | 'ca'>
  }
  readonly username: string
  readonly password: string
  /** With every grant. */
  readonly client: { readonly clientId: string; readonly clientSecret: string }
  /** For authorization_code with PKCE, without a secret. */
  readonly publicClientId: string
  /** What the token calls led to, in order. */
  tokenCalls(): readonly ('given' | 'refused')[]
  /** Access tokens that were given end now. */
  revokeAccess(): void
  revokeRefresh(): void
  /** Refresh tokens change with each use from now on, or not. */
  rotate(isOn: boolean): void
  /** What the user's browser does with the address that it is given: it logs in, and follows the redirect. */
  browse(url: string): Promise<Response>
}

export function describeOauth(name: string, open: () => Promise<OauthWorld>): void {
  describe(`OAuth at ${name}`, () => {
    let world: OauthWorld
    let folder: string
    beforeEach(async () => {
      world = await open()
      folder = await mkdtemp(join(tmpdir(), 'tokens-'))
    })
    afterEach(async () => {
      await world[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    })

    const options = (more: Partial<InstanceOptions['servicenow']>): InstanceOptions => ({
      ...world.way,
      servicenow: { ...world.way.servicenow, ...more },
      maxElapsedMs: 0,
    })
    const withPassword = () =>
      options({ ...world.client, username: world.username, password: world.password, grant: 'password' })
    const row = { method: 'GET', table: 'incident', query: { sysparm_limit: '1' } } as const

    test('the password grant gives a token that is taken, and one that renews it', async () => {
      await using instance = await openServiceNow(withPassword())
      expect(await instance.call(row)).toMatchObject({ status: 200 })
      world.revokeAccess()
      expect(await instance.call(row)).toMatchObject({ status: 200 })
      expect(world.tokenCalls()).toEqual(['given', 'given'])
    })

    test('a refresh token that changes with each use is followed', async () => {
      world.rotate(true)
      await using instance = await openServiceNow(withPassword())
      for (let round = 0; round < 3; round += 1) {
        expect(await instance.call(row)).toMatchObject({ status: 200 })
        world.revokeAccess()
      }
      expect(world.tokenCalls()).toEqual(['given', 'given', 'given'])
    })

    test('a refresh token that was revoked leads back to the password', async () => {
      await using instance = await openServiceNow(withPassword())
      await instance.call(row)
      world.revokeAccess()
      world.revokeRefresh()
      expect(await instance.call(row)).toMatchObject({ status: 200 })
      expect(world.tokenCalls()).toEqual(['given', 'refused', 'given'])
    })

    test('client credentials give a token that is taken', async () => {
      await using instance = await openServiceNow(options({ ...world.client, grant: 'client_credentials' }))
      expect(await instance.call(row)).toMatchObject({ status: 200 })
      world.revokeAccess()
      expect(await instance.call(row)).toMatchObject({ status: 200 })
      expect(world.tokenCalls()).toEqual(['given', 'given'])
    })

    const wrong: readonly [string, () => InstanceOptions, string][] = [
      [
        'password',
        () => ({ ...withPassword(), servicenow: { ...withPassword().servicenow, password: 'wrong' } }),
        'password',
      ],
      [
        'client id',
        () => ({ ...withPassword(), servicenow: { ...withPassword().servicenow, clientId: 'wrong' } }),
        'password',
      ],
      [
        'secret',
        () => ({ ...withPassword(), servicenow: { ...withPassword().servicenow, clientSecret: 'wrong' } }),
        'password',
      ],
      ['refresh token', () => options({ ...world.client, refreshToken: 'wrong' }), 'refresh_token'],
    ]
    test.each(wrong)('a wrong %s is refused, and the grant is named', async (_, given, grant) => {
      await using instance = await openServiceNow(given())
      await expect(instance.call(row)).rejects.toMatchObject({
        code: 'SERVICENOW_TOKEN_REFUSED',
        message: expect.stringContaining(`the ${grant} grant`),
      })
    })

    const clients: readonly [string, () => Partial<InstanceOptions['servicenow']>][] = [
      ['public', () => ({ clientId: world.publicClientId })],
      ['confidential', () => world.client],
    ]
    test.each(clients)('a login of a %s client is kept for its owner alone, and renewed', async (_, client) => {
      const tokenFile = join(folder, 'deep', 'tokens.json')
      const given = options({ ...client(), tokenFile, grant: 'authorization_code' })
      const pages: Promise<Response>[] = []
      const loggedIn = await logIn({ ...given, port: 0, open: url => pages.push(world.browse(url)) })
      expect(loggedIn).toEqual({
        instance: new URL(String(given.servicenow.url)).origin,
        tokenFile,
        isRenewable: true,
      })
      expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([200])
      expect((await stat(tokenFile)).mode & 0o777).toBe(0o600)
      expect((await stat(join(folder, 'deep'))).mode & 0o777).toBe(0o700)

      world.rotate(true)
      for (let process = 0; process < 3; process += 1) {
        await using instance = await openServiceNow(given)
        expect(await instance.call(row)).toMatchObject({ status: 200 })
        world.revokeAccess()
      }
      expect(world.tokenCalls()).toEqual(['given', 'given', 'given'])

      world.revokeRefresh()
      await using instance = await openServiceNow(given)
      await expect(instance.call(row)).rejects.toMatchObject({
        code: 'SERVICENOW_TOKEN_REFUSED',
        message: expect.stringContaining('the refresh_token grant'),
      })
    })

    test('two that share a token file follow each other’s renewals', async () => {
      const tokenFile = join(folder, 'tokens.json')
      world.rotate(true)
      const given = options({ clientId: world.publicClientId, tokenFile, grant: 'authorization_code' })
      await logIn({ ...given, port: 0, open: url => void world.browse(url) })
      await using one = await openServiceNow(given)
      await using other = await openServiceNow(given)
      await Promise.all([one, other].map(async instance => await instance.call(row)))
      for (let round = 0; round < 3; round += 1) {
        world.revokeAccess()
        await Promise.all([one, other].map(async instance => await instance.call(row)))
      }
      // One renewal each round: the other one took what was kept.
      expect(world.tokenCalls()).toEqual(['given', 'given', 'given', 'given'])
      expect(JSON.parse(await readFile(tokenFile, 'utf8'))).toMatchObject({ version: 1 })
    })

    test('a refresh token that was given is followed from process to process, and another one is another user’s', async () => {
      world.rotate(true)
      const tokenFile = join(folder, 'tokens.json')
      const login = options({ clientId: world.publicClientId, tokenFile })
      await logIn({ ...login, port: 0, open: url => void world.browse(url) })
      const [refreshToken = ''] = /(?<="refreshToken": ")[^"]+/.exec(await readFile(tokenFile, 'utf8')) ?? []
      const given = options({ clientId: world.publicClientId, tokenFile, refreshToken })
      for (let process = 0; process < 3; process += 1) {
        await using instance = await openServiceNow(given)
        expect(await instance.call(row)).toMatchObject({ status: 200 })
        world.revokeAccess()
      }
      const other = options({ clientId: world.publicClientId, tokenFile, refreshToken: 'wrong' })
      await using instance = await openServiceNow(other)
      await expect(instance.call(row)).rejects.toMatchObject({ code: 'SERVICENOW_TOKEN_REFUSED' })
    })

    test('a browser that brings another state is sent away, and the login goes on', async () => {
      const tokenFile = join(folder, 'tokens.json')
      const given = options({ clientId: world.publicClientId, tokenFile })
      const seen: number[] = []
      const loggedIn = await logIn({
        ...given,
        port: 0,
        open: (url, redirectUri) => {
          void (async () => {
            seen.push((await fetch(`${redirectUri}?code=stolen&state=other`)).status)
            seen.push((await fetch(`${redirectUri}?code=stolen`)).status)
            seen.push((await fetch(new URL('/favicon.ico', redirectUri))).status)
            seen.push((await world.browse(url)).status)
          })()
        },
      })
      expect(loggedIn.isRenewable).toBe(true)
      expect(seen.slice(0, 3)).toEqual([400, 400, 404])
    })

    test('a code without the verifier that belongs to it gives nothing', async () => {
      const tokenFile = join(folder, 'tokens.json')
      const given = options({ clientId: world.publicClientId, tokenFile })
      const attempt = logIn({
        ...given,
        port: 0,
        open: url => {
          const tampered = new URL(url)
          tampered.searchParams.set('code_challenge', Buffer.alloc(32, 7).toString('base64url'))
          void world.browse(tampered.href)
        },
      })
      await expect(attempt).rejects.toMatchObject({
        code: 'SERVICENOW_TOKEN_REFUSED',
        message: expect.stringContaining('the authorization_code grant'),
      })
    })
  })
}
