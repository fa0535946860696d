/**
 * From what was seen while a connection was built or used to the failure that a user can act on. Pure: every row of the
 * error table is decided here.
 */
import { type Failure, failure } from '../failure/failure.js'
import { type Phase, RouteError } from './route-error.js'
import { nameProxyAnswer } from './proxy-answer.js'
import { type Way, authorityOf } from './way.js'

/** The socket or TLS layer failed while the connection was being built: nothing of a request has left. */
export function connectingFault(way: Way, phase: Phase, error: unknown): RouteError {
  const code = codeOf(error)
  return new RouteError({
    code,
    phase,
    delivery: 'none',
    failure: nameConnecting(way, phase, code, error),
    cause: error,
  })
}

/**
 * The proxy port answered a TLS greeting with so few bytes that they cannot be TLS: the shortest answer, an alert, has seven.
 * A SOCKS5 port says two and closes.
 */
export function notTlsFault(way: Way, cause: unknown): RouteError {
  const named = failure('PROXY_TLS_MISMATCH', { proxy: proxyOf(way), observed: 'the port does not speak TLS' })
  return new RouteError({ code: 'PROXY_NOT_TLS', phase: 'proxy-tls', delivery: 'none', failure: named, cause })
}

/** The connection could not be built in the time that it may take. */
export function connectTimeoutFault(way: Way, phase: Phase): RouteError {
  const code = phase.startsWith('proxy') ? 'PROXY_TIMEOUT' : 'CONNECT_TIMEOUT'
  return new RouteError({ code, phase, delivery: 'none', failure: nameTimeout(way, phase, way.connectTimeoutMs) })
}

/** CONNECT was answered with something else than 2xx: the proxy's own answer, whatever the number. */
export function connectRefusedFault(
  way: Way,
  statusCode: number,
  headers: Readonly<Record<string, string>>,
): RouteError {
  return new RouteError({
    code: `PROXY_STATUS_${statusCode}`,
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: nameProxyAnswer(proxyOf(way), authorityOf(way.target), statusCode, headers),
    answer: { statusCode, headers },
  })
}

/** The proxy closed the connection instead of answering CONNECT or the SOCKS5 greeting. */
export function proxyClosedFault(way: Way, after: string, cause?: unknown): RouteError {
  const tlsHint = way.proxy?.scheme === 'http' || way.proxy?.scheme === 'socks5'
  const problem = `it closed the connection ${after}${tlsHint ? '; a port that expects TLS does this too' : ''}`
  return new RouteError({
    code: cause === undefined ? 'PROXY_CLOSED' : codeOf(cause),
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: failure('PROXY_UNREACHABLE', { proxy: proxyOf(way), problem }),
    cause,
  })
}

/** The proxy port answered CONNECT with something that is not HTTP. */
export function notHttpFault(way: Way, bytes: Uint8Array): RouteError {
  return new RouteError({
    code: 'PROXY_NOT_HTTP',
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: nameNotHttp(way, bytes),
  })
}

/** The proxy port answered the SOCKS5 greeting with something that is not SOCKS5. */
export function notSocksFault(way: Way, bytes: Uint8Array): RouteError {
  const proxy = proxyOf(way)
  const observed = `it answered ${quote(bytes)}`
  const named = isTlsAlert(bytes)
    ? failure('PROXY_TLS_MISMATCH', { proxy, observed: `${observed}: the port expects TLS` })
    : Buffer.from(bytes).toString('latin1').startsWith('HTTP/')
      ? failure('PROXY_PORT_IS_HTTP', { proxy, observed })
      : failure('PROXY_UNREACHABLE', { proxy, problem: `it does not speak SOCKS5: ${observed}` })
  return new RouteError({ code: 'SOCKS_INVALID', phase: 'proxy-handshake', delivery: 'none', failure: named })
}

