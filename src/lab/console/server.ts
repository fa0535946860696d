import { createHash, randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Control } from '../control/control.js'
import { operate } from '../control/server.js'
import { type Listening, listen } from '../listener.js'
import { isSame } from '../proxy/credentials.js'
import { consolePage } from './page.js'
import { regionsOf } from './regions.js'
import { SCRIPT } from './script.js'
import { CONSOLE_STYLE } from './style.js'

/** How often the page hears of changes. */
const EVERY_MS = 300
const MOST_BYTES = 1 << 20

/**
 * Serves the console on loopback. The page is for anybody on this machine, and holds nothing. What the lab says and does needs the
 * token, which is the part of the URL after #. Requests of other web sites and to other host names are refused.
 */
export async function startConsole(control: Control): Promise<Listening & { readonly url: string }> {
  const token = randomBytes(24).toString('base64url')
  const page = consolePage()
  const server = createServer((request, response) => {
    const refused = objection(request, token)
    if (refused !== undefined) {
      request.resume()
      return say(response, refused.status, { error: refused.why })
    }
    const path = pathOf(request)
    if (path === '/') return void response.writeHead(200, headersOf('text/html; charset=utf-8', policy)).end(page)
    if (path === '/events') return tell(control, response)
    void act(control, request).then(
      ({ status, value = {} }) => say(response, status, value),
      () => response.destroy(),
    )
  })
  // It is no connection of the contract, so the lab does not list it.
  const listening = await listen({
    at: 'cluster',
    name: 'console',
    port: 0,
    serve: socket => void server.emit('connection', socket),
  })
  return { ...listening, url: `http://127.0.0.1:${listening.port}/#${token}` }
}

/** Returns why a request is refused. A name that leads to this machine (DNS rebinding) is not the name of the console. */
function objection(request: IncomingMessage, token: string): { status: number; why: string } | undefined {
  const { headers, method, socket } = request
  const { host = '', origin, 'sec-fetch-site': site } = headers
  if (![`127.0.0.1:${socket.localPort}`, `localhost:${socket.localPort}`].includes(host))
    return { status: 421, why: 'this host name is not the console' }
  if (pathOf(request) === '/') return method === 'GET' ? undefined : { status: 405, why: 'the page is read with GET' }
  if ((origin !== undefined && origin !== `http://${host}`) || (site !== undefined && site !== 'same-origin'))
    return { status: 403, why: 'another web site sent this request' }
  if (!isSame(String(headers['x-lab-token']), token))
    return { status: 401, why: 'open the address that the lab printed, with the part after #' }
  return undefined
}

/** Carries out an operation of the control API. Like the hosting service, deletes no policy that is attached. */
async function act(control: Control, request: IncomingMessage): ReturnType<typeof operate> {
  const operation = `${request.method} ${pathOf(request).replace(/^\/control/, '')}`
  const text = await readUpTo(request, MOST_BYTES)
  if (text === undefined) return { status: 413, value: { error: 'the body is too long' } }
  const attached = control.policies().find(({ id }) => operation === `DELETE /policies/${id}`)?.deployments ?? []
  if (attached.length > 0) {
    const error = `The policy is attached to ${attached.join(', ')}. Detach it first`
    return { status: 400, value: { error } }
  }
  return await operate(control, operation, text)
}

/** Sends what changed, a line of JSON each, until the page is closed. */
function tell(control: Control, response: ServerResponse): void {
  response.writeHead(200, headersOf('application/x-ndjson'))
  const sent = new Map<string, string>()
  const look = (): void => {
    if (response.writableNeedDrain) return
    const changed = Object.entries(regionsOf(control))
      .map(([id, { text }]) => [id, text] as const)
      .filter(([id, text]) => sent.get(id) !== text)
    for (const [id, text] of changed) sent.set(id, text)
    if (changed.length > 0) response.write(`${JSON.stringify(Object.fromEntries(changed))}\n`)
  }
  const timer = setInterval(look, EVERY_MS)
  response.once('close', () => clearInterval(timer))
  look()
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(SCRIPT)}`,
  `style-src ${hashOf(CONSOLE_STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function headersOf(type: string, security = "default-src 'none'; frame-ancestors 'none'"): Record<string, string> {
  return {
    'content-type': type,
    'content-security-policy': security,
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
}

function say(response: ServerResponse, status: number, value: unknown): void {
  const body = status === 204 ? undefined : Buffer.isBuffer(value) ? value : JSON.stringify(value)
  response.writeHead(status, headersOf('application/json')).end(body)
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?')[0] ?? '/'
}

async function readUpTo(request: IncomingMessage, most: number): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size <= most) chunks.push(chunk as Buffer)
  }
  return size > most ? undefined : Buffer.concat(chunks).toString()
}
