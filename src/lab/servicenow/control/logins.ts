import type { Platform } from '../platform.js'
import type { OAuthClient } from '../registry.js'

/** Users, the application registry, tokens. */
export interface LoginControl {
  /** A new user, or an existing one with a new password. */
  setUser(username: string, password: string): void
  changeUser(username: string, change: { readonly active?: boolean; readonly lockedOut?: boolean }): void
  /** A key for the header x-sn-apikey that acts for the lab's user. */
  apiKey(): string
  /** Whether Basic authentication is taken. Default true. */
  allowBasic(isAllowed: boolean): void
  /** Whether the grant client_credentials is enabled. Default false. */
  allowClientCredentials(isAllowed: boolean): void
  clients(): readonly OAuthClient[]
  /** Changes a client: its lifetimes, its grants, whether it is active. Tokens keep the end that they were given with. */
  changeClient(id: string, change: Partial<Omit<OAuthClient, 'id'>>): void
  /** Whether each use of a refresh token gives a new one, and ends the old. Default false. */
  rotateRefreshTokens(isOn: boolean): void
  /** Ends tokens: of a user, or all. */
  revokeTokens(kind: 'access' | 'refresh', username?: string): void
  /** What the browser does at the authorization endpoint. Default: it is logged in as the lab's user, and consents. */
  setBrowser(change: { readonly username?: string; readonly asksLogin?: boolean; readonly consents?: boolean }): void
}

export function loginControl(platform: Platform): LoginControl {
  const { access, registry, users } = platform
  return {
    setUser: (username, password) => users.set(username, password),
    changeUser: (username, change) => users.change(username, change),
    apiKey: () => [...platform.apiKeys.keys()][0] ?? '',
    allowBasic(isAllowed) {
      access.allowsBasic = isAllowed
    },
    allowClientCredentials(isAllowed) {
      registry.allowsClientCredentials = isAllowed
    },
    clients: () => [...registry.clients.values()],
    changeClient: (id, change) => registry.change(id, change),
    rotateRefreshTokens(isOn) {
      registry.rotatesRefreshTokens = isOn
    },
    revokeTokens: (kind, username) => registry.revoke(kind, username),
    setBrowser(change) {
      platform.browser = { ...platform.browser, ...change }
    },
  }
}