/** The SOCKS5 proxy refused the credentials, or the destination (`reply` is the number of RFC 1928 §6). */
export function socksRefusedFault(
  way: Way,
  refusal: { code: 'SOCKS_AUTH_FAILED' | 'SOCKS_NO_METHOD' } | { reply: number; text: string },
): RouteError {
  const proxy = proxyOf(way)
  const target = authorityOf(way.target)
  if ('code' in refusal) {
    const observed =
      refusal.code === 'SOCKS_AUTH_FAILED'
        ? 'SOCKS5: authentication failed'
        : 'SOCKS5: no acceptable authentication method'
    return new RouteError({
      code: refusal.code,
      phase: 'proxy-handshake',
      delivery: 'none',
      failure: failure('PROXY_AUTH_REJECTED', { proxy, observed }),
    })
  }
  const observed = `SOCKS5 reply ${refusal.reply} ${refusal.text}`
  const denied = refusal.reply === 2 || refusal.reply >= 7
  return new RouteError({
    code: `SOCKS_REPLY_${refusal.reply}`,
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: denied
      ? failure('PROXY_DENIED_TARGET', { proxy, target, status: observed })
      : failure('PROXY_TARGET_UNREACHABLE', { proxy, target, observed }),
  })
}

/** The connection stood and failed while it carried the request or the answer. */
export function exchangeFault(
  way: Way,
  seen: {
    readonly forward: boolean
    /** The other side has sent nothing over this connection. */ readonly silent: boolean
  },
  error: unknown,
  delivery: 'none' | 'possible',
): RouteError {
  const code = codeOf(error)
  const { forward } = seen
  const bytes = forward ? unparsableBytes(error) : undefined
  if (bytes !== undefined && (bytes[0] === 5 || isTlsAlert(bytes))) {
    return new RouteError({
      code: 'PROXY_NOT_HTTP',
      phase: 'exchange',
      delivery,
      failure: nameNotHttp(way, bytes),
      cause: error,
    })
  }
  if (/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/.test(code)) {
    return new RouteError({
      code,
      phase: 'exchange',
      delivery,
      failure: failure('INTERNAL', { problem: textOf(error) }),
      cause: error,
    })
  }
  const cluster = way.target.origin
  const named = /ALERT.*CERT|ALERT.*UNKNOWN_CA/.test(code)
    ? failure('CLUSTER_CERT_INVALID', {
        cluster,
        problem: `it refuses the client certificate, or asks for one (${code})`,
      })
    : failure('CLUSTER_UNAVAILABLE', { cluster, observed: `${broken(way, seen)}: ${textOf(error)}` })
  return new RouteError({ code, phase: 'exchange', delivery, failure: named, cause: error })
}

/** The request's own limit ran out. */
export function requestTimeoutFault(
  way: Way,
  phase: Phase,
  limitMs: number,
  delivery: 'none' | 'possible',
): RouteError {
  return new RouteError({ code: 'TIMEOUT', phase, delivery, failure: nameTimeout(way, phase, limitMs) })
}

/** The caller's signal fired: its reason is the cause. */
export function abortedFault(phase: Phase, delivery: 'none' | 'possible', reason: unknown): RouteError {
  const named = failure('RUN_INTERRUPTED', { reason: 'the request was aborted by its caller', settled: 0 })
  return new RouteError({ code: 'ABORTED', phase, delivery, failure: named, cause: reason })
}

/** The route is closed, or was destroyed while the request was under way. */
export function closedFault(way: Way, phase: Phase, delivery: 'none' | 'possible', cause: unknown): RouteError {
  const named = failure('CLUSTER_UNAVAILABLE', {
    cluster: way.target.origin,
    observed: 'the route was closed by this process',
  })
  return new RouteError({ code: 'CLOSED', phase, delivery, failure: named, cause })
}

function broken(way: Way, seen: { forward: boolean; silent: boolean }): string {
  if (!seen.forward) return 'the connection broke'
  const tlsHint = seen.silent && way.proxy?.scheme === 'http' ? ' (a port that expects TLS does this too)' : ''
  return `the proxy ${proxyOf(way)} broke the connection${tlsHint}`
}

