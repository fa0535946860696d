/** An instance whose OAuth server is a package that shares nothing with us; its memory, and the one table, are ours. */
import OAuth2Server from '@node-oauth/oauth2-server'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { startHttpProxy } from '../support/servers/proxy-servers.js'
import type { OauthWorld } from './oauth.suite.js'

const { Request, Response } = OAuth2Server
const user = { username: 'integration', password: 'p&ss=word %' }
const redirectUris: string[] = []
const clients: readonly (OAuth2Server.Client & { readonly secret?: string })[] = [
  {
    id: 'confidential',
    secret: 'hush+hush&',
    grants: ['password', 'refresh_token', 'authorization_code', 'client_credentials'],
    redirectUris,
  },
  { id: 'public', grants: ['authorization_code', 'refresh_token'], redirectUris },
]

export async function openIndependentOauth(): Promise<OauthWorld> {
  const state = { rotates: false, calls: [] as ('given' | 'refused')[] }
  const memory = createMemory()
  const oauth = new OAuth2Server({ model: memory.model })

  const answerToken = async (request: OAuth2Server.Request, response: OAuth2Server.Response) => {
    const isPublic = request.body?.client_id === 'public'
    try {
      await oauth.token(request, response, {
        accessTokenLifetime: 1799,
        alwaysIssueNewRefreshToken: state.rotates,
        // A public client has nothing to show but the verifier of its challenge.
        requireClientAuthentication: { authorization_code: !isPublic, refresh_token: !isPublic },
      })
      state.calls.push('given')
    } catch {
      // The server has put its error into the response.
      state.calls.push('refused')
    }
  }
  const answerAuthorize = async (request: OAuth2Server.Request, response: OAuth2Server.Response) => {
    await oauth.authorize(request, response, { authenticateHandler: { handle: () => user } }).catch(() => {})
  }
  const answerTable = async (request: OAuth2Server.Request, response: OAuth2Server.Response) => {
    try {
      await oauth.authenticate(request, response)
      response.body = { result: [{ sys_id: '0123456789abcdef0123456789abcdef' }] }
    } catch {
      response.status = 401
      response.set('WWW-Authenticate', 'BASIC realm="Service-now"')
      response.body = { error: { message: 'User Not Authenticated', detail: null }, status: 'failure' }
    }
  }

  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const request = await requestOf(incoming)
      const response = new Response({ headers: {} })
      const path = new URL(incoming.url ?? '/', 'http://instance.example').pathname
      if (path === '/oauth_token.do') await answerToken(request, response)
      else if (path === '/oauth_auth.do') await answerAuthorize(request, response)
      else await answerTable(request, response)
      send(outgoing, response)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const proxy = await startHttpProxy({ username: 'u', password: 'p' })
  const [{ id: clientId, secret: clientSecret = '' } = { id: '' }] = clients
  return {
    way: { servicenow: { url: `http://127.0.0.1:${port}` }, proxy: `http://u:p@127.0.0.1:${proxy.port}` },
    ...user,
    client: { clientId, clientSecret },
    publicClientId: 'public',
    tokenCalls: () => state.calls,
    revokeAccess: () => memory.access.clear(),
    revokeRefresh: () => memory.refresh.clear(),
    rotate: isOn => (state.rotates = isOn),
    browse: async url => {
      const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? ''
      redirectUris.push(redirectUri)
      return await fetch(url)
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await proxy[Symbol.asyncDispose]()
    },
  }
}

function createMemory() {
  const access = new Map<string, OAuth2Server.Token>()
  const refresh = new Map<string, OAuth2Server.Token>()
  const codes = new Map<string, OAuth2Server.AuthorizationCode>()
  const found = async <T>(value: T | undefined) => await Promise.resolve(value ?? null)
  const model: OAuth2Server.AuthorizationCodeModel &
    OAuth2Server.RefreshTokenModel &
    OAuth2Server.PasswordModel &
    OAuth2Server.ClientCredentialsModel = {
    getClient: async (id, secret) => {
      const client = clients.find(one => one.id === id)
      // The authorization endpoint and public clients show no secret.
      const isKnown = client !== undefined && (typeof secret !== 'string' || secret === client.secret)
      return await found(isKnown ? client : undefined)
    },
    getUser: async (username, password) =>
      await found(username === user.username && password === user.password ? user : undefined),
    getUserFromClient: async () => await found(user),
    saveToken: async (token, client, whose) => {
      const saved = { ...token, client, user: whose }
      access.set(token.accessToken, saved)
      if (token.refreshToken !== undefined) refresh.set(token.refreshToken, saved)
      return await Promise.resolve(saved)
    },
    getAccessToken: async token => await found(access.get(token)),
    getRefreshToken: async token => {
      const saved = refresh.get(token)
      return await found(saved === undefined ? undefined : { ...saved, refreshToken: token })
    },
    revokeToken: async token => await Promise.resolve(refresh.delete(token.refreshToken ?? '')),
    saveAuthorizationCode: async (code, client, whose) => {
      const saved = { ...code, client, user: whose }
      codes.set(code.authorizationCode, saved)
      return await Promise.resolve(saved)
    },
    getAuthorizationCode: async code => await found(codes.get(code)),
    revokeAuthorizationCode: async ({ authorizationCode }) => await Promise.resolve(codes.delete(authorizationCode)),
  }
  return { access, refresh, model }
}

async function requestOf(incoming: IncomingMessage): Promise<OAuth2Server.Request> {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part as Buffer)
  const { searchParams } = new URL(incoming.url ?? '/', 'http://instance.example')
  return new Request({
    method: incoming.method ?? 'GET',
    headers: incoming.headers as Record<string, string>,
    query: Object.fromEntries(searchParams),
    body: Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString())),
  })
}

function send(outgoing: ServerResponse, { status = 200, headers = {}, body }: OAuth2Server.Response): void {
  outgoing.writeHead(status, { ...headers, 'content-type': 'application/json;charset=UTF-8' })
  outgoing.end(JSON.stringify(body ?? {}))
}
