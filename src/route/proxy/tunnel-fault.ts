/** Names why a proxy opened no tunnel, from its answer. Pure. Nothing of the request has left. */
import { type Failure, failure } from '../../base/failure/failure.js'
import { nameClientCert } from './connect-fault.js'
import { nameProxyAnswer, type ProxyAnswer } from './proxy-answer.js'
import { errorCodeOf, isClientCertAlert, isTlsAlert, quoteBytes, RouteError } from './route-error.js'
import { proxyOf, type RouteTarget } from './destination.js'
import { authorityOf } from '../../base/addresses.js'

/** CONNECT was answered with something else than 2xx: the proxy's own answer, whatever the number. */
export function connectRefusedFault(
  way: RouteTarget,
  answer: ProxyAnswer & { readonly headers: Readonly<Record<string, string>> },
): RouteError {
  return new RouteError({
    code: `PROXY_STATUS_${answer.statusCode}`,
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: nameProxyAnswer(proxyOf(way), authorityOf(way.target), answer),
    answer,
  })
}

/** The proxy closed the connection instead of answering CONNECT or the SOCKS5 greeting. */
export function proxyClosedFault(way: RouteTarget, after: string, cause?: unknown): RouteError {
  const code = cause === undefined ? 'PROXY_CLOSED' : errorCodeOf(cause)
  const tlsHint = way.proxy?.scheme === 'http' || way.proxy?.scheme === 'socks5'
  const problem = `it closed the connection ${after}${tlsHint ? '. A port that expects TLS behaves like this too' : ''}`
  return new RouteError({
    code,
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: isClientCertAlert(code)
      ? nameClientCert(way, code)
      : failure('PROXY_UNREACHABLE', { proxy: proxyOf(way), problem }),
    cause,
  })
}

/** The proxy port answered CONNECT with something that is not HTTP. */
export function notHttpFault(way: RouteTarget, bytes: Uint8Array): RouteError {
  return new RouteError({
    code: 'PROXY_NOT_HTTP',
    phase: 'proxy-handshake',
    delivery: 'none',
    failure: nameNotHttp(way, bytes),
  })
}

/** The proxy port answered the SOCKS5 greeting with something that is not SOCKS5. */
export function notSocksFault(way: RouteTarget, bytes: Uint8Array): RouteError {
  const proxy = proxyOf(way)
  const observed = `it answered ${quoteBytes(bytes)}`
  const named = isTlsAlert(bytes)
    ? failure('PROXY_TLS_MISMATCH', { proxy, observed: `${observed}. The port expects TLS` })
    : Buffer.from(bytes).toString('latin1').startsWith('HTTP/')
      ? failure('PROXY_PORT_IS_HTTP', { proxy, observed })
      : failure('PROXY_UNREACHABLE', { proxy, problem: `it does not speak SOCKS5: ${observed}` })
  return new RouteError({ code: 'SOCKS_INVALID', phase: 'proxy-handshake', delivery: 'none', failure: named })
}

/** The SOCKS5 proxy refused the credentials, or the destination (`reply` is the number of RFC 1928 §6). */
export function socksRefusedFault(
  way: RouteTarget,
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
      ? failure('PROXY_DENIED_TARGET', { proxy, target, observed })
      : failure('PROXY_TARGET_UNREACHABLE', { proxy, target, observed }),
  })
}

/** The first bytes show which protocol the port speaks instead of HTTP. */
export function nameNotHttp(way: RouteTarget, bytes: Uint8Array): Failure {
  const proxy = proxyOf(way)
  const observed = `it answered ${quoteBytes(bytes)}`
  if (bytes[0] === 5)
    return failure('PROXY_PORT_IS_SOCKS', { proxy, observed: 'it answered with byte 05, like SOCKS5' })
  if (isTlsAlert(bytes)) return failure('PROXY_TLS_MISMATCH', { proxy, observed: `${observed}. The port expects TLS` })
  return failure('PROXY_UNREACHABLE', { proxy, problem: `it does not speak HTTP: ${observed}` })
}