function nameConnecting(way: Way, phase: Phase, code: string, error: unknown): Failure {
  const problem = textOf(error)
  const cluster = way.target.origin
  switch (phase) {
    case 'proxy-tls':
      if (isCertificateFault(code)) return failure('PROXY_CERT_INVALID', { proxy: proxyOf(way), problem })
      if (isNotTls(code)) {
        return failure('PROXY_TLS_MISMATCH', { proxy: proxyOf(way), observed: `the port does not speak TLS (${code})` })
      }
      return failure('PROXY_UNREACHABLE', {
        proxy: proxyOf(way),
        problem: `${problem}; a port that does not speak TLS does this too`,
      })
    case 'proxy-connect':
    case 'proxy-handshake':
      return failure('PROXY_UNREACHABLE', { proxy: proxyOf(way), problem })
    case 'target-tls':
      if (isCertificateFault(code)) return failure('CLUSTER_CERT_INVALID', { cluster, problem })
      return failure('CLUSTER_UNAVAILABLE', {
        cluster,
        observed: isNotTls(code) ? `the port does not speak TLS (${code})` : problem,
      })
    case 'target-connect':
    case 'exchange':
      return failure('CLUSTER_UNAVAILABLE', { cluster, observed: problem })
  }
}

function nameTimeout(way: Way, phase: Phase, limitMs: number): Failure {
  if (way.proxy !== undefined && phase.startsWith('proxy')) {
    return failure('PROXY_TIMEOUT', { proxy: proxyOf(way), limitMs, phase })
  }
  return failure('CLUSTER_TIMEOUT', { cluster: way.target.origin, limitMs, phase })
}

function nameNotHttp(way: Way, bytes: Uint8Array): Failure {
  const proxy = proxyOf(way)
  const observed = `it answered ${quote(bytes)}`
  if (bytes[0] === 5)
    return failure('PROXY_PORT_IS_SOCKS', { proxy, observed: 'it answered with byte 05, as SOCKS5 does' })
  if (isTlsAlert(bytes)) return failure('PROXY_TLS_MISMATCH', { proxy, observed: `${observed}: the port expects TLS` })
  return failure('PROXY_UNREACHABLE', { proxy, problem: `it does not speak HTTP: ${observed}` })
}

/** The code of the innermost error that has one. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'UNKNOWN'
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'cause' in error && error.cause !== undefined ? codeOf(error.cause) : 'UNKNOWN'
}

function textOf(error: unknown): string {
  const code = codeOf(error)
  const text = error instanceof Error ? (error.message.split('\n')[0] ?? '').trim() : ''
  // OpenSSL's message is a file and line of its own source; an AggregateError's is empty.
  if (text === '' || code.startsWith('ERR_SSL_')) return code
  return code === 'UNKNOWN' || text.includes(code) ? text : `${text} (${code})`
}

function isCertificateFault(code: string): boolean {
  return /CERT|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|UNKNOWN_CA|CRL|FINGERPRINT/.test(
    code,
  )
}

/** What OpenSSL says when the first bytes of the other side are no TLS record. */
function isNotTls(code: string): boolean {
  return /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNEXPECTED_MESSAGE/.test(code)
}

function isTlsAlert(bytes: Uint8Array): boolean {
  return bytes[0] === 0x15 && (bytes.length < 2 || bytes[1] === 3)
}

/** undici's parser error has no dependable code; it keeps the bytes that the parser choked on, as text. */
function unparsableBytes(error: unknown): Uint8Array | undefined {
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return undefined
  return 'data' in error && typeof error.data === 'string' ? Buffer.from(error.data) : undefined
}

/** The first bytes as they may stand in a message: text if it is text, else hexadecimal. */
function quote(bytes: Uint8Array): string {
  const first = Buffer.from(bytes.subarray(0, 24))
  const text = first.toString('latin1')
  return /^[\x20-\x7e\r\n]+$/.test(text) ? JSON.stringify(text.split('\r\n')[0]) : `bytes ${first.toString('hex')}`
}

function proxyOf(way: Way): string {
  return way.proxy?.display ?? '(none)'
}
