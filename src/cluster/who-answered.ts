/**
 * Which layer an answer came from, before asking what it means: proxy, the hosting service's edge (its IP filter is one part
 * of it), Elasticsearch, or something unknown. Decided by the body's shape; no header proves it: the security layer leaves
 * x-elastic-product off its refusals, and proxies strip or add headers.
 */
import type { Failure } from '../failure/failure.js'
import { quote } from '../failure/quote.js'
import { proxyRefusal } from '../proxy/proxy-answer.js'
import type { Route } from '../proxy/route.js'

/** A whole answer, read. */
export interface Answer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

export type Answered =
  | { readonly by: 'proxy'; readonly failure: Failure }
  | { readonly by: 'filter'; readonly message: string; readonly requestId?: string }
  | { readonly by: 'edge'; readonly message: string; readonly requestId?: string }
  /** `type` and `reason` stand on refusals alone. */
  | { readonly by: 'elasticsearch'; readonly type?: string; readonly reason?: string }
  | { readonly by: 'unknown'; readonly observed: string }

/** What has to be known of the way to tell a proxy's own answer from a relayed one. */
export type RouteFacts = Pick<Route, 'form' | 'proxy' | 'target'>

/** Decides who answered. */
export function whoAnswered(answer: Answer, route: RouteFacts): Answered {
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

/** Many frameworks answer `{"status":404,"error":"Not Found"}`: a text proves nothing. */
function isElasticsearchError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  return (
    ('type' in error && typeof error.type === 'string') || ('root_cause' in error && Array.isArray(error.root_cause))
  )
}

function errorOf(error: unknown): { type: string; reason: string } {
  if (typeof error !== 'object' || error === null) return { type: 'error', reason: quote(String(error)) }
  const { type, reason, additional_unsuccessful_credentials: credentials } = error as Record<string, unknown>
  // Of a key that was mangled before it came here, what is taken for its id may be its secret.
  const detail = typeof credentials === 'string' ? ` (${credentials.replace(/ with id .*/s, ' with this id')})` : ''
  return {
    type: typeof type === 'string' ? type : 'error',
    reason: quote((typeof reason === 'string' ? reason : 'no reason given') + detail),
  }
}

function describe(answer: Answer, text: string): string {
  const seen = ['server', 'content-type', 'location', 'via'].flatMap(name => {
    const value = header(answer, name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  return [
    `status ${answer.statusCode}`,
    ...seen.map(one => quote(one)),
    text === '' ? 'empty body' : `body: ${quote(text)}`,
  ].join('; ')
}

function header(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function parseObject(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}
