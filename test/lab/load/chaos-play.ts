/** What each fault does to one request and its answer. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { constants, gunzipSync } from 'node:zlib'
import type { Seeded } from '../../support/random/seeded.js'
import { type End, type Outage, type RequestFault, refusals } from './chaos-program.js'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

/** One request whose body has arrived, decompressed. */
export interface Whole {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  end(how: End): void
  /** Passes it on to the cluster. */
  forward(whole: Whole): Promise<Answer>
}

export async function play(
  exchange: Exchange,
  fault: RequestFault | Outage | undefined,
  random: Seeded,
): Promise<void> {
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
  // Its items are read here.
  const headers = { ...whole.headers, 'accept-encoding': 'identity' }
  return await forward({ ...whole, headers, body: Buffer.from(pairs.join(''), 'latin1') })
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
