/** Passes one request on over a route, and its answer back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { unzipSync } from 'node:zlib'
import { type Failure, SluiceError } from '../../base/failure/failure.js'
import { systemClock } from '../../base/time/clock.js'
import { failureOf, type OpenDestination } from '../../route/destination/destination.js'
import { gatewayRefusal, refuse } from './refusals.js'

export type Requests = NonNullable<OpenDestination['requests']>

type RouteResponse = Awaited<ReturnType<Requests['route']['request']>>
type AnswerBody = RouteResponse['body']

interface Passing {
  /** Path and query. */
  readonly path: string
  /** Whether the configured credentials replace the caller's own. */
  readonly hasLogin: boolean
  isClosing(): boolean
  /** Reports a refusal. Returns it as it may be shown. */
  onRefusal(known: Failure): Failure
}

/** How long a caller may still send after it was answered. A connection that is closed at once may lose the answer. */
const LINGER_MS = 2_000
/** A refusal is shorter. */
const JUDGED_BYTES = 64 * 1024

/** Never rejects. */
export async function passRequest(
  request: IncomingMessage,
  response: ServerResponse,
  to: Requests,
  passing: Passing,
): Promise<void> {
  const gone = new AbortController()
  const { signal } = gone
  response.once('close', () => gone.abort())
  // A body that is given up destroys its stream, but the caller still waits for an answer on this socket.
  const body = hasBody(request) ? request.pipe(new PassThrough()) : null
  body?.on('error', () => undefined)
  try {
    const headers = await headersFor(request, to, passing.hasLogin, signal)
    const { method = 'GET' } = request
    const path = to.prefix + passing.path
    const { isReader = () => true } = to
    const answer = await to.route.request({ method, path, headers, body, signal, isReader })
    await passAnswer(answer, request, response, to, passing)
  } catch (error) {
    if (!signal.aborted) {
      refuse(response, gatewayRefusal(passing.onRefusal(failureOf(error))))
    }
  }
  if (body !== null && !request.complete && !signal.aborted) {
    request.unpipe(body).resume()
    const ended = new Promise(resolve => request.once('end', resolve))
    await Promise.race([ended, systemClock.sleep(LINGER_MS, signal).catch(() => undefined)])
  }
  response.end()
}

async function passAnswer(
  answer: RouteResponse,
  request: IncomingMessage,
  response: ServerResponse,
  { route, judge }: Requests,
  { isClosing, onRefusal }: Passing,
): Promise<void> {
  const { statusCode, headers, body } = answer
  if (route.refusal({ statusCode, headers }) !== undefined) {
    // The caller would take the proxy's own answer for one of the destination.
    const known = route.refusal({ statusCode, headers, body: await beginningOf(body) })
    if (known !== undefined) throw new SluiceError(known)
  }
  const seen = statusCode >= 400 ? watch(body) : undefined
  const isLast = isClosing() || !request.complete
  response.writeHead(statusCode, { ...passedOn(headers), ...(isLast ? { connection: 'close' } : {}) })
  await pipeline(body, response, { end: false })
  const known = seen && judge({ statusCode, headers, body: plain(seen(), headers['content-encoding']) })
  if (known !== undefined) onRefusal(known)
}

/** The credentials of the tunnel's own callers never leave this machine. */
async function headersFor(
  { headers }: IncomingMessage,
  to: Requests,
  hasLogin: boolean,
  signal: AbortSignal,
): Promise<Record<string, string | string[]>> {
  const passed = passedOn(headers)
  if (hasLogin) {
    for (const name of credentialHeaders) delete passed[name]
    Object.assign(passed, await to.login?.(signal))
  }
  if (credentialHeaders.some(name => passed[name] !== undefined)) to.checkPlaintext()
  return passed
}

/** ServiceNow reads API keys from a header of their own. */
const credentialHeaders = ['authorization', 'x-sn-apikey']

/** These belong to one connection. */
const ofConnection = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host)$/

function passedOn(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string | string[]> {
  const named = String(headers['connection'] ?? '')
    .toLowerCase()
    .split(/[\s,]+/)
  const isPassed = (name: string) => !ofConnection.test(name) && !named.includes(name)
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined || !isPassed(name) ? [] : [[name, value]])),
  )
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Keeps the first bytes of a body that somebody else reads. */
function watch(body: AnswerBody): () => Buffer {
  const chunks: Buffer[] = []
  let size = 0
  body.on('data', (chunk: Buffer) => {
    if (size < JUDGED_BYTES) chunks.push(chunk)
    size += chunk.length
  })
  return () => Buffer.concat(chunks).subarray(0, JUDGED_BYTES)
}

async function beginningOf(body: AnswerBody): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= JUDGED_BYTES) break
  }
  return Buffer.concat(chunks)
}

function plain(body: Buffer, encoding: string | string[] | undefined): Buffer {
  if (encoding === undefined || body.length === 0) return body
  try {
    return unzipSync(body, { maxOutputLength: JUDGED_BYTES })
  } catch {
    return Buffer.alloc(0)
  }
}
