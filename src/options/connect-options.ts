/** The library's options of a connection: to the cluster, to the proxy and to ServiceNow. */

/** Where completed options hold the open connection of a load. Only the folder `connect` knows what it is. */
export const openedWith = Symbol('opened with')

/** The cluster and its credentials. Needs one of `url` and `cloudId`, and an API key or a username and password. */
export interface TargetOptions {
  /** `https://HOST[:PORT]`, the Elasticsearch endpoint from the cluster's console. */
  readonly url?: string | URL | undefined
  /** The cloud id from the console, instead of the URL. */
  readonly cloudId?: string | undefined
  /** API key in its encoded form. Preferred to a username where both are set. */
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** PEM of the CA that signed the cluster's certificate. Default: the CAs that Node trusts. */
  readonly ca?: string | Buffer | undefined
  /** SHA-256 fingerprint, in hex, of a certificate in the cluster's chain: the only one that Sluice trusts. With `ca`, both must hold. */
  readonly caFingerprint?: string | undefined
  /** PEM of the client certificate and its key. */
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
  /** Send credentials over plain http to another machine. Default false: PLAINTEXT_CREDENTIALS. */
  readonly allowPlaintext?: boolean | undefined
}

/** The static-IP proxy. Sluice reads nothing of this from the environment: the caller passes everything. */
export interface ProxyOptions {
  /** `http://USER:PASSWORD@HOST:9293`, `https://…:9294`, `socks5://…:1080` or `socks5s://…`, with encoded credentials. */
  readonly url?: string | URL | undefined
  /** Source of this URL, for messages. Default `proxy`. */
  readonly origin?: string | undefined
  /** PEM of the CA that signed the proxy's own certificate (https, socks5s). */
  readonly ca?: string | Buffer | undefined
  /** The value of HTTPS_PROXY, used if there is no `url`. `noProxy` applies only to this proxy. */
  readonly environmentProxy?: string | undefined
  /** Source of `environmentProxy`, for messages. Default `HTTPS_PROXY`. */
  readonly environmentOrigin?: string | undefined
  /** The value of NO_PROXY: hosts, suffixes, ports, CIDR. */
  readonly noProxy?: string | undefined
  /** Connect without a proxy, even if one is set. Default false. */
  readonly direct?: boolean | undefined
  /** Refuse to connect without a proxy: PROXY_NOT_USED. Default false: without one the cluster is reached directly. */
  readonly requireProxy?: boolean | undefined
}

/** Credentials that may change during a run. */
export interface FreshCredentials extends Pick<TargetOptions, 'apiKey' | 'username' | 'password'> {
  /** The proxy's complete URL: scheme, host and port as before. */
  readonly proxy?: string | URL | undefined
}

/** How a cluster is reached: shared by `ingest` and `connect`. */
export interface ConnectOptions {
  readonly target: TargetOptions
  /** The proxy's URL, or its options. Absent: Sluice connects directly to the cluster. */
  readonly proxy?: string | URL | ProxyOptions | undefined
  /**
   * Most connections of the pool, and most bulk requests under way at once: 1 to 256. Default 16. How many there are follows
   * the cluster: more as long as more brings more, half when it refuses.
   */
  readonly concurrency?: number | undefined
  /**
   * Fresh connections through the proxy that test the IP filter before the load: 0 to 64. Default 16. 0 sends one
   * request.
   */
  readonly preflightConnections?: number | undefined
  /** Time limit of one request in milliseconds, from queueing to the answer's last byte. Default 120,000. */
  readonly timeoutMs?: number | undefined
  /** The dashboard's pair: an address outside it is a warning, or the reason if the filter refuses it (EGRESS_UNEXPECTED). */
  readonly staticIps?: readonly string[] | undefined
  /**
   * An http or https URL that answers `{"ip": …}`. Sluice requests it through the proxy before it connects to the
   * cluster.
   */
  readonly ipCheckUrl?: string | undefined
  /**
   * Aborting it ends the preflight. In a run, requests under way have `graceMs` to be answered, the rest is `unsent`,
   * and `ingest` throws RUN_INTERRUPTED with the receipt.
   */
  readonly signal?: AbortSignal | undefined
}

/** The service-management platform, and how to prove who asks. */
export interface ServiceNowOptions {
  /** `https://INSTANCE`, without a path. */
  readonly url: string | URL
  /** An inbound REST API key, sent as `x-sn-apikey`. Sluice then needs no other credentials. */
  readonly apiKey?: string | undefined
  /** Basic, and the password grant. */
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** OAuth: the entry of the instance's application registry. A public client has no secret. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
  /**
   * Default: follows from the other options, an API key before OAuth, and OAuth before Basic. `authorization_code` uses the tokens that `sluice
   * login servicenow` saved.
   */
  readonly grant?:
    | 'api_key'
    | 'basic'
    | 'password'
    | 'client_credentials'
    | 'refresh_token'
    | 'authorization_code'
    | undefined
  /** File where tokens are kept, with owner-only permissions. Default: they are kept in memory. */
  readonly tokenFile?: string | undefined
  /** PEM of the CA that signed the instance's certificate. Default: the CAs that Node trusts. */
  readonly ca?: string | Buffer | undefined
}

/** How to reach an instance of ServiceNow. */
export interface ServiceNowConnection extends Pick<
  ConnectOptions,
  'proxy' | 'concurrency' | 'preflightConnections' | 'timeoutMs' | 'signal'
> {
  readonly servicenow: ServiceNowOptions
  /** How long to retry one call (429, 5xx, a GET without an answer), in milliseconds. Default 900,000. */
  readonly maxElapsedMs?: number | undefined
  /** Called with warnings, for example about the permissions of the token file. */
  readonly onWarning?: ((message: string) => void) | undefined
}

/** The rows of a table to read, and how to read them. */
export interface TableOptions {
  /** Encoded query: `active=true^priority<=2`. Default: every row. */
  readonly query?: string | undefined
  /** Default: every field. `sys_id` is always among them. */
  readonly fields?: readonly string[] | undefined
  /** Default `false`: as they are stored, times in UTC. */
  readonly displayValue?: 'false' | 'true' | 'all' | undefined
  /** Rows per request, 1 to 10,000. Default 1,000. Sluice halves this number if the instance gives up on a page. */
  readonly pageSize?: number | undefined
}

/** The rows to read, the instance and the proxy. */
export interface PullOptions extends ServiceNowConnection, TableOptions {
  /** Its name, not its label: `incident`. */
  readonly table: string
  /**
   * Folder for the attachments of the rows: `FOLDER/<sys_id of the record>/<sys_id of the attachment>-<name>`. Sluice fetches those of a
   * row before it gives out the row, and skips files that are there with the right size and checksum. Default: none.
   */
  readonly attachments?: string | undefined
  /** Called after each page. */
  readonly onProgress?: ((progress: Pulled) => void) | undefined
  /** Called with each secret in every form that output might contain, also for tokens that come later. */
  readonly onSecret?: ((secret: string) => void) | undefined
}

export interface Pulled {
  /** Rows that were given out. */
  readonly rows: number
  /** Rows of the table when reading began, as the platform reported. Includes rows that the user may not see. */
  readonly total?: number
  /** Size of the file, if one is written. */
  readonly bytes?: number
  /** Only with a folder for attachments. */
  readonly attachments?: AttachmentCounts
}

interface AttachmentCounts {
  /** Files that this call fetched, and their bytes. */
  readonly fetched: number
  readonly bytes: number
  /** Files that were there, with the right size and checksum. */
  readonly kept: number
  /** Attachments that the instance refused, or whose file was never whole. A warning names each. */
  readonly refused: number
}
