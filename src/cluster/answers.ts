/**
 * Says which layer an answer came from, and names its refusal: the proxy, the hosting service's edge with its IP filter,
 * Elasticsearch, or something unknown. The body's shape decides. No header proves it: the security layer leaves x-elastic-product
 * off its refusals, and proxies strip or add headers.
 */
import { gunzipSync, inflateSync } from 'node:zlib'
import { type Failure, failure } from '../failure/failure.js'
import { quote } from '../failure/quote.js'
import { proxyRefusal } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'
import { type JsonObject, parseObject } from '../text/parse-json.js'

/** An answer with its whole body. */
export interface ClusterAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export type Answered =
  | { readonly by: 'proxy'; readonly failure: Failure }
  | { readonly by: 'filter'; readonly message: string; readonly requestId?: string }
  | { readonly by: 'edge'; readonly message: string; readonly requestId?: string }
  /** Only refusals have `type` and `reason`. */
  | { readonly by: 'elasticsearch'; readonly type?: string; readonly reason?: string }
  | { readonly by: 'unknown'; readonly observed: string }

/** The facts that tell a proxy's own answer from a relayed one. */
export type RouteFacts = Pick<Route, 'form' | 'proxy' | 'target'>

/** Decides who answered. */
export function whoAnswered(answer: ClusterAnswer, route: RouteFacts): Answered {
  const refused = proxyRefusal(answer, route)
  if (refused !== undefined) return { by: 'proxy', failure: refused }
  // Refusals are small. A large body is an Elasticsearch answer, and its product header says so.
  const text = answer.body.length > 65_536 ? '' : answer.body.toString('utf8')
  const json = parseObject(text)
  const requestId = header(answer, 'x-cloud-request-id')
  const edge = { message: quote(text), ...(requestId === undefined ? {} : { requestId }) }
  if (json?.['ok'] === false && typeof json['message'] === 'string' && json['error'] === undefined) {
    const message = quote(json['message'])
    return { ...edge, by: answer.statusCode === 403 ? 'filter' : 'edge', message }
  }
  if (/traffic filter(ing)?/i.test(text) && answer.statusCode >= 400 && typeof json?.['error'] !== 'object') {
    return { ...edge, by: 'filter' }
  }
  const error = json?.['error']
  if (typeof json?.['status'] === 'number' && isElasticsearchError(error)) {
    return { by: 'elasticsearch', ...errorOf(error) }
  }
  if (header(answer, 'x-elastic-product') === 'Elasticsearch') {
    return { by: 'elasticsearch', ...(error == null ? {} : errorOf(error)) }
  }
  // Elasticsearch's 413 is empty and unsigned.
  if (answer.statusCode === 413 && answer.body.length === 0)
    return { by: 'elasticsearch', type: 'request_too_large', reason: 'the request is too large' }
  return { by: 'unknown', observed: describe(answer, text) }
}

/** Many frameworks answer `{"status":404,"error":"Not Found"}`, so a text proves nothing. */
function isElasticsearchError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return (
    ('type' in error && typeof error.type === 'string') || ('root_cause' in error && Array.isArray(error.root_cause))
  )
}

function errorOf(error: unknown): { type: string; reason: string } {
  if (typeof error !== 'object' || error === null) return { type: 'error', reason: quote(String(error)) }
  const { type, reason, additional_unsuccessful_credentials: credentials } = error as Record<string, unknown>
  // If the key was mangled on its way, the id in this text may be its secret.
  const detail = typeof credentials === 'string' ? ` (${credentials.replace(/ with id .*/s, ' with this id')})` : ''
  return {
    type: typeof type === 'string' ? type : 'error',
    reason: quote((typeof reason === 'string' ? reason : 'no reason given') + detail),
  }
}

