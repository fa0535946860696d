/**
 * Says which layer an answer came from, and names its refusal: the proxy, the hosting service's edge with its IP filter,
 * Elasticsearch, or something unknown. The body's shape decides. No header proves it: the security layer leaves x-elastic-product
 * off its refusals, and proxies strip or add headers.
 */
import { type Failure, failure, type FailureCode, quote } from '../../base/failure/failure.js'
import { proxyRefusal, withoutQuery } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'
import { type JsonObject, parseObject } from '../../base/json/parse-json.js'
import { elasticsearchBeside, loginOffered, redirectIn, type Stranger, strangerIn } from './strangers.js'

export interface AnswerHead {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface ClusterAnswer extends AnswerHead {
  readonly body: Buffer
  /** The request had credentials. */
  readonly isWithLogin?: boolean | undefined
}

export type Answered =
  | { readonly by: 'proxy'; readonly failure: Failure }
  | { readonly by: 'filter'; readonly message: string; readonly requestId?: string }
  | { readonly by: 'edge'; readonly message: string; readonly requestId?: string }
  | { readonly by: 'elasticsearch'; readonly type?: string; readonly reason?: string }
  | { readonly by: 'unknown'; readonly observed: string; readonly stranger?: Stranger | undefined }

/** The facts that tell a proxy's own answer from a relayed one. */
export type RouteFacts = Pick<Route, 'form' | 'proxy' | 'target'>

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
    return { by: 'elasticsearch', ...errorOf(error, answer) }
  }
  if (header(answer, 'x-elastic-product') === 'Elasticsearch') {
    return { by: 'elasticsearch', ...(error == null ? {} : errorOf(error, answer)) }
  }
  // Elasticsearch's 413 is empty and unsigned.
  if (answer.statusCode === 413 && answer.body.length === 0)
    return { by: 'elasticsearch', type: 'request_too_large', reason: 'the request is too large' }
  const said = text === '' ? 'empty body' : `body: ${quote(text)}`
  const stranger =
    strangerIn(answer.statusCode, answer.headers, text) ??
    redirectIn(answer.statusCode, header(answer, 'location'), route.target)
  const observed = [...(stranger === undefined ? [] : [stranger.is]), describeAnswer(answer, said)].join(', ')
  return { by: 'unknown', observed, stranger }
}

/** Many frameworks answer `{"status":404,"error":"Not Found"}`, so a text proves nothing. */
function isElasticsearchError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return (
    ('type' in error && typeof error.type === 'string') || ('root_cause' in error && Array.isArray(error.root_cause))
  )
}

function errorOf(error: unknown, answer: ClusterAnswer): { type: string; reason: string } {
  if (typeof error !== 'object' || error === null) return { type: 'error', reason: quote(String(error)) }
  const { type, reason, additional_unsuccessful_credentials: credentials } = error as Record<string, unknown>
  // If the key was mangled on its way, the id in this text may be its secret.
  const detail = typeof credentials === 'string' ? ` (${credentials.replace(/ with id .*/s, ' with this id')})` : ''
  return {
    type: typeof type === 'string' ? type : 'error',
    reason:
      quote(withoutUser(typeof reason === 'string' ? reason : 'no reason given') + detail) + lostLogin(answer, reason),
  }
}

/** The cluster repeats a user name that it does not know. It may be a password in the wrong place. */
function withoutUser(reason: string): string {
  const from = reason.search(/\bauthenticate user \[/)
  const end = reason.endsWith(']') ? reason.length : reason.lastIndexOf('] for ') + 1
  return from === -1 || end < from ? reason : `${reason.slice(0, from)}authenticate this user${reason.slice(end)}`
}

function lostLogin({ statusCode, isWithLogin }: ClusterAnswer, reason: unknown): string {
  const isLost = statusCode === 401 && isWithLogin === true && /missing authentication/i.test(String(reason))
  return isLost ? '. Sluice sent credentials, but they did not arrive' : ''
}

/** `body`: a text about the body. */
export function describeAnswer(answer: AnswerHead, body: string): string {
  const seen = ['server', 'content-type', 'location', 'via', 'retry-after'].flatMap(name => {
    const value = header(answer, name)
    return value === undefined ? [] : [quote(`${name}: ${name === 'location' ? withoutQuery(value) : value}`)]
  })
  return [`status ${answer.statusCode}`, ...seen, body].join(', ')
}

function header(answer: AnswerHead, name: string): string | undefined {
  const value = answer.headers[name]
  return Array.isArray(value) ? value[0] : value
}

/** Names a refusal of the whole request. `cluster` is its URL without credentials. */
export function nameRefusal(answer: ClusterAnswer, answered: Answered, cluster: string): Failure {
  const status = answer.statusCode
  switch (answered.by) {
    case 'proxy':
      return answered.failure
    case 'filter': {
      const { message: observed, requestId } = answered
      return failure('EGRESS_NOT_ALLOWED', { cluster, refused: 1, probes: 1, observed, status, requestId })
    }
    case 'edge': {
      const { message: reason, requestId } = answered
      if (status === 429) return failure('CLUSTER_OVERLOADED', { cluster, reason, status })
      if (status === 404) return failure('CLUSTER_UNKNOWN_HOST', { cluster, reason, requestId })
      if (status >= 500)
        return failure('CLUSTER_UNAVAILABLE', { cluster, observed: `status ${status}, ${reason}`, status })
      return failure('GATEWAY_REFUSED', { cluster, status, observed: `status ${status}, ${reason}`, requestId })
    }
    case 'elasticsearch':
      return nameElasticsearchRefusal(answer, answered, cluster)
    case 'unknown': {
      const { observed, stranger } = answered
      if (stranger?.code !== undefined) return nameStranger(stranger.code, observed, status, cluster)
      if (status === 200) return nameUnsigned(answer, observed, cluster)
      if (status === 401) {
        const login = loginOffered(String(answer.headers['www-authenticate'] ?? ''))
        const reason = [...(login === undefined ? [] : [login]), observed].join(', ')
        return failure('CLUSTER_AUTH_REJECTED', { cluster, how: refusedLogin(answer), reason, status })
      }
      if (status === 429) return failure('GATEWAY_LIMITED', { cluster, observed, status })
      if (status >= 500 || status === 408 || status === 425)
        return failure('CLUSTER_UNAVAILABLE', { cluster, observed, status })
      if (status < 300) return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed, status })
      return failure('GATEWAY_REFUSED', { cluster, status, observed })
    }
  }
}

