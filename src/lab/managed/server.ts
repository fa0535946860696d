import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { Socket } from 'node:net'
import { itemWriter } from '../cluster/bulk-items.js'
import { answerPlanted } from '../cluster/bulk-route.js'
import { RequestRefused, answer, errorBody } from '../cluster/answers.js'
import type { Cluster } from '../cluster/cluster.js'
import { compileFilterPath } from '../cluster/filter-path.js'
import { readBody } from '../cluster/request-body.js'
import type { FaultPlan } from '../faults.js'
import { type Arrival, arrivalOf } from '../listener.js'
import { type Refusals, because } from '../refusals.js'
import type { Queue } from './queue.js'

export interface ManagedOptions {
  /** The cluster behind it, whose keys it takes. */
  readonly cluster: Cluster
  readonly faults: FaultPlan
  readonly queue: Queue
  readonly refusals: Refusals
}

/**
 * Serves Elastic's managed ingest endpoint: `_bulk` into a queue, and besides that only its root and `_license`. No IP filter guards
 * it. Its documentation shows none of its other answers, so these hold as little as possible, and no product header.
 */
export function createManagedServer(options: ManagedOptions): (socket: Socket, arrival: Arrival) => void {
  const server = createServer({ requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
    arrivalOf(request.socket).requests++
    options.refusals.watch('ingest', request, response)
    void serve(options, request, response).catch((error: unknown) => {
      if (error instanceof RequestRefused) return say(response, error.fault.status, errorBody(error.fault))
      if (response.headersSent) return void response.destroy()
      say(response, 500, JSON.stringify({ lab: String(error) }))
    })
  })
  return socket => void server.emit('connection', socket)
}

async function serve(options: ManagedOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { cluster } = options
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://lab')
  const body = await readBody(request, cluster.maxContentBytes)
  if (body === 'gone') return
  if (body === 'too-large') return say(response, 413, '')
  const [first, ...names] = pathname.split('/').filter(Boolean)
  const isServed = first === '_es' && (names.length === 0 || names[0] === '_license' || names.at(-1) === '_bulk')
  if (!isServed) return say(response, 404, '{"message":"not found"}')
  const principal = cluster.security.authenticate(request, response)
  if (principal === undefined) return
  if (principal.apiKey?.name !== cluster.security.eventKeyName) {
    because(response, 'the key lacks event:write')
    return say(response, 403, '{"code":7,"message":"PermissionDenied: the key lacks event:write"}')
  }
  if (names.length === 0) return say(response, 200, '{}')
  if (names[0] === '_license') return say(response, 200, '{"license":{"status":"active","type":"enterprise"}}')
  answerBulk(options, response, { request, body, index: names.length === 2 ? names[0] : undefined, searchParams })
}

interface Bulk {
  readonly request: IncomingMessage
  readonly body: Buffer
  readonly index: string | undefined
  readonly searchParams: URLSearchParams
}

function answerBulk({ faults, queue }: ManagedOptions, response: ServerResponse, bulk: Bulk): void {
  const take = (): string => {
    const filter = bulk.searchParams.get('filter_path')
    const writer = itemWriter(filter === null ? undefined : compileFilterPath(filter))
    for (const { index, id } of queue.take(bulk.body, bulk.index))
      writer.add('create', { index, id, version: 1, result: 'created', seqNo: 0, status: 201 })
    return writer.finish(0)
  }
  const hold = faults.strike('hold')
  if (hold !== undefined) return hold.stored === true ? void take() : undefined
  const planted = faults.strike('bulk')
  if (planted !== undefined) {
    // It takes all of a batch or nothing.
    if (planted.stored === true) take()
    return answerPlanted(response, planted)
  }
  if (faults.isBusy) return say(response, 429, '{"message":"request exceeded available capacity"}')
  const answered = take()
  if (faults.strike('drop')) return void bulk.request.socket.destroy()
  faults.work(() => say(response, 200, answered))
}

function say(response: ServerResponse, status: number, body: string): void {
  answer(response, status, body, { product: false })
}
