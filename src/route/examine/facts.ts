/** Observed facts, and what one tells a person. Every probe adds its own part. A skipped probe leaves its part absent. Holds no secret. */
import type { ClusterInfo } from '../cluster/answers.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Phase } from '../proxy/route-error.js'
import { type CertificateProblem, type CertificateSeen } from './certificate.js'
import type { Spoken } from '../proxy/port-speaks.js'
import type { ClusterHost } from './regions.js'

export interface Setting {
  readonly name: string
  readonly value: string
  readonly from: string
}

export interface Facts {
  readonly settings?: readonly Setting[] | undefined
  /** The cluster's URL without credentials. Empty if only an instance is checked. */
  readonly cluster: string
  /** scheme://host:port. Absent if connected directly. */
  readonly proxy?: string | undefined
  /** Decisions about the proxy, in sentences. */
  readonly notes?: readonly string[] | undefined
  readonly staticIps?: readonly string[] | undefined
  /** Why Sluice uses no proxy although the options ask for one. */
  readonly unused?: string | undefined
  /** `--direct` is set. */
  readonly isDirect?: boolean | undefined
  /** The options contradict each other, or cannot be used. */
  readonly unusable?: Failure | undefined
  /** Credentials would cross the network unencrypted, so Sluice did not send them. */
  readonly plaintext?: Failure | undefined
  /** Which credential of the cluster is in a wrong place or form, in a sentence. The credentials alone show this. */
  readonly misplaced?: string | undefined
  readonly hosts?: HostsSeen | undefined
  readonly address?: { readonly addresses: readonly string[]; readonly failure?: Failure | undefined } | undefined
  readonly port?: PortFacts | undefined
  readonly connection?: ConnectionSeen | undefined
  readonly egress?: EgressFacts | undefined
  readonly filter?: FilterSeen | undefined
  readonly nodes?: readonly NodeSeen[] | undefined
  readonly past?: PastSeen | undefined
  readonly identity?: IdentitySeen | undefined
  /** When the API key expires, in ISO 8601. */
  readonly keyExpiry?: string | undefined
  readonly index?: CheckedIndex | undefined
  readonly write?: { readonly failure?: Failure | undefined; readonly left?: string | undefined } | undefined
  readonly latency?: LatencySeen | undefined
  readonly clock?: { readonly skewMs: number; readonly comparedWith: string } | undefined
  readonly instance?: InstanceAsked | undefined
  readonly instanceConnection?: ConnectionSeen | undefined
  /** The answer to one request without credentials: is it an instance, and is it awake? */
  readonly instanceAwake?: { readonly status?: number | undefined; readonly failure?: Failure | undefined } | undefined
  /** The login page, which everybody may see who may connect at all. */
  readonly instanceDoor?: VerdictsSeen | undefined
  readonly instancePast?: PastSeen | undefined
  readonly instanceLogin?: LoginSeen | undefined
  readonly instanceTable?: TableSeen | undefined
  readonly instanceNodes?: readonly NodeSeen[] | undefined
}

export interface HostsSeen extends ClusterHost {
  readonly proxyRegions: readonly string[]
  readonly regions?: 'same' | 'other' | 'elsewhere' | undefined
  /** Why the host is known only inside a network that the proxy may be outside of. */
  readonly inside?: string | undefined
  /** The cluster's URL leads to the proxy service. */
  readonly clusterIsProxy: boolean
}

interface PortFacts {
  readonly spoken: Spoken
  /** The port answered at once in the protocol of the URL's scheme. */
  readonly isPrompt?: boolean | undefined
  /** The name of a web server that answers there. */
  readonly webServer?: string | undefined
  readonly failure?: Failure | undefined
  readonly certificate?: CertificateSeen | undefined
}

export interface ConnectionSeen {
  readonly layers: readonly { readonly phase: Phase; readonly ms: number }[]
  readonly failure?: Failure | undefined
  readonly failedIn?: Phase | undefined
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
  readonly instead?: string | undefined
  readonly failure?: Failure | undefined
}

export interface NodeSeen {
  readonly node: string
  readonly address?: string | undefined
  readonly verdict: 'allowed' | 'refused' | 'failed'
  readonly failure?: Failure | undefined
}

