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
  readonly settings?: readonly Setting[]
  /** The cluster's URL without credentials. Empty if only an instance is checked. */
  readonly cluster: string
  /** scheme://host:port. Absent if connected directly. */
  readonly proxy?: string
  /** Decisions about the proxy, in sentences. */
  readonly notes?: readonly string[]
  readonly staticIps?: readonly string[]
  /** `--direct` was said. */
  readonly isDirect?: boolean
  /** The options contradict each other, or cannot be used. */
  readonly unusable?: Failure
  /** Credentials would cross the network unencrypted: they were not sent. */
  readonly plaintext?: Failure
  /** The API key is base64 of `id:key`, as the cluster's console shows it once. */
  readonly isKeyEncoded?: boolean
  readonly hosts?: HostsSeen
  /** Name and port of the proxy. */
  readonly address?: { readonly addresses: readonly string[]; readonly failure?: Failure }
  readonly port?: PortFacts
  readonly connection?: ConnectionSeen
  readonly egress?: EgressFacts
  readonly filter?: FilterSeen
  readonly nodes?: readonly NodeSeen[]
  readonly past?: PastSeen
  readonly identity?: IdentitySeen
  readonly index?: IndexFacts
  readonly write?: { readonly failure?: Failure; readonly left?: string }
  readonly latency?: LatencySeen
  readonly clock?: { readonly skewMs: number; readonly comparedWith: string }
}

/** Fresh connections on which GET / was asked, and what became of them. */
export interface FilterSeen {
  readonly probes: number
  readonly allowed: number
  readonly refused: number
  /** Broke, and were made again. */
  readonly broken: number
  /** The filter's own words. */
  readonly observed?: string
  readonly status?: number
  readonly requestId?: string
  /** Chance that one of two addresses is still refused (none was seen so), or still accepted (none was seen so). */
  readonly missChance: number
  /** Another obstacle. */
  readonly failure?: Failure
  /** The cluster refused the credentials. */
  readonly rejected?: Failure
  readonly info?: ClusterInfo
}

export interface IdentitySeen {
  readonly username?: string
  /** `api_key`, `realm`, … */
  readonly kind?: string
  readonly failure?: Failure
}

export interface IndexFacts {
  readonly index: string
  readonly exists?: boolean
  /** Index privileges that the load needs and the credentials lack. */
  readonly missing?: readonly string[]
  /** Whether `read` and `delete` are granted, which the write check needs. */
  readonly mayCheckWrites?: boolean
  /** The settings that block writes. */
  readonly blocks?: readonly string[]
  readonly isDataStream?: boolean
  readonly failure?: Failure
}
