import { fail } from '../../failure/fail.js'
import { SluiceError, isSluiceError } from '../../failure/sluice-error.js'
import { type Access, basicHeader } from '../choose-access.js'
import type { TokenRequest } from './token-call.js'
import { type TokenStore, type Tokens, isFresh } from './tokens.js'
import { unlessAborted } from '../calls/persist.js'

/** Proves the caller's identity for each request. */
export interface Session {
  /** The value of the header `authorization`. Throws SluiceError: SERVICENOW_TOKEN_REFUSED, SERVICENOW_LOGIN_NEEDED, … */
  authorization(signal?: AbortSignal): Promise<string>
  /** Resolves to another value after the instance refused this one. Undefined if there is none. */
  another(refused: string, signal?: AbortSignal): Promise<string | undefined>
}

export interface SessionSettings {
  readonly access: Access
  readonly store: TokenStore
  /** Shown in messages. */
  readonly instance: string
  /** The store of the tokens, shown in messages. */
  readonly place: string
  /** Milliseconds since 1970. */
  now(): number
  /** Throws SluiceError. */
  call(request: TokenRequest): Promise<Tokens>
}

export function openSession(settings: SessionSettings): Session {
  const { access } = settings
  if (access.grant !== 'basic') return new OauthSession({ ...settings, access })
  const value = basicHeader(access)
  return {
    authorization: async () => await Promise.resolve(value),
    another: async () => await Promise.resolve(undefined),
  }
}

type OauthAccess = Exclude<Access, { grant: 'basic' }>

class OauthSession implements Session {
  #tokens: Tokens | undefined
  /** The one renewal under way. Others wait for it. */
  #renewal: Promise<Tokens> | undefined

  constructor(private readonly settings: SessionSettings & { readonly access: OauthAccess }) {}

  async authorization(signal?: AbortSignal): Promise<string> {
    const { store, now } = this.settings
    const kept = this.#tokens ?? (await store.read())
    // A renewal may have ended meanwhile.
    const tokens = (this.#tokens ??= kept)
    if (tokens !== undefined && isFresh(tokens, now())) return bearer(tokens)
    return bearer(await this.#renewed(tokens, signal))
  }

  async another(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const tokens = this.#tokens
    // Another request met the same refusal before, and has a new one.
    if (tokens !== undefined && bearer(tokens) !== refused) return bearer(tokens)
    const value = bearer(await this.#renewed(tokens, signal))
    return value === refused ? undefined : value
  }

  async #renewed(old: Tokens | undefined, signal: AbortSignal | undefined): Promise<Tokens> {
    this.#renewal ??= this.#renew(old).finally(() => (this.#renewal = undefined))
    return await unlessAborted(this.#renewal, signal)
  }

  async #renew(old: Tokens | undefined): Promise<Tokens> {
    const { store, now } = this.settings
    const tokens = await store.exclusively(async kept => {
      // Another process was here first.
      const isNew = kept !== undefined && kept.accessToken !== old?.accessToken && isFresh(kept, now())
      return isNew ? kept : await this.#obtain(kept ?? old)
    })
    this.#tokens = tokens
    return tokens
  }

  /** Tries the refresh token first, then the grant that gave the first tokens. */
  async #obtain(kept: Tokens | undefined): Promise<Tokens> {
    const { access, store, call } = this.settings
    let refused: SluiceError | undefined
    for (const refreshToken of refreshTokens(access, kept)) {
      try {
        return await call({ grant: 'refresh_token', refreshToken })
      } catch (error) {
        if (!isRefused(error)) throw error
        refused = error
        // A process that could not wait for the other one's turn: its refresh token is used up, the other one has the next.
        const now = await store.read()
        if (now !== undefined && now.accessToken !== kept?.accessToken) return now
      }
    }
    const first = firstRequest(access)
    if (first !== undefined) return await call(first)
    throw refused ?? this.#nobodyLoggedIn()
  }

  #nobodyLoggedIn(): SluiceError {
    const { instance, place } = this.settings
    return fail('SERVICENOW_LOGIN_NEEDED', { instance, file: place })
  }
}

/** Kept refresh tokens come first. Some instances send a new one with each renewal. */
function refreshTokens(access: OauthAccess, kept: Tokens | undefined): string[] {
  if (access.grant === 'client_credentials') return []
  const given = access.grant === 'refresh_token' ? access.refreshToken : undefined
  return [...new Set([kept?.refreshToken, given])].filter(token => token !== undefined)
}

/** Returns the request for first tokens, or for new ones if the instance accepts none of the kept. */
export function firstRequest(access: Access): TokenRequest | undefined {
  switch (access.grant) {
    case 'password':
      return { grant: 'password', username: access.username, password: access.password }
    case 'client_credentials':
      return { grant: 'client_credentials' }
    case 'refresh_token':
      return access.otherwise === undefined ? undefined : { grant: 'password', ...access.otherwise }
    case 'authorization_code':
    case 'basic':
      return undefined
  }
}

function isRefused(error: unknown): error is SluiceError {
  return isSluiceError(error) && error.code === 'SERVICENOW_TOKEN_REFUSED'
}

function bearer({ accessToken }: Tokens): string {
  return `Bearer ${accessToken}`
}
