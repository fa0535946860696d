/** Says in which of a few ways a fresh connection ended. Pure. */
import type { Failure, FailureCode } from '../../base/failure/failure.js'

interface Way {
  /** The thing at fault if some connections end so and others are accepted. `everybody`: the target, as all others would find out. */
  readonly by: 'node' | 'address' | 'limit' | 'cluster' | 'everybody'
  /** Another connection may be accepted without any change. */
  readonly passes?: true
}

/** The ways in which a connection can end, in the order of the path. */
const table = {
  /** No server listens at the proxy's address. */
  refused: { by: 'node', passes: true },
  /** The proxy accepted the connection, and broke it. */
  reset: { by: 'node', passes: true },
  /** The proxy accepted the connection, and said nothing. */
  stuck: { by: 'node', passes: true },
  /**
   * No server answers behind the proxy. A firewall may drop the address silently. A proxy that says nothing looks the same until it is
   * greeted, so both stand before all that is said.
   */
  silent: { by: 'address', passes: true },
  /** TLS to the proxy failed. */
  proxyTls: { by: 'node' },
  /** 407. */
  login: { by: 'node' },
  /** The proxy's policy forbids the target. */
  denied: { by: 'node' },
  /** The proxy has too many connections or requests. */
  limited: { by: 'limit', passes: true },
  /** The proxy says that it cannot reach the target. */
  unreached: { by: 'node', passes: true },
  /** The IP filter's 403. */
  filtered: { by: 'address' },
  /** A gateway's 403, which may be a filter too. */
  barred: { by: 'address' },
  /** The cluster, or a gateway before it, has too many requests. */
  busy: { by: 'limit', passes: true },
  /** The cluster broke the connection, or answered with 408, 425 or 5xx. */
  unwell: { by: 'cluster', passes: true },
  /** TLS to the cluster failed. */
  tls: { by: 'everybody' },
  /** Another server than an Elasticsearch that Sluice can use. */
  foreign: { by: 'everybody' },
  /** The cluster's 401. */
  credentials: { by: 'everybody' },
  /** The cluster answered. */
  accepted: { by: 'everybody' },
} as const satisfies Readonly<Record<string, Way>>

export type End = keyof typeof table

export const ways: Readonly<Record<End, Way>> = table

/** How one connection ended. */
export interface Ended {
  readonly end: End
  /** Present unless the connection was accepted. */
  readonly failure?: Failure | undefined
  /** Elasticsearch itself answered, so the IP filter let the connection through. */
  readonly isPastFilter?: boolean | undefined
  /** No other connection was open. */
  readonly isAlone?: boolean | undefined
  /** How long it took to end, in milliseconds. */
  readonly tookMs?: number | undefined
  /** How long the answer asks to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** Returns whether so few of the connections may have ended so by chance. */
export function isByChance(some: number, all: number): boolean {
  return some <= Math.max(1, Math.floor(all / 8))
}

/** How a connection ended with this failure, if its code says so. */
const ends: Partial<Record<FailureCode, End>> = {
  PROXY_CERT_INVALID: 'proxyTls',
  PROXY_CLIENT_CERT: 'proxyTls',
  PROXY_TLS_MISMATCH: 'proxyTls',
  PROXY_AUTH_REJECTED: 'login',
  PROXY_DENIED_TARGET: 'denied',
  PROXY_ACCOUNT_REFUSED: 'denied',
  PROXY_NOT_A_PROXY: 'denied',
  PROXY_LIMIT_REACHED: 'limited',
  PROXY_TARGET_UNREACHABLE: 'unreached',
  CLUSTER_TIMEOUT: 'silent',
  EGRESS_NOT_ALLOWED: 'filtered',
  CLUSTER_OVERLOADED: 'busy',
  GATEWAY_LIMITED: 'busy',
  CLUSTER_UNAVAILABLE: 'unwell',
  CLUSTER_CERT_INVALID: 'tls',
  CLUSTER_CLIENT_CERT: 'tls',
  CLUSTER_TLS_MISMATCH: 'tls',
  CLUSTER_AUTH_REJECTED: 'credentials',
  SERVICENOW_CERT_INVALID: 'tls',
}

/** Returns how a connection ended that was not accepted. */
export function connectionEnd({ code, evidence }: Failure): End {
  const { status, phase, problem = '' } = evidence
  if (code === 'PROXY_UNREACHABLE')
    return /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN/.test(String(problem)) ? 'refused' : 'reset'
  if (code === 'PROXY_TIMEOUT') return phase === 'proxy-connect' || phase === 'proxy-tls' ? 'stuck' : 'silent'
  if (code === 'SERVICENOW_UNREACHABLE')
    return String(evidence['observed']).startsWith('no answer within') ? 'silent' : 'unwell'
  const end = ends[code]
  if (end !== undefined) return end
  if (status === 408 || status === 425) return 'unwell'
  return code === 'GATEWAY_REFUSED' && status === 403 ? 'barred' : 'foreign'
}
