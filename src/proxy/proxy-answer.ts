/**
 * Reads a proxy's own answers by status and headers: to CONNECT, and in place of the origin's answer to a forwarded
 * request.
 */
import { type Failure, failure } from '../failure/failure.js'
import { quote } from '../failure/quote.js'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Returns the refusal if the proxy answered instead of the target. That is possible only for forwarded requests (http
 * target over an http or https proxy). Inside a tunnel every answer is the target's. Header names are in lower case.
 */
export function proxyRefusal(
  response: { readonly statusCode: number; readonly headers: Headers },
  route: { readonly proxy?: string | undefined; readonly target: URL; readonly form: 'direct' | 'tunnel' | 'forward' },
): Failure | undefined {
  const { statusCode, headers } = response
  if (route.form !== 'forward' || route.proxy === undefined || statusCode < 400) return undefined
  const byProxy =
    statusCode === 407 ||
    headers['x-squid-error'] !== undefined ||
    /;\s*error=/i.test(text(headers['proxy-status'])) ||
    (/^(squid|tinyproxy)\b/i.test(text(headers['server'])) && !hasOriginHeaders(headers))
  return byProxy ? nameProxyAnswer(route.proxy, route.target.host, statusCode, headers) : undefined
}

/** Names a refusal that is known to be the proxy's own. */
export function nameProxyAnswer(proxy: string, target: string, status: number, headers: Headers): Failure {
  const said =
    quote(text(headers['x-squid-error']), 80) || (/\berror=([\w-]+)/i.exec(text(headers['proxy-status']))?.[1] ?? '')
  const observed = said === '' ? `status ${status}` : `status ${status}, ${said}`
  // tinyproxy answers wrong credentials with 401, missing ones with 407.
  if (status === 407 || status === 401) return failure('PROXY_AUTH_REJECTED', { proxy, observed, status })
  if (status >= 500 || status === 429 || status === 408)
    return failure('PROXY_TARGET_UNREACHABLE', { proxy, target, observed, status })
  return failure('PROXY_DENIED_TARGET', { proxy, target, status, observed })
}

/** Squid forwards the origin's headers beside its own Via and X-Cache. Its own answers have none of these. */
function hasOriginHeaders(headers: Headers): boolean {
  const names = [
    'x-elastic-product',
    'x-cloud-request-id',
    'x-found-handling-cluster',
    'x-found-handling-instance',
    'x-transaction-id',
  ]
  return names.some(name => headers[name] !== undefined)
}

function text(value: Headers[string]): string {
  return typeof value === 'string' ? value : (value?.join(', ') ?? '')
}
