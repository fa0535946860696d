import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** A problem of a request or an item, in Elasticsearch's words. */
export interface Fault {
  readonly status: number
  readonly type: string
  readonly reason: string
  readonly causedBy?: Cause
  /** Members after `reason`. */
  readonly more?: Readonly<Record<string, unknown>>
}

export interface Cause {
  readonly type: string
  readonly reason: string
  readonly causedBy?: Cause
}

/** Thrown to refuse a whole request. */
export class RequestRefused extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

/** An `error` object: of an item, or of a `root_cause`. */
export function errorObject({ type, reason, causedBy, more }: Omit<Fault, 'status'>): Record<string, unknown> {
  return { type, reason, ...(causedBy && { caused_by: causeObject(causedBy) }), ...more }
}

function causeObject({ type, reason, causedBy }: Cause): Record<string, unknown> {
  return { type, reason, ...(causedBy && { caused_by: causeObject(causedBy) }) }
}

/** The body of a refused request. The root cause is the deepest fault of Elasticsearch's own, which has no parser's cause. */
export function errorBody(fault: Fault): string {
  const { type, reason, more } = fault
  return JSON.stringify({
    error: { root_cause: [{ type, reason, ...more }], ...errorObject(fault) },
    status: fault.status,
  })
}

/** Answers as the cluster, compressed if the client takes that. `product`: false for the security layer's refusals, which lack x-elastic-product. */
export function answer(
  response: ServerResponse,
  status: number,
  body: string | Buffer,
  { product = true, headers = {} }: { product?: boolean; headers?: Record<string, string | string[]> } = {},
): void {
  const isCompressed = /\bgzip\b/.test(response.req.headers['accept-encoding'] ?? '')
  const sent = isCompressed ? gzipSync(body, { level: 1 }) : body
  response.writeHead(status, {
    ...(product && { 'X-elastic-product': 'Elasticsearch' }),
    'content-type': 'application/json',
    ...(isCompressed && { 'content-encoding': 'gzip' }),
    ...headers,
    'content-length': Buffer.byteLength(sent),
  })
  response.end(sent)
}

export function illegalArgument(reason: string): Fault {
  return { status: 400, type: 'illegal_argument_exception', reason }
}

export function noSuchIndex(index: string): Fault {
  const more = { 'resource.type': 'index_or_alias', 'resource.id': index, index_uuid: '_na_', index }
  return { status: 404, type: 'index_not_found_exception', reason: `no such index [${index}]`, more }
}
