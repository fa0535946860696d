import { fail, type SluiceError, isSluiceError } from '../../../base/failure/failure.js'
import { type Access, apiKeyHeader, basicHeader, type OauthAccess } from '../choose-access.js'
import type { TokenRequest, Tokens } from './token-call.js'
import { unlessAborted } from '../calls/persist.js'

export interface Session {
  /** Returns the header `authorization`, for `loginHeaders`. Throws SluiceError: SERVICENOW_TOKEN_REFUSED, SERVICENOW_LOGIN_NEEDED, … */
  authorization(signal?: AbortSignal): Promise<string>
  /** Resolves to another value after the instance refused this one. Undefined if there is none. */
  another(refused: string, signal?: AbortSignal): Promise<string | undefined>
}

/** Keeps tokens in memory, or in a file that processes share. */
export interface TokenStore {
  read(): Promise<Tokens | undefined>
  /**
   * Runs one renewal at a time, across processes if the store can. `renew` receives the kept tokens, and its result
   * replaces them.
   */
  exclusively(renew: (kept: Tokens | undefined) => Promise<Tokens>): Promise<Tokens>
}

export function tokensInMemory(): TokenStore {
  let kept: Tokens | undefined
  return {
    read: async () => await Promise.resolve(kept),
    exclusively: async renew => (kept = await renew(kept)),
  }
}

interface SessionSettings {
  readonly access: Access
  readonly store: TokenStore
  /** Shown in messages. */
  readonly instance: string
  /** Where the store is, shown in messages. */
  readonly place: string
  /** Milliseconds since 1970. */
  now(): number
  call(request: TokenRequest): Promise<Tokens>
}

export function openSession(settings: SessionSettings): Session {
  const { access } = settings
  if (access.grant !== 'basic' && access.grant !== 'api_key') return new OauthSession({ ...settings, access })
  const value = access.grant === 'basic' ? basicHeader(access) : apiKeyHeader(access.apiKey)
  return {
    authorization: async () => await Promise.resolve(value),
    another: async () => await Promise.resolve(undefined),
  }
}

class OauthSession implements Session {
  #tokens: Tokens | undefined
  /** The one renewal under way. Others wait for it. */
  #renewal: Promise<Tokens> | undefined

  constructor(private readonly settings: SessionSettings & { readonly access: OauthAccess }) {}

  async authorization(signal?: AbortSignal): Promise<string> {
    const { store, now } = this.settings
    const kept = this.#tokens ?? (await store.read())
    // A renewal may have ended in the meantime.
    const tokens = (this.#tokens ??= kept)
    if (tokens !== undefined && isFresh(tokens, now())) return bearer(tokens)
    return bearer(await this.#renewed(tokens, signal))
  }

  async another(refused: string, signal?: AbortSignal): Promise<string | undefined> {
    const tokens = this.#tokens
    // Another request has already renewed the token.
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
      // Another process may have renewed it.
      const isNew = kept !== undefined && kept.accessToken !== old?.accessToken && isFresh(kept, now())
      return isNew ? kept : await this.#obtain(kept ?? old)
    })
    this.#tokens = tokens
    return tokens
  }

  /** Tries the refresh token first, then the grant that gave the first tokens. */
  async #obtain(kept: Tokens | undefined): Promise<Tokens> {
    const { access, store, call, instance, place } = this.settings
    let refused: SluiceError | undefined
    for (const refreshToken of refreshTokens(access, kept)) {
      try {
        return await call({ grant: 'refresh_token', refreshToken })
      } catch (error) {
        if (!isSluiceError(error) || error.code !== 'SERVICENOW_TOKEN_REFUSED') throw error
        refused = error
        // Another process may have used up the refresh token and stored the next one.
        const now = await store.read()
        if (now !== undefined && now.accessToken !== kept?.accessToken) return now
      }
    }
    const first = firstRequest(access)
    if (first !== undefined) return await call(first)
    throw refused ?? fail('SERVICENOW_LOGIN_NEEDED', { instance, file: place })
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
    case 'api_key':
      return undefined
  }
}

function bearer({ accessToken }: Tokens): string {
  return `Bearer ${accessToken}`
}

function isFresh({ renewAt: until }: Tokens, now: number): boolean {
  return until === undefined || now < until
}
