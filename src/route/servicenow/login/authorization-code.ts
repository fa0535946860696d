/** Sends a browser to log in, and takes the code that it brings back: the authorization code grant with PKCE (RFC 7636). */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One attempt to log in. Only hashes of its secrets leave this process. */
export interface Attempt {
  /** For the browser. */
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

/** The answer that the browser brings back. */
export type Brought =
  | { readonly is: 'code'; readonly code: string }
  | { readonly is: 'refusal'; readonly reason: string }

/** Returns undefined for the redirect of another attempt. */
function readRedirect(parameters: URLSearchParams, { state }: Attempt): Brought | undefined {
  if (!isSame(parameters.get('state') ?? '', state)) return undefined
  const error = parameters.get('error')
  if (error !== null) {
    const description = parameters.get('error_description')
    return { is: 'refusal', reason: description === null ? error : `${description} (${error})` }
  }
  const code = parameters.get('code') ?? ''
  return code === '' ? { is: 'refusal', reason: 'the instance sent no code' } : { is: 'code', code }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [given, expected].map(text => createHash('sha256').update(text).digest())
  return one !== undefined && other !== undefined && timingSafeEqual(one, other)
}

/** The redirect URI that is registered at the instance has this path. */
const PATH = '/callback'

/** A server on this machine that the browser returns to, for one login. */
export interface LoopbackRedirect extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/callback` */
  readonly uri: string
  /** Resolves when the browser brings the answer to this attempt. Rejects with the signal's reason. */
  wait(attempt: Attempt, signal: AbortSignal): Promise<Brought>
}

/** Listens on `port`, or on any free port if it is 0. Rejects with the system's error if the port is taken. */
export async function listenForRedirect(port: number): Promise<LoopbackRedirect> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  const uri = `http://127.0.0.1:${bound}${PATH}`
  return {
    uri,
    wait: async (attempt, signal) => await waitFor(server, uri, attempt, signal),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function waitFor(server: Server, uri: string, attempt: Attempt, signal: AbortSignal): Promise<Brought> {
  return await new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    server.on('request', (request, response) => {
      const url = URL.canParse(request.url ?? '', uri) ? new URL(request.url ?? '', uri) : undefined
      if (request.method !== 'GET' || url?.pathname !== PATH) return say(response, 404, 'There is nothing here.')
      const brought = readRedirect(url.searchParams, attempt)
      if (brought === undefined) return say(response, 400, 'This page does not belong to the current login.')
      response.once('close', () => resolve(brought))
      say(response, 200, brought.is === 'code' ? DONE : 'The login failed. See the terminal.')
    })
  })
}

const DONE = 'You are logged in. Go back to the terminal. You can close this window.'

/** Answers the browser. The URL of this page holds a code, so the browser must neither store it nor pass it on. */
function say(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`${words}\n`)
}