function nameStranger(code: FailureCode, observed: string, status: number, cluster: string): Failure {
  const beside = /Kibana|Dashboards/.test(observed) ? elasticsearchBeside(cluster) : undefined
  const more = beside === undefined ? '' : `. Its Elasticsearch is probably ${beside}`
  const evidence = { cluster, observed: observed + more, status }
  return code === 'GATEWAY_REFUSED' || code === 'CLUSTER_TLS_MISMATCH' || code === 'CLUSTER_CLIENT_CERT'
    ? failure(code, evidence)
    : failure('CLUSTER_NOT_ELASTICSEARCH', evidence)
}

/** The versions that a target may have, for messages. */
export const TARGETS = 'supports only 8, 9 and serverless'

/** Names an answer with status 200 that has no product header. Before version 7.14 Elasticsearch did not send it. */
function nameUnsigned(answer: ClusterAnswer, observed: string, cluster: string): Failure {
  const { version, tagline } = jsonIn(answer) as { version?: { number?: unknown } | null; tagline?: unknown }
  const number = version?.number
  if (typeof number !== 'string' || tagline !== 'You Know, for Search')
    return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed, status: 200 })
  if (/^[0-7]\./.test(number))
    return failure('CLUSTER_VERSION_UNSUPPORTED', { cluster, version: quote(number, 40), supports: TARGETS })
  const stripped = `Elasticsearch ${quote(number, 40)} answered, but a gateway removed its header x-elastic-product`
  return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: stripped, status: 200 })
}

/**
 * Names a refusal by a cluster that has answered before. A redirect or a page is then the answer of something in between, and may
 * pass.
 */
export function nameLaterRefusal(answer: ClusterAnswer, answered: Answered, cluster: string): Failure {
  const { statusCode: status } = answer
  return answered.by === 'unknown' && status < 400
    ? failure('CLUSTER_UNAVAILABLE', { cluster, observed: answered.observed, status })
    : nameRefusal(answer, answered, cluster)
}

/** Names a refusal of GET /. Every Elasticsearch answers it, so the URL has another path than the cluster. */
export function nameRootRefusal(answer: ClusterAnswer, answered: Answered, cluster: string): Failure {
  const named = nameRefusal(answer, answered, cluster)
  if (named.code !== 'REQUEST_REFUSED') return named
  const observed = `GET / of this URL is refused with status ${answer.statusCode}: ${String(named.evidence['reason'])}`
  return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed, status: answer.statusCode })
}

function refusedLogin({ isWithLogin }: ClusterAnswer): string {
  return isWithLogin === false ? 'requires credentials, but none are set' : 'refused the credentials'
}

function nameElasticsearchRefusal(
  answer: ClusterAnswer,
  { type = 'error', reason = 'no reason given' }: { type?: string; reason?: string },
  cluster: string,
): Failure {
  const status = answer.statusCode
  const evidence = { cluster, status, reason, type }
  // With 503 no index is blocked: the cluster is starting, or has no master.
  if (type === 'cluster_block_exception' && status < 500)
    return failure('INDEX_BLOCKED', { ...evidence, index: 'of this request' })
  if (status === 401) return failure('CLUSTER_AUTH_REJECTED', { ...evidence, how: refusedLogin(answer) })
  if (status === 403 && /\blicense (is non-compliant|has expired|expired)/i.test(reason))
    return failure('CLUSTER_LICENSE_ENDED', evidence)
  if (status === 403) return failure('CLUSTER_PRIVILEGE_MISSING', evidence)
  if (status === 429) return failure('CLUSTER_OVERLOADED', evidence)
  if (status >= 500)
    return failure('CLUSTER_UNAVAILABLE', { ...evidence, observed: `status ${status}, ${type}: ${reason}` })
  return failure('REQUEST_REFUSED', evidence)
}

/** Returns the JSON object of an answer. Empty if it is none. */
export function jsonIn({ body }: ClusterAnswer): JsonObject {
  return parseObject(body) ?? {}
}

export interface ClusterInfo {
  readonly name: string
  readonly uuid?: string
  /** `version.number`. Serverless answers a constant, so `flavor` decides there. */
  readonly version: string
  readonly flavor: 'stack' | 'serverless'
}
