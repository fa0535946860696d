/** Names why a connection could not be built: sockets, TLS, the time limit. Pure. Nothing of the request has left. */
import { type Failure, failure, reachedBefore } from '../../base/failure/failure.js'
import { type Phase, RouteError, errorCodeOf, isClientCertAlert, textOf } from './route-error.js'
import { type RouteTarget, proxyOf } from './destination.js'

/** The socket or TLS layer failed. */
export function connectingFault(way: RouteTarget, phase: Phase, error: unknown): RouteError {
  const code = errorCodeOf(error)
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
export function notTlsFault(way: RouteTarget, cause: unknown): RouteError {
  const named = failure('PROXY_TLS_MISMATCH', { proxy: proxyOf(way), observed: 'the port does not speak TLS' })
  return new RouteError({ code: 'PROXY_NOT_TLS', phase: 'proxy-tls', delivery: 'none', failure: named, cause })
}

/** Returns the fault of a proxy that accepted earlier connections: it is down now, and its URL is right. */
export function afterSuccess(fault: RouteError): RouteError {
  const { failure: named, code, phase, delivery } = fault
  const told = reachedBefore(named)
  return told === named ? fault : new RouteError({ code, phase, delivery, failure: told, cause: fault })
}

/** The connection could not be built in the time that it may take. */
export function connectTimeoutFault(way: RouteTarget, phase: Phase): RouteError {
  const code = phase.startsWith('proxy') ? 'PROXY_TIMEOUT' : 'CONNECT_TIMEOUT'
  return new RouteError({ code, phase, delivery: 'none', failure: nameTimeout(way, phase, way.connectTimeoutMs) })
}

function nameConnecting(way: RouteTarget, phase: Phase, code: string, error: unknown): Failure {
  const problem = textOf(error)
  const cluster = way.target.origin
  switch (phase) {
    case 'proxy-tls':
      if (isClientCertAlert(code)) return nameClientCert(way, code)
      if (isCertificateFault(code)) return failure('PROXY_CERT_INVALID', { proxy: proxyOf(way), problem })
      if (isNotTls(code)) {
        return failure('PROXY_TLS_MISMATCH', { proxy: proxyOf(way), observed: `the port does not speak TLS (${code})` })
      }
      if (isOtherTls(code)) return failure('PROXY_TLS_MISMATCH', { proxy: proxyOf(way), observed: tellOtherTls(code) })
      return failure('PROXY_UNREACHABLE', {
        proxy: proxyOf(way),
        problem: `${problem}. A port without TLS behaves like this too`,
      })
    case 'proxy-connect':
    case 'proxy-handshake':
      return failure('PROXY_UNREACHABLE', { proxy: proxyOf(way), problem })
    case 'target-tls':
      if (isClientCertAlert(code)) return failure('CLUSTER_CLIENT_CERT', { cluster, observed: `the TLS alert ${code}` })
      if (isCertificateFault(code)) return failure('CLUSTER_CERT_INVALID', { cluster, problem })
      if (isOtherTls(code)) return failure('CLUSTER_TLS_MISMATCH', { cluster, observed: tellOtherTls(code) })
      return isNotTls(code)
        ? failure('CLUSTER_TLS_MISMATCH', { cluster, observed: `the port does not speak TLS (${code})` })
        : failure('CLUSTER_UNAVAILABLE', { cluster, observed: problem })
    case 'target-connect':
    case 'exchange':
      return failure('CLUSTER_UNAVAILABLE', { cluster, observed: problem })
  }
}

/** Names a proxy that broke TLS for want of a client certificate. TLS 1.3 says so only after the handshake. */
export function nameClientCert(way: RouteTarget, code: string): Failure {
  return failure('PROXY_CLIENT_CERT', { proxy: proxyOf(way), observed: `the TLS alert ${code}` })
}

/** Names whose time ran out: the proxy's until Sluice had reached it, then the cluster's. */
export function nameTimeout(way: RouteTarget, phase: Phase, limitMs: number): Failure {
  if (way.proxy !== undefined && phase.startsWith('proxy')) {
    return failure('PROXY_TIMEOUT', { proxy: proxyOf(way), limitMs, phase, after: afterWhat[phase] })
  }
  return failure('CLUSTER_TIMEOUT', { cluster: way.target.origin, limitMs, phase })
}

const afterWhat: Readonly<Record<Phase, string>> = {
  'proxy-connect': 'Sluice began to connect',
  'proxy-tls': 'Sluice began TLS',
  'proxy-handshake': 'Sluice asked it to connect to the target',
  'target-connect': 'Sluice began to connect',
  'target-tls': 'Sluice began TLS with the target',
  exchange: 'Sluice sent a request',
}

function isCertificateFault(code: string): boolean {
  return /CERT|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|UNKNOWN_CA|CRL|FINGERPRINT|UNSPECIFIED/.test(
    code,
  )
}

/** OpenSSL reports these if both sides speak TLS, but no version or cipher that both accept. */
function isOtherTls(code: string): boolean {
  return /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS|RENEGOTIATION|NO_SHARED_CIPHER|NO_CIPHERS|KEY_TOO_SMALL|INSUFFICIENT_SECURITY|MD_TOO_WEAK/.test(
    code,
  )
}

function tellOtherTls(code: string): string {
  return `the port offers only versions or ciphers of TLS that this Node.js does not accept (${code})`
}

/** OpenSSL reports these if the first bytes of the other side are no TLS record. */
function isNotTls(code: string): boolean {
  return /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNEXPECTED_MESSAGE/.test(code)
}