function describe(answer: ClusterAnswer, text: string): string {
  const seen = ['server', 'content-type', 'location', 'via'].flatMap(name => {
    const value = header(answer, name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  return [
    `status ${answer.statusCode}`,
    ...seen.map(one => quote(one)),
    text === '' ? 'empty body' : `body: ${quote(text)}`,
  ].join(', ')
}

function header(answer: ClusterAnswer, name: string): string | undefined {
  const value = answer.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Names a refusal of the whole request. `cluster` is its URL without credentials. */
export function nameRefusal(answer: ClusterAnswer, answered: Answered, cluster: string): Failure {
  const status = answer.statusCode
  switch (answered.by) {
    case 'proxy':
      return answered.failure
    case 'filter':
      return failure('EGRESS_NOT_ALLOWED', {
        cluster,
        refused: 1,
        probes: 1,
        observed: answered.message,
        status,
        requestId: answered.requestId,
      })
    case 'edge':
      if (status === 429)
        return failure('CLUSTER_OVERLOADED', { cluster, reason: answered.message, status, elapsedMs: 0 })
      if (status === 404)
        return failure('CLUSTER_UNKNOWN_HOST', { cluster, reason: answered.message, requestId: answered.requestId })
      if (status >= 500)
        return failure('CLUSTER_UNAVAILABLE', { cluster, observed: `status ${status}, ${answered.message}`, status })
      return failure('GATEWAY_REFUSED', { cluster, status, observed: answered.message, requestId: answered.requestId })
    case 'elasticsearch':
      return nameElasticsearchRefusal(status, answered, cluster)
    case 'unknown':
      if (status === 401) return failure('CLUSTER_AUTH_REJECTED', { cluster, reason: answered.observed, status })
      if (status === 429)
        return failure('CLUSTER_OVERLOADED', { cluster, reason: answered.observed, status, elapsedMs: 0 })
      if (status >= 500) return failure('CLUSTER_UNAVAILABLE', { cluster, observed: answered.observed, status })
      if (status < 300) return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: answered.observed, status })
      return failure('GATEWAY_REFUSED', { cluster, status, observed: answered.observed })
  }
}

/** Names a refusal of GET /. Every Elasticsearch answers it, so the URL has another path than the cluster. */
export function nameRootRefusal(answer: ClusterAnswer, answered: Answered, cluster: string): Failure {
  const named = nameRefusal(answer, answered, cluster)
  if (named.code !== 'REQUEST_REFUSED') return named
  const observed = `GET / of this URL is refused with status ${answer.statusCode}: ${String(named.evidence['reason'])}`
  return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed, status: answer.statusCode })
}

function nameElasticsearchRefusal(
  status: number,
  { type = 'error', reason = 'no reason given' }: { type?: string; reason?: string },
  cluster: string,
): Failure {
  const evidence = { cluster, status, reason, type }
  // With 503 no index is blocked: the cluster is starting, or has no master.
  if (type === 'cluster_block_exception' && status < 500)
    return failure('INDEX_BLOCKED', { ...evidence, index: 'of this request' })
  if (status === 401) return failure('CLUSTER_AUTH_REJECTED', evidence)
  if (status === 403) return failure('CLUSTER_PRIVILEGE_MISSING', evidence)
  if (status === 429) return failure('CLUSTER_OVERLOADED', { ...evidence, elapsedMs: 0 })
  if (status >= 500)
    return failure('CLUSTER_UNAVAILABLE', { ...evidence, observed: `status ${status}, ${type}: ${reason}` })
  return failure('REQUEST_REFUSED', evidence)
}

/**
 * Reads the bytes of an answer, and decompresses them if the server compressed them unasked. It reads `limit` bytes at most: a
 * longer answer does not parse, and is reported as such.
 */
export async function readAnswer(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  headers: Readonly<Record<string, string | string[] | undefined>>,
  limit: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > limit) break
  }
  if (bytes > limit) body.destroy()
  const whole = Buffer.concat(parts)
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase()
  if (encoding !== 'gzip' && encoding !== 'deflate') return whole
  try {
    return (encoding === 'gzip' ? gunzipSync : inflateSync)(whole, { maxOutputLength: limit })
  } catch {
    return whole
  }
}

/** Returns the JSON object of an answer. Empty if it is none. */
export function jsonIn({ body }: ClusterAnswer): JsonObject {
  return parseObject(body) ?? {}
}

/** Returns the items of a bulk answer. Returns undefined if the answer has none or cannot be read. */
export function itemsIn<T extends object>(body: Buffer): Partial<T>[] | undefined {
  const items = parseObject(body)?.['items']
  if (!Array.isArray(items) || items.includes(null)) return undefined
  return items.map((item: Readonly<Record<string, T>>) => Object.values(item)[0] ?? {})
}
