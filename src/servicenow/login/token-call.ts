import { SluiceError } from '../../failure/sluice-error.js'
import type { OauthClient } from '../access.js'
import { judgeTokenAnswer, tokensIn } from './judge-token-answer.js'
import type { Line } from '../calls/line.js'
import { type Patience, persist } from '../calls/persist.js'
import type { Secrets } from '../calls/secrets.js'
import type { Tokens } from './tokens.js'
import type { Verdict } from '../calls/verdict.js'

/** What a token is asked for with. Each is a grant of OAuth 2.0. */
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

interface TokenCalling {
  readonly patience: Patience
  readonly secrets: Secrets
  readonly signal?: AbortSignal | undefined
  /** Over a connection of its own. Default false. */
  readonly isFresh?: boolean
}

/**
 * Tokens for a proof of who asks. Asks again while that may help. Throws SluiceError: SERVICENOW_TOKEN_REFUSED and what else stands
 * in the way; none of it holds what was sent.
 */
export async function callForTokens(
  line: Line,
  client: OauthClient,
  request: TokenRequest,
  { patience, secrets, signal, isFresh = false }: TokenCalling,
): Promise<Tokens> {
  const body = formOf(client, request)
  const attempt = async (): Promise<Verdict<Tokens>> => {
    const answer = await line.ask({
      method: 'POST',
      path: '/oauth_token.do',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body,
      signal,
      isFresh,
    })
    if ('is' in answer) return answer
    // Before anything of the answer is quoted.
    secrets.add(...tokensIn(answer))
    return judgeTokenAnswer(answer, request.grant, line.judging())
  }
  // A code is good for one call.
  const isRepeatable = request.grant !== 'authorization_code'
  const verdict = await persist(attempt, patience, { isRepeatable, signal })
  if (verdict.is !== 'done') throw new SluiceError(verdict.failure)
  const { refreshToken } = verdict.value
  // Not every answer repeats the refresh token that was used, and then it is still good.
  return request.grant === 'refresh_token' && refreshToken === undefined
    ? { ...verdict.value, refreshToken: request.refreshToken }
    : verdict.value
}

function formOf({ id, secret }: OauthClient, request: TokenRequest): string {
  const form = new URLSearchParams({ grant_type: request.grant, client_id: id })
  if (secret !== undefined) form.set('client_secret', secret)
  switch (request.grant) {
    case 'password':
      form.set('username', request.username)
      form.set('password', request.password)
      break
    case 'refresh_token':
      form.set('refresh_token', request.refreshToken)
      break
    case 'authorization_code':
      form.set('code', request.code)
      form.set('redirect_uri', request.redirectUri)
      form.set('code_verifier', request.codeVerifier)
      break
    case 'client_credentials':
      break
  }
  return form.toString()
}