/** The cluster or the instance without the proxy and without credentials. */
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
  readonly status?: number | undefined
  /** Chance that one of two addresses is still refused (none was seen so), or still accepted (none was seen so). */
  readonly missChance: number
  readonly failure?: Failure | undefined
  /** A problem that does not stop a load: one node of the proxy fails, or a limit is reached. */
  readonly warning?: Failure | undefined
}

export interface FilterSeen extends VerdictsSeen {
  /** The filter's own words. */
  readonly observed?: string | undefined
  readonly requestId?: string | undefined
  readonly rejected?: Failure | undefined
  readonly info?: ClusterInfo | undefined
  /** Elastic's managed ingest endpoint, and no cluster. */
  readonly isManaged?: boolean | undefined
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
  readonly blocks?: readonly string[] | undefined
  readonly isDataStream?: boolean | undefined
  readonly failure?: Failure | undefined
}

interface InstanceAsked {
  readonly url: string
  readonly grant: string
  /** Absent: connected directly. */
  readonly proxy?: string | undefined
  /** Why Sluice uses no proxy although the options ask for one. */
  readonly unused?: string | undefined
  /** The table that the user named. */
  readonly table?: string | undefined
}

/** The instance's answers to the credentials. The doctor tried each kind of login once, so it cannot lock the user out. */
export interface LoginSeen {
  readonly isTaken: boolean
  /** In this order, each once. */
  readonly tried: readonly (
    | 'the token call'
    | 'Basic authentication at the Table API'
    | 'Basic authentication at another API'
    | 'a token call with client_credentials'
    | 'an API key at the Table API'
  )[]
  readonly failure?: Failure | undefined
  /** Token calls, once it was certain that the user is right: with one of two addresses registered, some are refused. */
  readonly tokens?: { readonly asked: number; readonly given: number } | undefined
  /**
   * The result of another kind of login. `user`: Basic authentication accepts user and password. `token`: the same
   * user gets a working token. `other API`: Basic authentication works elsewhere at the instance. `client`: id and
   * secret of the application registry are right.
   */
  readonly otherwise?: 'user' | 'token' | 'other API' | 'client' | undefined
}

/** A table that was read with credentials that are right. `failure`: why it is not read, although it was asked. */
export interface TableSeen extends VerdictsSeen {
  readonly table: string
  /** Rows of the table by X-Total-Count, and how many of the first ones were shown. */
  readonly total?: number | undefined
  readonly shown?: number | undefined
}

/** Rows that are asked for: enough to see whether any is shown. */
export const ROWS_ASKED = 10

export interface Step {
  readonly name: string
  readonly ok: boolean
  /** Absent if nothing was sent. */
  readonly ms?: number | undefined
  readonly detail: string
  /** There was nothing to see, or it was not wanted: `detail` says why. */
  readonly isLeftOut?: true | undefined
}

export function tellCertificate(
  problem: CertificateProblem,
  { subject, issuer, names, validFrom, validTo, expiredAuthority, issuerElsewhere }: CertificateSeen,
  caOption = '--ca',
): string {
  const who = `${subject}, issued by ${issuer}`
  switch (problem) {
    case 'proxy':
      return `It is the proxy's own certificate (${who}), not the cluster's`
    case 'expired':
      return `It belongs to ${who}, and expired on ${validTo}`
    case 'authority expired': {
      const { subject: authority = issuer, validTo: until } = expiredAuthority ?? {}
      return `It belongs to ${who}. The authority ${authority} expired${until === undefined ? '' : ` on ${until}`}`
    }
    case 'intercepted':
      return `It belongs to ${who}. Without the proxy, ${issuerElsewhere ?? 'another authority'} issues the certificate of this host. So a proxy or firewall on the route opens TLS`
    case 'incomplete':
      return `It belongs to ${who}. The server sends no certificate of this issuer, and ${caOption} contains none`
    case 'early':
      return `It belongs to ${who}, and is not valid before ${validFrom}`
    case 'name':
      return `It belongs to ${who}, and is valid for ${names.length === 0 ? 'no host' : names.slice(0, 5).join(', ')}`
    case 'fingerprint':
    case 'authority':
      return `It belongs to ${who}`
  }
}

/** Returns the option that takes the authority of a certificate. */
export function caOptionFor(failed: Failure | undefined): string {
  const [whose = ''] = failed?.code.split('_', 1) ?? []
  return { PROXY: '--proxy-ca', SERVICENOW: '--servicenow-ca' }[whose] ?? '--ca'
}
