import { randomBytes } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { type Arrival, arrivalOf } from '../listener.js'
import type { Answer } from './answers.js'
import type { Refusals } from '../refusals.js'
import { type Answered, answerOfApplication, apiOf } from './application.js'
import type { Call } from './call.js'
import { answerOfEdge, balancerAnswer, bareAnswer } from './edge.js'
import type { Platform } from './platform.js'

/** Serves an instance, and the edge in front of it, on the given sockets. */
export function createServiceNowServer(
  platform: Platform,
  refusals: Refusals,
): (socket: Socket, arrival: Arrival) => void {
  const server = createServer(
    { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 75_000 },
    (request, response) => {
      arrivalOf(request.socket).requests++
      void serve(platform, refusals, request, response).catch((error: unknown) => {
        // Reports a bug of the lab in a form that differs from the platform's errors.
        if (response.headersSent || response.destroyed) return void response.destroy()
        response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ lab: String(error) }))
      })
    },
  )
  return socket => void server.emit('connection', socket)
}

/** The outcome of a request: an answer, a closed connection (`drop`), or silence (`stall`). */
type Outcome = (Answered & { readonly isCut?: boolean }) | 'drop' | 'stall'

async function serve(
  platform: Platform,
  refusals: Refusals,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { from, port } = arrivalOf(request.socket)
  const at = platform.clock.now()
  const url = new URL(request.url ?? '/', `${port}://${request.headers.host ?? 'localhost'}`)
  const method = request.method ?? 'GET'
  const body = await readText(request)
  const outcome = await meet({ platform, request, method, url, from, body })
  const isAnswered = typeof outcome === 'object'
  platform.log.add({
    method,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    from,
    port,
    username: isAnswered ? outcome.username : undefined,
    status: isAnswered ? outcome.answer.status : 0,
    at,
  })
  if (isAnswered && isRefusal(outcome.answer.status))
    refusals.add({ by: 'ServiceNow', from, request: `${method} ${url.pathname}`, ...reasonIn(outcome.answer) })
  if (outcome === 'stall') return
  if (outcome === 'drop') return void request.socket.destroy()
  write(response, outcome.answer, platform.clock.now(), outcome.isCut === true)
}

function isRefusal(status: number): boolean {
  return status >= 400 && status !== 404
}

function reasonIn({ status, body }: Answer): { status: number; why: string } {
  const [, message, detail] = /"message":"([^"]*)","detail":(?:"([^"]*)")?/.exec(String(body)) ?? []
  const said = [message, detail].filter(Boolean).join(': ')
  const edge = status === 403 ? 'the address access control blocks an address of the request' : 'the edge is overloaded'
  return { status, why: said === '' ? edge : said }
}

/** Asks the edge first, then the planted faults, then the platform. */
async function meet(call: Call): Promise<Outcome> {
  const { platform, request, method, url, from } = call
  const { faults } = platform
  const refused = answerOfEdge(platform, request, from)
  if (refused) return { answer: refused, username: undefined }

  const api = apiOf(url.pathname)
  const slow = faults.strike('slow', api, method)
  if (slow) await wait(slow.delayMs)
  const drop = faults.strike('drop', api, method)
  if (drop && drop.done !== true) return 'drop'
  const stall = faults.strike('stall', api, method)
  if (stall && stall.done !== true) return 'stall'
  const balancer = faults.strike('balancer', api, method)
  if (balancer && balancer.done !== true) return { answer: balancerAnswer(), username: undefined }
  if (faults.strike('semaphore', api, method)) return { answer: bareAnswer(429), username: undefined }
  if (faults.strike('sessionQueue', api, method)) return { answer: bareAnswer(202), username: undefined }
  const planted = faults.strike('answer', api, method)
  if (planted) {
    const { status, body = '', headers = {} } = planted
    return { answer: { status, body, headers }, username: undefined }
  }

  const { answer, username } = answerOfApplication(call)
  if (drop) return 'drop'
  if (stall) return 'stall'
  if (balancer) return { answer: balancerAnswer(), username }
  const isCut = faults.strike('cut', api, method) !== undefined
  return { answer: { ...answer, headers: { ...transaction(username), ...answer.headers } }, username, isCut }
}

/** Headers of every transaction. Answers of the edge lack them. */
function transaction(username: string | undefined): Readonly<Record<string, string>> {
  return {
    'x-is-logged-in': String(username !== undefined),
    'x-transaction-id': randomBytes(6).toString('hex'),
    'set-cookie': `JSESSIONID=${randomBytes(16).toString('hex').toUpperCase()}; Path=/; HttpOnly; SameSite=None; Secure`,
  }
}

function write(response: ServerResponse, { status, headers, body }: Answer, now: number, isCut: boolean): void {
  const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(body) }
  response.writeHead(status, { ...headers, ...length, date: new Date(now).toUTCString() })
  if (!isCut) return void response.end(body)
  const bytes = Buffer.from(body)
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
