import { type Answer, html, server } from './answers.js'
import { type Call, formOf } from './call.js'
import type { OAuthClient } from './registry.js'

/**
 * Plays GET /oauth_auth.do: sends a browser back with a code, because the lab's browser is logged in. With a login
 * page, first asks for the user's name and password, by POST to the same path.
 */
export function answerAuthorize(call: Call): Answer {
  const { platform, url, method } = call
  const { registry, users, browser } = platform
  const client = registry.clients.get(url.searchParams.get('client_id') ?? '')
  const redirectUri = url.searchParams.get('redirect_uri') ?? ''
  if (!client?.isActive || !client.grants.includes('authorization_code') || !isRedirect(client, redirectUri)) {
    return html(400, '<html><body><h1>Invalid client or redirect URL</h1></body></html>')
  }
  if (url.searchParams.get('response_type') !== 'code')
    return sendBack(redirectUri, url, { error: 'unsupported_response_type' })
  let username = browser.username
  if (browser.asksLogin) {
    const form = formOf(call)
    username = form.get('user_name') ?? ''
    if (method !== 'POST') return html(200, loginPage('', url.search))
    if (!users.isPassword(username, form.get('user_password') ?? '')) {
      return html(200, loginPage('User name or password invalid', url.search))
    }
  }
  if (!browser.consents) return sendBack(redirectUri, url, { error: 'access_denied' })
  const method256 = url.searchParams.get('code_challenge_method') === 'S256'
  const challenge = url.searchParams.get('code_challenge') ?? undefined
  // Without a secret only the verifier proves that the code returns to the client that requested it.
  const needsChallenge = client.secret === undefined
  if ((challenge !== undefined && !method256) || (needsChallenge && challenge === undefined)) {
    return sendBack(redirectUri, url, { error: 'invalid_request' })
  }
  return sendBack(redirectUri, url, { code: registry.newCode(client, username, redirectUri, challenge) })
}

function sendBack(redirectUri: string, { searchParams }: URL, parameters: Readonly<Record<string, string>>): Answer {
  const target = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value)
  const state = searchParams.get('state')
  if (state !== null) target.searchParams.set('state', state)
  return { status: 302, headers: { ...server, location: target.href }, body: '' }
}

function isRedirect({ redirectUris }: OAuthClient, asked: string): boolean {
  if (!URL.canParse(asked)) return false
  const { protocol, hostname } = new URL(asked)
  if (redirectUris.length > 0) return redirectUris.includes(asked)
  return protocol === 'http:' && (hostname === '127.0.0.1' || hostname === 'localhost')
}

function loginPage(problem: string, query: string): string {
  const action = `/oauth_auth.do${query}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return [
    '<html><head><title>Log in</title></head><body>',
    `<p>${problem}</p><form method="post" action="${action}">`,
    '<input name="user_name"><input name="user_password" type="password"><button>Log in</button>',
    '</form></body></html>',
  ].join('')
}
