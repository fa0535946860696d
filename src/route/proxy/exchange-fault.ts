/** Why a request that had, or waited for, a connection got no whole answer. Pure. */
import { failure } from '../../base/failure/failure.js'
import { nameClientCert, nameTimeout } from './connect-fault.js'
import { type Phase, RouteError, errorCodeOf, isClientCertAlert, isTlsAlert, textOf } from './route-error.js'
import { nameNotHttp } from './tunnel-fault.js'
import { type RouteTarget, proxyOf } from './destination.js'

/** Facts about a broken connection. */
interface Broken {
  /** Its other end is the proxy, which reads the requests itself. */
  readonly forward: boolean
  /** The other end has sent nothing over it. */
  readonly silent: boolean
}

/** The connection stood and failed while it carried the request or the answer. */
export function exchangeFault(
  way: RouteTarget,
  broken: Broken,
  error: unknown,
  delivery: 'none' | 'possible',
): RouteError {
  const code = errorCodeOf(error)
  const bytes = broken.forward ? unparsableBytes(error) : undefined
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
  // Inside the only layer of TLS there is, if the target has none.
  const isOfProxy = way.target.protocol === 'http:' && way.proxy !== undefined
  const named = isClientCertAlert(code)
    ? isOfProxy
      ? nameClientCert(way, code)
      : failure('CLUSTER_CLIENT_CERT', { cluster, observed: `the TLS alert ${code}` })
    : failure('CLUSTER_UNAVAILABLE', { cluster, observed: `${whoBroke(way, broken)}: ${textOf(error)}` })
  return new RouteError({ code, phase: 'exchange', delivery, failure: named, cause: error })
}

/** The request's own limit ran out. */
export function requestTimeoutFault(
  way: RouteTarget,
  phase: Phase,
  limitMs: number,
  delivery: 'none' | 'possible',
): RouteError {
  return new RouteError({ code: 'TIMEOUT', phase, delivery, failure: nameTimeout(way, phase, limitMs) })
}

/** The caller's signal fired: its reason is the cause. */
export function abortedFault(phase: Phase, delivery: 'none' | 'possible', reason: unknown): RouteError {
  const named = failure('RUN_INTERRUPTED', { reason: 'the calling program aborted the request', settled: 0 })
  return new RouteError({ code: 'ABORTED', phase, delivery, failure: named, cause: reason })
}

/** The route is closed, or was destroyed during the request. */
export function closedFault(way: RouteTarget, phase: Phase, delivery: 'none' | 'possible', cause: unknown): RouteError {
  const named = failure('CLUSTER_UNAVAILABLE', {
    cluster: way.target.origin,
    observed: 'this process closed the connection',
  })
  return new RouteError({ code: 'CLOSED', phase, delivery, failure: named, cause })
}

function whoBroke(way: RouteTarget, broken: Broken): string {
  if (!broken.forward) return 'the connection broke'
  const tlsHint =
    broken.silent && way.proxy?.scheme === 'http' ? ' (a port that expects TLS behaves like this too)' : ''
  return `the proxy ${proxyOf(way)} broke the connection${tlsHint}`
}

/** Returns the bytes that undici's parser failed on. The parser's error has no dependable code. */
function unparsableBytes(error: unknown): Uint8Array | undefined {
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return undefined
  return 'data' in error && typeof error.data === 'string' ? Buffer.from(error.data) : undefined
}
