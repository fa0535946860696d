/**
 * What a contract suite needs of the world it runs in: a static-IP proxy with two egress addresses, and an IP filter in front
 * of a search cluster. The lab is one such world, real servers (Squid, microsocks, nginx, Elasticsearch) are another.
 */
export type Registered = 'both' | 'first' | 'second' | 'none' | 'everyone'

/** One TCP connection that arrived in front of the cluster, as the cluster's side saw it. */
export interface SeenConnection {
  /** The source address: one of the static addresses, or 127.0.0.1 for a client that bypassed the proxy. */
  readonly from: string
  readonly port: 'http' | 'https'
  /** Requests that came over it so far. */
  readonly requests: number
}

export interface World {
  readonly name: string
  /** Complete proxy URLs with percent-encoded credentials; `nodes` are the single-address proxies, over http. */
  readonly proxy: {
    readonly http: string
    readonly https: string
    readonly socks5: string
    readonly socks5s: string
    readonly nodes: readonly [string, string]
  }
  /** PEM file that vouches for the TLS proxy ports. */
  readonly proxyCaFile: string
  readonly staticIps: readonly [string, string]
  /** GET answers `{"ip": …}` with the source address. */
  readonly ipCheckUrl: string
  readonly cluster: {
    /** https, behind the IP filter. */
    readonly url: string
    /** http, behind the same IP filter. */
    readonly httpUrl: string
    readonly caFile: string
    readonly apiKey: string
    readonly username: string
    readonly password: string
    /** May write to `least-*` indices and nothing else; GET / answers 403 security_exception. */
    readonly leastPrivilegeApiKey: string
    readonly major: 8 | 9
  }
  /** Rewrites the filter's rules: which of the two addresses are allowed. */
  register(which: Registered): Promise<void>
  /** Connections in front of the cluster since the last `forget()`. */
  connections(): Promise<readonly SeenConnection[]>
  forget(): Promise<void>
  /** Documents in an index (refreshed first), asked past the filter. */
  count(index: string): Promise<number>
  /** All documents of an index (refreshed first) as JSON texts, at most 10,000. None if the index is missing. */
  documents(index: string): Promise<readonly string[]>
  /** Source of the documents by id, as the raw JSON text that the cluster keeps; undefined where missing. */
  source(index: string, id: string): Promise<string | undefined>
  [Symbol.asyncDispose](): Promise<void>
}
