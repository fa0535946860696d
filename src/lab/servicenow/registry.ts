import { randomBytes } from 'node:crypto'
import type { PlatformClock } from './clock.js'
import type { Users } from './users.js'
import { NotThereError } from './not-there.js'

export const grants = ['password', 'refresh_token', 'authorization_code', 'client_credentials'] as const
type Grant = (typeof grants)[number]

/** An entry of the application registry. */
export interface OAuthClient {
  readonly id: string
  /** A public client has none, and must show the verifier of its challenge. */
  readonly secret?: string
  readonly grants: readonly Grant[]
  /** For authorization_code, without a query. Empty: any URL of http://127.0.0.1 and http://localhost. */
  readonly redirectUris: readonly string[]
  readonly isActive: boolean
  /** Lifetimes. Defaults: 1800, and 100 days. */
  readonly accessTokenSeconds: number
  readonly refreshTokenSeconds: number
  /** Whom client_credentials acts for. */
  readonly username: string
}

interface Token {
  readonly clientId: string
  readonly username: string
  readonly expiresAt: number
}

interface Code extends Token {
  readonly redirectUri: string
  readonly challenge?: string
}

/** A code is good for a minute, and once. */
const CODE_MS = 60_000

/** The application registry and the tokens that were given out. */
export class Registry {
  readonly clients = new Map<string, OAuthClient>()
  /** `glide.oauth.inbound.client.credential.grant_type.enabled` */
  allowsClientCredentials = false
  /** Whether each use of a refresh token gives a new one, and ends the old. */
  rotatesRefreshTokens = false
  readonly #clock: PlatformClock
  readonly #users: Users
  readonly #access = new Map<string, Token>()
  readonly #refresh = new Map<string, Token>()
  readonly #codes = new Map<string, Code>()

  constructor(clock: PlatformClock, users: Users) {
    this.#clock = clock
    this.#users = users
  }

  /** Throws if there is no such client. */
  change(id: string, change: Partial<Omit<OAuthClient, 'id'>>): void {
    const client = this.clients.get(id)
    if (!client) throw new NotThereError(`no such client: ${id}`)
    this.clients.set(id, { ...client, ...change })
  }

  /** The answer of the token endpoint. `refreshToken`: one to keep, or whether to give one. */
  issue(client: OAuthClient, username: string, refreshToken: string | boolean): Record<string, unknown> {
    const refresh =
      refreshToken === true ? this.#keep(this.#refresh, client, username, client.refreshTokenSeconds) : refreshToken
    const access = this.#keep(this.#access, client, username, client.accessTokenSeconds)
    return {
      scope: 'useraccount',
      token_type: 'Bearer',
      // The time that is left when the answer arrives.
      expires_in: Math.max(1, client.accessTokenSeconds - 1),
      ...(refresh !== false && { refresh_token: refresh }),
      access_token: access,
    }
  }

  /** Returns the user and client of an access token. Undefined if it is not valid. */
  access(token: string): { readonly username: string; readonly clientId: string } | undefined {
    return this.#good(this.#access, token)
  }

  /** Returns the user of a client's refresh token. Undefined if it is not valid. */
  refresh(client: OAuthClient, token: string): string | undefined {
    const found = this.#good(this.#refresh, token)
    return found?.clientId === client.id ? found.username : undefined
  }

  newCode(client: OAuthClient, username: string, redirectUri: string, challenge?: string): string {
    const code = randomBytes(32).toString('base64url')
    const expiresAt = this.#clock.now() + CODE_MS
    const kept = {
      clientId: client.id,
      username,
      expiresAt,
      redirectUri,
      ...(challenge !== undefined && { challenge }),
    }
    this.#codes.set(code, kept)
    return code
  }

  /** Returns what a code was issued for, and uses the code up. */
  takeCode(client: OAuthClient, code: string): Code | undefined {
    const found = this.#good(this.#codes, code)
    this.#codes.delete(code)
    return found?.clientId === client.id ? found : undefined
  }

  /** Ends every token of a kind that a user has, or all of that kind. */
  revoke(kind: 'access' | 'refresh', username?: string): void {
    const tokens = kind === 'access' ? this.#access : this.#refresh
    for (const [token, { username: whose }] of tokens) {
      if (username === undefined || whose === username) tokens.delete(token)
    }
  }

  forgetRefreshToken(token: string): void {
    this.#refresh.delete(token)
  }

  #keep(tokens: Map<string, Token>, client: OAuthClient, username: string, seconds: number): string {
    const token = randomBytes(48).toString('base64url')
    tokens.set(token, { clientId: client.id, username, expiresAt: this.#clock.now() + seconds * 1000 })
    return token
  }

  #good<T extends Token>(tokens: ReadonlyMap<string, T>, token: string): T | undefined {
    const found = tokens.get(token)
    if (!found || found.expiresAt <= this.#clock.now()) return undefined
    const isGood = this.clients.get(found.clientId)?.isActive === true && this.#users.mayLogIn(found.username)
    return isGood ? found : undefined
  }
}
