/** A port in front of the cluster's that spoils requests and answers, as a program says. It stores what it says it stores. */
import { once } from 'node:events'
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request as send,
} from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { constants, gunzipSync } from 'node:zlib'
import type { Certificate } from '../unit/proxy-certificates.js'
import type { Seeded } from '../unit/seeded.js'
import { type End, type Outage, type Program, type RequestFault, refusals } from './chaos-program.js'

export interface GateOptions {
  /** The cluster behind it, over http. */
  readonly cluster: URL
  /** With one, the gate speaks TLS. */
  readonly certificate?: Certificate
  readonly program: Program
  readonly random: Seeded
}

export interface Gate extends AsyncDisposable {
  readonly port: number
  /** The addresses that connections came from. */
  readonly sources: ReadonlySet<string>
  /** What the gate itself could not do: nothing, unless it is broken. */
  readonly problems: readonly string[]
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

/** One request whose body has arrived, decompressed. */
interface Whole {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export async function startGate({ cluster, certificate, program, random }: GateOptions): Promise<Gate> {
  const agent = new Agent({ keepAlive: true })
  const raws = new Map<number | undefined, Socket>()
  const sources = new Set<string>()
  const problems: string[] = []

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const fault = program.atRequest(/\/_bulk(\?|$)/.test(request.url ?? ''))
    const { socket } = request
    const raw = raws.get(socket.remotePort)
    const end = (how: End) => void (how === 'rst' ? raw?.resetAndDestroy() : socket.destroy())
    const exchange = { request, response, end, forward: async (whole: Whole) => await forward(cluster, agent, whole) }
    play(exchange, fault, random).catch((error: unknown) => {
      // A client that goes away in the middle of its request is no fault of the gate.
      if (!socket.destroyed) problems.push(String(error))
      socket.destroy()
    })
  }
  const options = { keepAliveTimeout: 75_000 }
  const server: Server =
    certificate === undefined
      ? createServer(options, serve)
      : createSecureServer({ ...options, cert: certificate.cert, key: certificate.key }, serve)
  server.on('connection', (raw: Socket) => {
    const { remotePort } = raw
    raws.set(remotePort, raw)
    sources.add(raw.remoteAddress ?? 'nowhere')
    raw.on('error', () => undefined).once('close', () => raws.delete(remotePort))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sources,
    problems,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  end(how: End): void
  forward(whole: Whole): Promise<Answer>
}

async function play(exchange: Exchange, fault: RequestFault | Outage | undefined, random: Seeded): Promise<void> {
  const { request, response, forward, end } = exchange
  if (fault?.kind === 'body cut') {
    const length = Number(request.headers['content-length'])
    const arrived = await readAtMost(request, Math.max(1, Math.floor(length * fault.share)))
    if (fault.stored === 'arrived') await storeArrived(exchange, arrived)
    return end('rst')
  }
  const whole = await readWhole(request)
  if (whole === undefined) return
  switch (fault?.kind) {
    case undefined:
      return answer(response, await forward(whole))
    case 'outage':
      return answer(response, refusals[fault.refusal])
    case 'refusal':
      if (fault.stored === 'all') await forward(whole)
      if (fault.stored === 'half') {
        const pairs = pairsOf(whole.body)
        await store(exchange, whole, pairs.slice(0, pairs.length >> 1))
      }
      return answer(response, refusals[fault.refusal])
    case 'answer lost':
      await forward(whole)
      return end(fault.end)
    case 'stall':
      if (fault.stored === 'all') await forward(whole)
      return
    case 'drip':
      return await drip(response, await forward(whole), fault.pieces, fault.everyMs)
    case 'answer cut':
      return cutAnswer(exchange, await forward(whole), fault)
    case 'busy items':
      return answer(response, await refuseItems(exchange, whole, fault, random))
  }
}

function answer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

async function drip(response: ServerResponse, { status, headers, body }: Answer, pieces: number, everyMs: number) {
  const bytes = Buffer.from(body)
  response.writeHead(status, { ...headers, 'content-length': bytes.length })
  const size = Math.ceil(bytes.length / pieces)
  for (let at = 0; at < bytes.length && !response.destroyed; at += size) {
    response.write(bytes.subarray(at, at + size))
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
  response.end()
}

/** Below node:http, which would not leave an answer unfinished. */
function cutAnswer(
  { request, end }: Exchange,
  { status, headers, body }: Answer,
  fault: Extract<RequestFault, { kind: 'answer cut' }>,
): void {
  const bytes = Buffer.from(body)
  const part = bytes.subarray(0, Math.floor(bytes.length * fault.share))
  const framing = {
    length: `content-length: ${bytes.length}`,
    chunked: 'transfer-encoding: chunked',
    close: 'connection: close',
  }[fault.framing]
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const size = fault.framing === 'chunked' ? `${bytes.length.toString(16)}\r\n` : ''
  request.socket.write(`HTTP/1.1 ${status} OK\r\n${lines.join('')}${framing}\r\n\r\n${size}`)
  request.socket.write(part, () => (fault.end === 'rst' ? end('rst') : request.socket.end()))
}

/** Some of the items are refused as busy, the others go to the cluster. */
async function refuseItems(
  exchange: Exchange,
  whole: Whole,
  { status, share }: Extract<RequestFault, { kind: 'busy items' }>,
  random: Seeded,
): Promise<Answer> {
  const pairs = pairsOf(whole.body)
  const isBusy = pairs.map(() => random.chance(share))
  const stored = await store(
    exchange,
    whole,
    pairs.filter((_, at) => isBusy[at] !== true),
  )
  if (stored !== undefined && stored.status !== 200) return stored
  const { items = [], errors = false } = JSON.parse(stored?.body.toString() ?? '{}') as {
    items?: unknown[]
    errors?: boolean
  }
  const error = { type: 'es_rejected_execution_exception', reason: 'rejected execution of primary operation' }
  const all = isBusy.map(busy => (busy ? { create: { status, error } } : items.shift()))
  const body = JSON.stringify({ errors: errors || isBusy.includes(true), items: all })
  return { status: 200, headers: { 'x-elastic-product': 'Elasticsearch', 'content-type': 'application/json' }, body }
}

/** What came of a body before it was cut: its whole pairs, as a server that reads as it stores would keep them. */
async function storeArrived(exchange: Exchange, arrived: Buffer): Promise<void> {
  const { headers, method = '', url = '' } = exchange.request
  const isGzip = headers['content-encoding'] === 'gzip'
  const body = isGzip ? gunzipSync(arrived, { finishFlush: constants.Z_SYNC_FLUSH }) : arrived
  await store(exchange, { method, path: url, headers, body }, pairsOf(body))
}

async function store({ forward }: Exchange, whole: Whole, pairs: readonly string[]): Promise<Answer | undefined> {
  if (pairs.length === 0) return undefined
  return await forward({ ...whole, body: Buffer.from(pairs.join(''), 'latin1') })
}

/** Action and document with their line ends, as latin1; what follows the last line end is left out. */
function pairsOf(body: Buffer): string[] {
  return body.toString('latin1').match(/[^\n]*\n[^\n]*\n/g) ?? []
}

async function readWhole(request: IncomingMessage): Promise<Whole | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer)
  } catch {
    return undefined
  }
  const body = Buffer.concat(chunks)
  const { headers, method = '', url = '' } = request
  return { method, path: url, headers, body: headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body }
}

async function readAtMost(request: IncomingMessage, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let left = bytes
  await new Promise<void>(resolve => {
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk.subarray(0, left))
      left -= chunk.length
      if (left > 0) return
      request.pause()
      resolve()
    })
    request.once('close', resolve)
  })
  return Buffer.concat(chunks)
}

/** Passes a request on; the answer without what belongs to the connection. */
async function forward(cluster: URL, agent: Agent, { method, path, headers, body }: Whole): Promise<Answer> {
  const { connection: _, 'content-encoding': __, 'transfer-encoding': ___, ...kept } = headers
  const upstream = send(new URL(path, cluster), {
    method,
    agent,
    headers: { ...kept, ...(body.length > 0 && { 'content-length': body.length }) },
  })
  upstream.on('error', () => undefined).end(body)
  const [response] = (await once(upstream, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const named = Object.entries(response.headers).flatMap(([name, value]) =>
    hopByHop.has(name) || value === undefined ? [] : [[name, String(value)] as const],
  )
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(named), body: Buffer.concat(chunks) }
}

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])
