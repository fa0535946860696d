/** Observed facts. Every probe adds its own part. A skipped probe leaves its part absent. Holds no secret. */
import type { ClusterInfo } from '../cluster/version.js'
import type { Failure } from '../failure/failure.js'
import type { InstanceFacts } from './instance-facts.js'
import type { ConnectionSeen, EgressFacts, HostsSeen, LatencySeen, NodeSeen, PastSeen, PortFacts } from './way-facts.js'

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
  readonly index?: IndexFacts | undefined
  readonly write?: { readonly failure?: Failure | undefined; readonly left?: string | undefined } | undefined
  readonly latency?: LatencySeen | undefined
  readonly clock?: { readonly skewMs: number; readonly comparedWith: string } | undefined
}

/** Fresh connections on which GET / was asked, and what became of them. */
export interface FilterSeen {
  readonly probes: number
  readonly allowed: number
  readonly refused: number
  /** Broke, and were made again. */
  readonly broken: number
  /** The filter's own words. */
  readonly observed?: string | undefined
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  /** Chance that one of two addresses is still refused (none was seen so), or still accepted (none was seen so). */
  readonly missChance: number
  /** Another obstacle. */
  readonly failure?: Failure | undefined
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

export interface IndexFacts {
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
