/** The first step of the authorization code grant: what the browser is sent with, and what it brings back. PKCE as in RFC 7636. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** One attempt to log in: its secrets never leave this process, but for what is derived from them. */
export interface Attempt {
  /** To be opened in the browser. */
  readonly url: string
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly state: string
}

export function beginAttempt(instance: string, clientId: string, redirectUri: string): Attempt {
  const codeVerifier = randomBytes(32).toString('base64url')
  const state = randomBytes(16).toString('base64url')
  const url = new URL('/oauth_auth.do', instance)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  return { url: url.href, redirectUri, codeVerifier, state }
}

/** What a browser brought to the redirect URI. `stray`: it does not belong to this attempt. */
export type Brought =
  | { readonly is: 'code'; readonly code: string }
  | { readonly is: 'refusal'; readonly reason: string }
  | { readonly is: 'stray' }

export function readRedirect(parameters: URLSearchParams, { state }: Attempt): Brought {
  if (!isSame(parameters.get('state') ?? '', state)) return { is: 'stray' }
  const error = parameters.get('error')
  if (error !== null) {
    const description = parameters.get('error_description')
    return { is: 'refusal', reason: description === null ? error : `${description} (${error})` }
  }
  const code = parameters.get('code') ?? ''
  return code === '' ? { is: 'refusal', reason: 'no code came back' } : { is: 'code', code }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map(text => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}
