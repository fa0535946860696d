/** Facts of the way, whatever stands at its end. */
import type { Failure } from '../failure/failure.js'
import type { Phase } from '../proxy/route-error.js'
import type { CertificateProblem, CertificateSeen } from './certificate.js'
import type { Spoken } from './port-speaks.js'
import type { ClusterHost } from './regions.js'

export interface HostsSeen extends ClusterHost {
  readonly proxyRegions: readonly string[]
  readonly regions?: 'same' | 'other' | 'elsewhere'
  /** The cluster's URL leads to the proxy service. */
  readonly clusterIsProxy: boolean
}

export interface PortFacts {
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

/** Round trips on a connection that is kept, the shortest of several. Milliseconds. */
export interface LatencySeen {
  readonly throughMs: number
  readonly directMs?: number
  readonly addedMs?: number
  /** What the proxy adds, as a share of a bulk request that takes a second without it. */
  readonly share?: number
}
