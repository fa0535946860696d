/** Reads a proxy's own answers: to CONNECT, and in place of the origin's answer to a forwarded request. */
import { type Failure, failure, quote } from '../../base/failure/failure.js'

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

export interface ProxyAnswer {
  readonly statusCode: number
  /** Names are in lower case. */
  readonly headers: Headers
  /** The words after the status, if they are known. */
  readonly reason?: string | undefined
  /** The beginning of the body, if it was read. */
  readonly body?: unknown
}

/**
 * Returns the refusal if the proxy answered instead of the target. That is possible only for forwarded requests (http
 * target over an http or https proxy). Inside a tunnel every answer is the target's.
 */
export function proxyRefusal(
  answer: ProxyAnswer,
  route: { readonly proxy?: string | undefined; readonly target: URL; readonly form: 'direct' | 'tunnel' | 'forward' },
): Failure | undefined {
  const { statusCode, headers } = answer
  if (route.form !== 'forward' || route.proxy === undefined || statusCode < 400) return undefined
  const byProxy =
    ofProxies.has(statusCode) ||
    headers['x-squid-error'] !== undefined ||
    /;\s*error=/i.test(text(headers['proxy-status'])) ||
    (/^(squid|tinyproxy)\b/i.test(text(headers['server'])) && !hasOriginHeaders(headers))
  return byProxy ? nameProxyAnswer(route.proxy, route.target.host, answer) : undefined
}

/** No cluster asks for money, for a login at a proxy, or for a login at a network. */
const ofProxies: ReadonlySet<number> = new Set([402, 407, 511])

interface Meaning {
  readonly code: 'PROXY_ACCOUNT_REFUSED' | 'PROXY_LIMIT_REACHED' | 'PROXY_NOT_A_PROXY'
  /** Matches status, reason and body in one line. */
  readonly if: RegExp
  /** The facts that the answer shows beside its words. */
  readonly shows?: string
}

/** Causes that an answer itself shows, whatever its status usually means. The first one that fits counts. */
const meanings: readonly Meaning[] = [
  {
    code: 'PROXY_ACCOUNT_REFUSED',
    if: /^(402|509) |^4\d\d .*\b(quota|bandwidth|subscription|trial|payment|unpaid|overdue|invoice|billing|suspended|deactivated|(data|traffic|transfer|usage|plan|monthly|account) limit)\b/i,
  },
  {
    code: 'PROXY_ACCOUNT_REFUSED',
    if: /^4\d\d .*\baccount\b.{0,40}\b(disabled|closed|cancell?ed|expired|blocked|inactive)\b/i,
  },
  {
    code: 'PROXY_LIMIT_REACHED',
    if: /^429 |^(4\d\d|503) .*\b(too many (\w+ )?(requests|connections)|rate.?limit|connection limit|concurrent connections)\b/i,
  },
  { code: 'PROXY_ACCOUNT_REFUSED', if: /^4\d\d .*\blimit (is |was |has been )?(exceeded|reached|used up)\b/i },
]

/** The cause if no proxy wrote the answer: another program listens at the address of the proxy. */
const strangers: readonly Meaning[] = [
  { code: 'PROXY_NOT_A_PROXY', if: /^511 /, shows: 'this network requires a login first' },
  { code: 'PROXY_NOT_A_PROXY', if: /^2\d\d /, shows: 'a web page instead of a tunnel' },
  { code: 'PROXY_NOT_A_PROXY', if: /^3\d\d /, shows: 'a proxy never redirects' },
  { code: 'PROXY_NOT_A_PROXY', if: /^(404|405|501) /, shows: 'a web server answers like this' },
  {
    code: 'PROXY_NOT_A_PROXY',
    if: /^400 .* server: (nginx|openresty|apache|microsoft-iis|caddy|cloudflare|awselb|cloudfront|litespeed|gunicorn|jetty)\b/i,
    shows: 'a web server answers like this',
  },
]

/** Names a refusal that is known to be the proxy's own. */
export function nameProxyAnswer(proxy: string, target: string, answer: ProxyAnswer): Failure {
  const { statusCode: status, headers } = answer
  const said = quote(wordsOf(answer), 2_000).replaceAll(target.replace(/:\d+$/, ''), '')
  const server = text(headers['server'])
  const line = `${status} ${said} server: ${server}`
  const isOfProxy = ['x-squid-error', 'proxy-status', 'proxy-agent', 'proxy-authenticate', 'via'].some(
    name => headers[name] !== undefined,
  )
  const others = isOfProxy || /^(squid|tinyproxy)\b/i.test(server) ? [] : strangers
  const meaning = [...meanings, ...others].find(one => one.if.test(line))
  const observed = [`status ${status}`, ...evidenceIn(answer), ...(meaning?.shows === undefined ? [] : [meaning.shows])]
  const evidence = { proxy, target, status, observed: observed.join(', ') }
  if (meaning !== undefined) return failure(meaning.code, evidence)
  // tinyproxy answers wrong credentials with 401, missing ones with 407.
  if (status === 407 || status === 401) return failure('PROXY_AUTH_REJECTED', evidence)
  if (status >= 500 || status === 408 || status === 425) return failure('PROXY_TARGET_UNREACHABLE', evidence)
  return failure('PROXY_DENIED_TARGET', evidence)
}

/** Returns the part of an answer that a message repeats. Pages of Squid are long, and its code says the same. */
function evidenceIn(answer: ProxyAnswer): string[] {
  const { headers } = answer
  const code =
    quote(text(headers['x-squid-error']), 80) || (/\berror=([\w-]+)/i.exec(text(headers['proxy-status']))?.[1] ?? '')
  const words = code === '' ? quote(wordsOf(answer), 160) : ''
  const location = withoutQuery(text(headers['location']))
  const after = quote(text(headers['retry-after']), 40)
  const server = code === '' ? quote(text(headers['server']), 40) : ''
  return [
    code,
    words && `"${words}"`,
    location && `location: ${location}`,
    after && `retry-after: ${after}`,
    server && `server: ${server}`,
    loginOffered(text(headers['proxy-authenticate'])),
  ].filter(one => one !== '')
}

/** The words of a status line that only say its number again. */
const usual =
  /^(moved permanently|found|see other|(temporary|permanent) redirect|bad request|unauthorized|payment required|forbidden|not found|(method )?not allowed|(proxy|network) authentication required|request timeout|too many requests|internal server error|not implemented|bad gateway|service (temporarily )?unavailable|gateway time-?out)$/i

/** The words of the status line, if they are the proxy's own, and the text of its page. */
function wordsOf({ reason = '', body }: ProxyAnswer): string {
  const own = usual.test(reason) ? '' : reason
  const page = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : ''
  return page.includes(own) ? page : `${own} ${page}`
}

/** Says which logins a proxy offers, if Sluice has none of them. */
function loginOffered(challenges: string): string {
  const names =
    challenges.replace(/"[^"]*"/g, '').match(/\b(basic|digest|ntlm|negotiate|kerberos|bearer)\b(?!=)/gi) ?? []
  if (names.length === 0 || names.some(name => /^basic$/i.test(name))) return ''
  return `it accepts only ${[...new Set(names)].join(' or ')}, but Sluice sends Basic`
}

/** A place to go to, without what may be a secret in it. */
export function withoutQuery(location: string): string {
  return quote(location.replace(/[?#].*$/s, '').replace(/\/\/[^/]*@/, '//'))
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
