import { SluiceError, failure } from '../../../base/failure/failure.js'
import type { OauthClient } from '../choose-access.js'
import type { InstanceHttp } from '../calls/instance-http.js'
import { type Persistence, persist } from '../calls/persist.js'
import {
  describeInstanceAnswer,
  errorIn,
  type InstanceAnswer,
  type InstanceJudging,
  type InstanceVerdict,
  isJsonAnswer,
  judgeRefusal,
  notAnInstance,
  type Refusal,
} from '../calls/judge-refusal.js'
import { isObject, parseJson } from '../../../base/json/parse-json.js'

/** One OAuth 2.0 grant. */
export type TokenRequest =
  | { readonly grant: 'password'; readonly username: string; readonly password: string }
  | { readonly grant: 'client_credentials' }
  | { readonly grant: 'refresh_token'; readonly refreshToken: string }
  | {
      readonly grant: 'authorization_code'
      readonly code: string
      readonly redirectUri: string
      readonly codeVerifier: string
    }

export interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  /** When to renew, in milliseconds since 1970. Undefined: after a refusal. */
  readonly renewAt?: number | undefined
}

interface TokenCalling {
  readonly patience: Persistence
  readonly signal?: AbortSignal | undefined
  /** Uses a connection of its own. Default false. */
  readonly isFresh?: boolean
}

/**
 * Requests tokens, and retries while that may help. Throws SluiceError: SERVICENOW_TOKEN_REFUSED or a failure of the
 * route. No error contains what was sent.
 */
export async function callForTokens(
  line: InstanceHttp,
  client: OauthClient,
  request: TokenRequest,
  { patience, signal, isFresh = false }: TokenCalling,
): Promise<Tokens> {
  const body = formOf(client, request)
  const attempt = async (): Promise<InstanceVerdict<Tokens>> => {
    const answer = await line.ask({
      method: 'POST',
      path: '/oauth_token.do',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      signal,
      isFresh,
    })
    if ('is' in answer) return answer
    // First, so that no quote of the answer shows a token.
    line.secrets.add(...tokensIn(answer))
    return judgeTokenAnswer(answer, request.grant, line.judging())
  }
  // A code is good for one call.
  const isRepeatable = request.grant !== 'authorization_code'
  const verdict = await persist(attempt, patience, { isRepeatable, signal })
  if (verdict.is !== 'done') throw new SluiceError(verdict.failure)
  const { refreshToken } = verdict.value
  // An answer may omit the refresh token. Then the used one stays valid.
  const used = request.grant === 'refresh_token' ? request.refreshToken : undefined
  return { ...verdict.value, refreshToken: refreshToken ?? used }
}

function formOf({ id, secret }: OauthClient, request: TokenRequest): string {
  const form = new URLSearchParams({ grant_type: request.grant, client_id: id })
  if (secret !== undefined) form.set('client_secret', secret)
  for (const [name, value] of Object.entries(fieldsOf(request))) form.set(name, value)
  return form.toString()
}

function fieldsOf(request: TokenRequest): Readonly<Record<string, string>> {
  switch (request.grant) {
    case 'password':
      return { username: request.username, password: request.password }
    case 'refresh_token':
      return { refresh_token: request.refreshToken }
    case 'authorization_code':
      return { code: request.code, redirect_uri: request.redirectUri, code_verifier: request.codeVerifier }
    case 'client_credentials':
      return {}
  }
}

export function judgeTokenAnswer(
  answer: InstanceAnswer,
  grant: TokenRequest['grant'],
  judging: InstanceJudging,
): InstanceVerdict<Tokens> {
  const refused = judgeRefusal(answer, judging)
  if (refused !== undefined) return refused
  const { status, text } = answer
  const { instance, quote } = judging
  if (status === 202) {
    const named = failure('SERVICENOW_UNREACHABLE', { instance, observed: 'status 202 for the token call', status })
    return { is: 'later', failure: named, undone: false }
  }
  const refuse = (reason: string): Refusal => ({
    is: 'stop',
    failure: failure('SERVICENOW_TOKEN_REFUSED', { instance, grant, reason: quote(reason), status }),
  })
  const value = isJsonAnswer(answer) ? parseJson(text) : undefined
  const said = isObject(value) ? reasonIn(value) : undefined
  if (said !== undefined) return refuse(said)
  if (status === 200 && isObject(value) && typeof value['access_token'] === 'string') {
    const { access_token: accessToken, refresh_token: refreshToken, token_type: type, expires_in: expiresIn } = value
    if (accessToken === '' || accessToken.length > LONGEST_TOKEN || /[^\x21-\x7e]/.test(accessToken))
      return refuse('the access token does not fit in a header')
    if (typeof type === 'string' && type.toLowerCase() !== 'bearer') return refuse(`a token of the type ${type}`)
    return {
      is: 'done',
      value: {
        accessToken,
        refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
        renewAt: renewAt(expiresIn, judging.now),
      },
    }
  }
  // Some instances refuse without an OAuth error.
  if (status === 401) return refuse(describeInstanceAnswer(answer, judging))
  return { is: 'stop', failure: notAnInstance(answer, judging) }
}

/** Servers take headers of a few kilobytes. */
const LONGEST_TOKEN = 16 * 1024

/** A token is renewed this early, for open requests and slow clocks. */
const EARLY_MS = 60_000

/** `expiresIn`: seconds from the instance. Anything else is no lifetime. */
function renewAt(expiresIn: unknown, now: number): number | undefined {
  const seconds = typeof expiresIn === 'string' && expiresIn.trim() !== '' ? Number(expiresIn) : expiresIn
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds <= 0) return undefined
  const lifetimeMs = seconds * 1000
  return now + (lifetimeMs < 2 * EARLY_MS ? lifetimeMs / 2 : lifetimeMs - EARLY_MS)
}

/**
 * Returns OAuth's own error, or the one of the application's envelope. The platform sends `server_error` for wrong
 * credentials too, so a retry does not help.
 */
function reasonIn(value: Readonly<Record<string, unknown>>): string | undefined {
  const { error, error_description: description } = value
  if (typeof error !== 'string') return errorIn(value)?.reason
  return typeof description === 'string' && description !== '' ? `${description} (${error})` : error
}

function tokensIn({ text }: InstanceAnswer): string[] {
  const value = parseJson(text)
  if (!isObject(value)) return []
  return [value['access_token'], value['refresh_token']].filter(token => typeof token === 'string')
}
