import { fail, SluiceError } from '../../base/failure/failure.js'

/** An entry of the instance's application registry. A public client has no secret. */
export interface OauthClient {
  readonly id: string
  readonly secret?: string | undefined
}

export interface Password {
  readonly username: string
  readonly password: string
}

export type Access =
  /** An inbound REST API key, which acts for a user of the instance. */
  | { readonly grant: 'api_key'; readonly apiKey: string; readonly client?: undefined }
  | ({ readonly grant: 'basic'; readonly client?: OauthClient | undefined } & Password)
  | ({ readonly grant: 'password'; readonly client: OauthClient } & Password)
  | { readonly grant: 'client_credentials'; readonly client: OauthClient }
  /** `otherwise`: used if the instance refuses the refresh token. */
  | {
      readonly grant: 'refresh_token'
      readonly client: OauthClient
      readonly refreshToken: string
      readonly otherwise?: Password | undefined
    }
  /** Uses the tokens that an earlier `sluice login` kept. */
  | { readonly grant: 'authorization_code'; readonly client: OauthClient }

export type Grant = Access['grant']

/** Access by tokens. */
export type OauthAccess = Exclude<Access, { grant: 'basic' | 'api_key' }>

/** Credentials as the caller gave them. Any part may be missing. */
interface GivenAccess {
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
  readonly grant?: Grant | undefined
}

/** Chooses the grant if none is named: an API key before OAuth, OAuth before Basic, and a refresh token before a password. */
export function grantOf({
  grant,
  apiKey,
  username,
  password,
  clientId,
  clientSecret,
  refreshToken,
}: GivenAccess): Grant {
  if (grant !== undefined) return grant
  if (apiKey !== undefined) return 'api_key'
  if (clientId === undefined) return 'basic'
  if (refreshToken !== undefined) return 'refresh_token'
  if (username !== undefined && password !== undefined) return 'password'
  return clientSecret === undefined ? 'authorization_code' : 'client_credentials'
}

/** Throws SluiceError OPTION_INVALID if an option that the grant needs is missing. */
export function chooseAccess(given: GivenAccess): Access {
  const grant = grantOf(given)
  switch (grant) {
    case 'api_key': {
      if (given.apiKey === undefined) throw missing('apiKey', grant)
      return { grant, apiKey: given.apiKey }
    }
    case 'basic':
      return { grant, client: given.clientId === undefined ? undefined : clientOf(given, grant), ...passwordOf(given) }
    case 'password':
      return { grant, client: clientOf(given, grant), ...passwordOf(given) }
    case 'client_credentials': {
      if (given.clientSecret === undefined) throw missing('clientSecret', grant)
      return { grant, client: clientOf(given, grant) }
    }
    case 'refresh_token': {
      const { refreshToken, username, password } = given
      if (refreshToken === undefined) throw missing('refreshToken', grant)
      const otherwise = username === undefined || password === undefined ? undefined : { username, password }
      return { grant, client: clientOf(given, grant), refreshToken, otherwise }
    }
    case 'authorization_code':
      return { grant, client: clientOf(given, grant) }
  }
}

function clientOf({ clientId, clientSecret }: GivenAccess, grant: Grant): OauthClient {
  if (clientId === undefined) throw missing('clientId', grant)
  return { id: clientId, secret: clientSecret }
}

function passwordOf({ username, password }: GivenAccess): Password {
  if (username === undefined) throw missing('username')
  if (password === undefined) throw missing('password')
  return { username, password }
}

function missing(name: keyof GivenAccess, grant?: Grant): SluiceError {
  const problem = grant === undefined ? 'is not set' : `is not set, and the ${grant} grant needs it`
  return fail('OPTION_INVALID', { option: `servicenow.${name}`, problem })
}

/** Stands before an API key where others stand in the header Authorization. */
const API_KEY = 'x-sn-apikey '

export function apiKeyHeader(apiKey: string): string {
  return `${API_KEY}${apiKey}`
}

/** Returns the headers as an instance reads them: an API key has a header of its own. */
export function loginHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { authorization, ...others } = headers
  if (authorization?.startsWith(API_KEY) !== true) return { ...headers }
  return { ...others, [API_KEY.trim()]: authorization.slice(API_KEY.length) }
}

export function basicHeader({ username, password }: Password): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
