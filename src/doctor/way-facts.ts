/** Facts about a route that do not depend on its target. */
import type { Failure } from '../failure/failure.js'
import type { Phase } from '../proxy/route-error.js'
import type { CertificateProblem, CertificateSeen } from './certificate.js'
import type { Spoken } from './port-speaks.js'
import type { ClusterHost } from './regions.js'

export interface HostsSeen extends ClusterHost {
  readonly proxyRegions: readonly string[]
  readonly regions?: 'same' | 'other' | 'elsewhere' | undefined
  /** The cluster's URL leads to the proxy service. */
  readonly clusterIsProxy: boolean
}

export interface PortFacts {
  readonly spoken: Spoken
  /** The port answered at once in the protocol of the URL's scheme. */
  readonly isPrompt?: boolean | undefined
  readonly failure?: Failure | undefined
  readonly certificate?: CertificateSeen | undefined
}

/** One connection, layer by layer. */
export interface ConnectionSeen {
  readonly layers: readonly { readonly phase: Phase; readonly ms: number }[]
  readonly failure?: Failure | undefined
  /** The layer that failed. */
  readonly failedIn?: Phase | undefined
  /** Connections that broke before one stood. */
  readonly broken: number
  readonly certificate?: CertificateSeen | undefined
  readonly certificateProblem?: CertificateProblem | undefined
}

export interface EgressFacts {
  /** Source addresses that the check saw, and how often. */
  readonly seen: Readonly<Record<string, number>>
  readonly asked: number
  /**
   * With one address seen: the chance that the proxy still uses another one, if each connection chooses at random.
   * Absent if connections do not choose.
   */
  readonly missChance?: number | undefined
  /** An answer without an address. */
  readonly instead?: string | undefined
  readonly failure?: Failure | undefined
}

/** One node of the pair. */
export interface NodeSeen {
  readonly node: string
  /** The address that the check saw. */
  readonly address?: string | undefined
  readonly verdict: 'allowed' | 'refused' | 'failed'
  readonly failure?: Failure | undefined
}

/** The cluster without the proxy and without credentials. */
export interface PastSeen {
  /** `open`: it answered, so no filter stops this machine. `unknown`: the answer does not show it. */
  readonly verdict: 'open' | 'refused' | 'unreachable' | 'unknown'
  readonly status?: number | undefined
}

/** Round trips on a connection that is kept, the shortest of several. Milliseconds. */
export interface LatencySeen {
  readonly throughMs: number
  readonly directMs?: number | undefined
  readonly addedMs?: number | undefined
  /** The proxy's delay as a share of a bulk request that takes a second without it. */
  readonly share?: number | undefined
}

/** Fresh connections on which one question was asked, and what became of them. */
export interface VerdictsSeen {
  readonly probes: number
  readonly allowed: number
  readonly refused: number
  /** Broke, and were made again. */
  readonly broken: number
  /** Status of a refusal. */
  readonly status?: number | undefined
  /** Chance that one of two addresses is still refused (none was seen so), or still accepted (none was seen so). */
  readonly missChance: number
  /** Another obstacle. */
  readonly failure?: Failure | undefined
}
