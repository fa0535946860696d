import { createHash } from 'node:crypto'
import { isSame } from '../proxy/credentials.js'
import { type Answer, json, tokenRefused } from './answers.js'
import { type Call, formOf } from './call.js'
import type { OAuthClient } from './registry.js'

/** POST /oauth_token.do */
export function answerToken(call: Call): Answer {
  const { platform } = call
  const form = formOf(call)
  const client = platform.registry.clients.get(form.get('client_id') ?? '')
  if (call.method !== 'POST' || !client || !isClient(client, form)) return tokenRefused()
  const grant = client.grants.find(one => one === form.get('grant_type'))
  const issued = grant && issue[grant](call, client, form)
  return issued ? json(200, issued) : tokenRefused()
}

type Issue = (call: Call, client: OAuthClient, form: URLSearchParams) => Record<string, unknown> | undefined

const issue: Readonly<Record<OAuthClient['grants'][number], Issue>> = {
  password({ platform: { registry, users } }, client, form) {
    const username = form.get('username') ?? ''
    return users.isPassword(username, form.get('password') ?? '') ? registry.issue(client, username, true) : undefined
  },
  refresh_token({ platform: { registry } }, client, form) {
    const token = form.get('refresh_token') ?? ''
    const username = registry.refresh(client, token)
    if (username === undefined) return undefined
    if (!registry.rotatesRefreshTokens) return registry.issue(client, username, token)
    registry.forgetRefreshToken(token)
    return registry.issue(client, username, true)
  },
  authorization_code({ platform: { registry } }, client, form) {
    const code = registry.takeCode(client, form.get('code') ?? '')
    if (!code || form.get('redirect_uri') !== code.redirectUri) return undefined
    const hasProof = code.challenge !== undefined || form.has('client_secret')
    if (!hasProof || !isVerified(form, code.challenge)) return undefined
    return registry.issue(client, code.username, true)
  },
  client_credentials({ platform: { registry, users } }, client) {
    if (!registry.allowsClientCredentials || client.secret === undefined) return undefined
    return users.mayLogIn(client.username) ? registry.issue(client, client.username, false) : undefined
  },
}

/** A client with a secret must send it, unless it exchanges a code with a challenge. A public client has no secret. */
function isClient(client: OAuthClient, form: URLSearchParams): boolean {
  if (!client.isActive) return false
  const secret = form.get('client_secret')
  if (client.secret === undefined) return true
  if (secret === null) return form.get('grant_type') === 'authorization_code' && form.has('code_verifier')
  return isSame(secret, client.secret)
}

function isVerified(form: URLSearchParams, challenge: string | undefined): boolean {
  if (challenge === undefined) return true
  const verifier = form.get('code_verifier') ?? ''
  return isSame(createHash('sha256').update(verifier).digest('base64url'), challenge)
}
