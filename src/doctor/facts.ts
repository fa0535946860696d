/** Observed facts. Every probe adds its own part. A skipped probe leaves its part absent. Holds no secret. */
import type { ClusterInfo } from '../cluster/version.js'
import type { Failure } from '../failure/failure.js'
import type { InstanceFacts } from './instance-facts.js'
import type {
  ConnectionSeen,
  EgressFacts,
  HostsSeen,
  LatencySeen,
  NodeSeen,
  PastSeen,
  PortFacts,
  VerdictsSeen,
} from './way-facts.js'

/** One option in force, safe to show, and its source. */
export interface Setting {
  readonly name: string
  readonly value: string
  readonly from: string
}

export interface Facts extends InstanceFacts {
  readonly settings?: readonly Setting[] | undefined
  /** The cluster's URL without credentials. Empty if only an instance is checked. */
  readonly cluster: string
  /** scheme://host:port. Absent if connected directly. */
  readonly proxy?: string | undefined
  /** Decisions about the proxy, in sentences. */
  readonly notes?: readonly string[] | undefined
  readonly staticIps?: readonly string[] | undefined
  /** `--direct` was said. */
  readonly isDirect?: boolean | undefined
  /** The options contradict each other, or cannot be used. */
  readonly unusable?: Failure | undefined
  /** Credentials would cross the network unencrypted: they were not sent. */
  readonly plaintext?: Failure | undefined
  /** The API key is base64 of `id:key`, as the cluster's console shows it once. */
  readonly isKeyEncoded?: boolean | undefined
  readonly hosts?: HostsSeen | undefined
  /** Name and port of the proxy. */
  readonly address?: { readonly addresses: readonly string[]; readonly failure?: Failure | undefined } | undefined
  readonly port?: PortFacts | undefined
  readonly connection?: ConnectionSeen | undefined
  readonly egress?: EgressFacts | undefined
  readonly filter?: FilterSeen | undefined
  readonly nodes?: readonly NodeSeen[] | undefined
  readonly past?: PastSeen | undefined
  readonly identity?: IdentitySeen | undefined
  readonly index?: CheckedIndex | undefined
  readonly write?: { readonly failure?: Failure | undefined; readonly left?: string | undefined } | undefined
  readonly latency?: LatencySeen | undefined
  readonly clock?: { readonly skewMs: number; readonly comparedWith: string } | undefined
}

/** Answers to GET /. */
export interface FilterSeen extends VerdictsSeen {
  /** The filter's own words. */
  readonly observed?: string | undefined
  readonly requestId?: string | undefined
  /** The cluster refused the credentials. */
  readonly rejected?: Failure | undefined
  readonly info?: ClusterInfo | undefined
}

export interface IdentitySeen {
  readonly username?: string | undefined
  /** `api_key`, `realm`, … */
  readonly kind?: string | undefined
  readonly failure?: Failure | undefined
}

export interface CheckedIndex {
  readonly index: string
  readonly exists?: boolean | undefined
  /** Index privileges that the load needs and the credentials lack. */
  readonly missing?: readonly string[] | undefined
  /** Whether `read` and `delete` are granted, which the write check needs. */
  readonly mayCheckWrites?: boolean | undefined
  /** The settings that block writes. */
  readonly blocks?: readonly string[] | undefined
  readonly isDataStream?: boolean | undefined
  readonly failure?: Failure | undefined
}

/** No connection to the proxy can stand. */
export function proxyProblem(facts: Facts): string | undefined {
  if (facts.plaintext !== undefined) return 'credentials would be sent unencrypted'
  if (facts.hosts?.clusterIsProxy === true) return 'the cluster URL is that of the proxy'
  return portProblem(facts)
}

function portProblem({ address, port }: Facts): string | undefined {
  if (address?.failure !== undefined) return 'the proxy cannot be reached'
  return port?.failure === undefined ? undefined : 'the port speaks another protocol'
}

/** The proxy leads nowhere, whatever the destination. */
export function loginProblem(facts: Facts): string | undefined {
  const { connection, instanceConnection } = facts
  const isClosed = [connection, instanceConnection].some(one => isProxyClosed(one?.failure?.code, facts))
  return proxyProblem(facts) ?? (isClosed ? 'the proxy cannot be used' : undefined)
}

function isProxyClosed(code: string | undefined, { port }: Facts): boolean {
  const isClosed = code === 'PROXY_AUTH_REJECTED' || code === 'PROXY_CERT_INVALID' || code === 'PROXY_UNREACHABLE'
  // The proxy answered no greeting and no request.
  const isSilent = port?.isPrompt === false && code?.endsWith('_TIMEOUT') === true
  return isClosed || isSilent
}

/** Returns why nothing can reach the instance through the proxy. Problems of the cluster do not count. */
export function instanceWayProblem(facts: Facts): string | undefined {
  if (facts.instance?.proxy === undefined) return undefined
  const isClosed = isProxyClosed(facts.connection?.failure?.code, facts)
  return portProblem(facts) ?? (isClosed ? 'the proxy cannot be used' : undefined)
}

/** No request can reach the instance. */
export function instanceProblem(facts: Facts): string | undefined {
  if (facts.instanceConnection?.failure !== undefined) return 'there is no connection to the instance'
  const isAsleep = facts.instanceAwake?.failure !== undefined
  return instanceWayProblem(facts) ?? (isAsleep ? 'the instance does not answer' : undefined)
}

/** No request can reach the cluster. */
export function pathProblem(facts: Facts): string | undefined {
  const closed = facts.connection?.failure === undefined ? undefined : 'there is no connection to the cluster'
  return proxyProblem(facts) ?? closed
}

/** The cluster answers no question about itself. */
export function clusterProblem(facts: Facts): string | undefined {
  const { filter } = facts
  const before = pathProblem(facts)
  if (before !== undefined) return before
  if (filter === undefined || filter.failure !== undefined) return 'the cluster does not answer'
  if (filter.refused > 0) return 'the IP filter refuses connections'
  return filter.rejected === undefined ? undefined : 'the cluster refuses the credentials'
}
