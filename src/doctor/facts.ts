/** What was seen on the way. Every probe adds its own part; what was left out is absent. Holds no secret. */
import type { ClusterInfo } from '../cluster/version.js'
import type { Failure } from '../failure/failure.js'
import type { Phase } from '../proxy/route-error.js'
import type { CertificateProblem, CertificateSeen } from './certificate.js'
import type { InstanceFacts } from './instance-facts.js'
import type { Spoken } from './port-speaks.js'
import type { ClusterHost } from './regions.js'

/** One option in force, as it may be shown, and where it came from. */
export interface Setting {
  readonly name: string
  readonly value: string
  readonly from: string
}

export interface Facts extends InstanceFacts {
  readonly settings?: readonly Setting[]
  /** The cluster's URL without credentials; empty where only an instance is looked at. */
  readonly cluster: string
  /** scheme://host:port; absent when connected directly. */
  readonly proxy?: string
  /** What was decided about the proxy, in sentences. */
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
  readonly index?: IndexSeen
  readonly write?: { readonly failure?: Failure; readonly left?: string }
  readonly latency?: LatencySeen
  readonly clock?: { readonly skewMs: number; readonly comparedWith: string }
}

export interface HostsSeen extends ClusterHost {
  readonly proxyRegions: readonly string[]
  readonly regions?: 'same' | 'other' | 'elsewhere'
  /** The cluster's URL leads to the proxy service. */
  readonly clusterIsProxy: boolean
}

interface PortFacts {
  readonly spoken: Spoken
  /** It answered in the protocol of the URL's scheme, at once. */
  readonly isPrompt?: boolean
  readonly failure?: Failure
  readonly certificate?: CertificateSeen
}

/** One connection, layer by layer. */
export interface ConnectionSeen {
  readonly layers: readonly { readonly phase: Phase; readonly ms: number }[]
  readonly failure?: Failure
  /** Where it failed. */
  readonly failedIn?: Phase
  /** Connections that broke before one stood. */
  readonly broken: number
  readonly certificate?: CertificateSeen
  readonly certificateProblem?: CertificateProblem
}

export interface EgressFacts {
  /** Source addresses that the check saw, and how often. */
  readonly seen: Readonly<Record<string, number>>
  readonly asked: number
  /**
   * With one address seen: the chance that the proxy uses another one all the same, each connection choosing either at random.
   * Absent where connections do not choose by themselves.
   */
  readonly missChance?: number
  /** What an answer was that held no address. */
  readonly instead?: string
  readonly failure?: Failure
}

/** Fresh connections on which GET / was asked, and what became of them. */
export interface FilterSeen {
  readonly probes: number
  readonly allowed: number
  readonly refused: number
  /** Broke, and were made again. */
  readonly broken: number
  /** What the filter said. */
  readonly observed?: string
  readonly status?: number
  readonly requestId?: string
  /** Chance that one of two addresses is refused all the same (none was seen to be), or let through (none was seen to be). */
  readonly missChance: number
  /** What else stood in the way. */
  readonly failure?: Failure
  /** The cluster refused the credentials. */
  readonly rejected?: Failure
  readonly info?: ClusterInfo
}

/** One node of the pair, asked by itself. */
export interface NodeSeen {
  readonly node: string
  /** As the address check saw it. */
  readonly address?: string
  readonly verdict: 'allowed' | 'refused' | 'failed'
  readonly failure?: Failure
}

/** The cluster without the proxy and without credentials. */
export interface PastSeen {
  /** `open`: it answered, so that no filter stops this machine. `unknown`: whether one would, could not be told. */
  readonly verdict: 'open' | 'refused' | 'unreachable' | 'unknown'
  readonly status?: number
}

export interface IdentitySeen {
  readonly username?: string
  /** `api_key`, `realm`, … */
  readonly kind?: string
  readonly failure?: Failure
}

export interface IndexSeen {
  readonly index: string
  readonly exists?: boolean
  /** Index privileges that the load needs and the credentials lack. */
  readonly missing?: readonly string[]
  /** `read`, `delete`: what the write check needs besides. */
  readonly mayCheckWrites?: boolean
  /** The settings that block writes. */
  readonly blocks?: readonly string[]
  readonly isDataStream?: boolean
  readonly failure?: Failure
}

/** Round trips on a connection that is kept, the shortest of several. Milliseconds. */
export interface LatencySeen {
  readonly throughMs: number
  readonly directMs?: number
  readonly addedMs?: number
  /** What the proxy adds, as a share of a bulk request that takes a second without it. */
  readonly share?: number
}
