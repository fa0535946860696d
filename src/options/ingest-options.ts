import type { Readable } from 'node:stream'
import type { Ids } from '../bulk/action-line.js'
import type { Failure } from '../failure/failure.js'
import type { Operation, Refused, RejectionLimit } from '../flow.js'
import type { Format } from '../format/decode.js'
import type { Counts } from '../ledger/receipt.js'
import type { IngestSource } from '../source/open-sources.js'

/** The cluster, and how to prove who asks. One of `url` and `cloudId`; an API key, or a username and password. */
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
  /** SHA-256 fingerprint, in hex, of a certificate in the cluster's chain. Replaces the CA check. */
  readonly caFingerprint?: string | undefined
  /** PEM of the client certificate and its key. */
  readonly cert?: string | Buffer | undefined
  readonly key?: string | Buffer | undefined
  /** Send credentials over plain http to another machine. Default false: PLAINTEXT_CREDENTIALS. */
  readonly allowPlaintext?: boolean | undefined
}

/** The static-IP proxy. Nothing here is read from the environment: whoever calls hands it over. */
export interface ProxyOptions {
  /** `http://USER:PASSWORD@HOST:9293`, `https://…:9294`, `socks5://…:1080` or `socks5s://…`, with encoded credentials. */
  readonly url?: string | URL | undefined
  /** Who said it, for messages. Default `proxy`. */
  readonly origin?: string | undefined
  /** PEM of the CA that signed the proxy's own certificate (https, socks5s). */
  readonly ca?: string | Buffer | undefined
  /** The value of HTTPS_PROXY: used when there is no `url`, and the one that `noProxy` applies to. */
  readonly environmentProxy?: string | undefined
  /** Who said that, for messages. Default `HTTPS_PROXY`. */
  readonly environmentOrigin?: string | undefined
  /** The value of NO_PROXY: hosts, suffixes, ports, CIDR. */
  readonly noProxy?: string | undefined
  /** Connect without any proxy, also where one is set. Default false. */
  readonly direct?: boolean | undefined
  /** Refuse to connect without a proxy: PROXY_NOT_USED. Default false: without one the cluster is reached directly. */
  readonly requireProxy?: boolean | undefined
}

/** Credentials that may change while a run goes on. */
export interface FreshCredentials extends Pick<TargetOptions, 'apiKey' | 'username' | 'password'> {
  /** The proxy's complete URL: scheme, host and port as before. */
  readonly proxy?: string | URL | undefined
}

/** How a cluster is reached: shared by `ingest` and `connect`. */
export interface ConnectOptions {
  readonly target: TargetOptions
  /** The proxy's complete URL, or more about it. Absent: the cluster is reached directly. */
  readonly proxy?: string | URL | ProxyOptions | undefined
  /**
   * Most connections of the pool, and most bulk requests under way at once: 1 to 256. Default 16. How many there are follows
   * the cluster: more as long as more brings more, half when it refuses.
   */
  readonly concurrency?: number | undefined
  /**
   * Fresh connections through the proxy that have to agree that the IP filter lets them in: 0 to 64.
   * Default 16; 0 asks once.
   */
  readonly preflightConnections?: number | undefined
  /** Time limit of one request in milliseconds, from queueing to the answer's last byte. Default 120,000. */
  readonly timeoutMs?: number | undefined
  /** The dashboard's pair: an address outside it stops the run (EGRESS_UNEXPECTED). */
  readonly staticIps?: readonly string[] | undefined
  /** An http or https URL that answers `{"ip": …}`; asked through the proxy before the cluster is. */
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
  /** Basic, and the password grant. */
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** OAuth: the entry of the instance's application registry. A public client has no secret. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
  /** Default: what the others allow; OAuth before Basic. `authorization_code` takes the tokens that `sluice login servicenow` kept. */
  readonly grant?: 'basic' | 'password' | 'client_credentials' | 'refresh_token' | 'authorization_code' | undefined
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

/** Which rows of a table are read, and how. */
export interface TableOptions {
  /** Encoded query: `active=true^priority<=2`. Default: every row. */
  readonly query?: string | undefined
  /** Default: every field. `sys_id` is always among them. */
  readonly fields?: readonly string[] | undefined
  /** Default `false`: as they are stored, times in UTC. */
  readonly displayValue?: 'false' | 'true' | 'all' | undefined
  /** Rows of one request, 1 to 10,000. Default 1,000. Halved where the instance gives up on a page. */
  readonly pageSize?: number | undefined
}

/** Which rows, from where, and through which proxy. */
export interface PullOptions extends ServiceNowConnection, TableOptions {
  /** Its name, not its label: `incident`. */
  readonly table: string
  /** Told after each page. */
  readonly onProgress?: ((progress: Pulled) => void) | undefined
  /** Told each secret in every form that something might repeat, also tokens that come later. */
  readonly onSecret?: ((secret: string) => void) | undefined
}

export interface Pulled {
  /** Rows that were given out. */
  readonly rows: number
  /** As many as the platform told that there are when reading began, with those that the user may not see. */
  readonly total?: number
  /** Of the file, where one is written. */
  readonly bytes?: number
}

/** What is loaded, where to, and how. `source`, `target`, and one of `index` and `swapAlias` have to be there. */
export interface IngestOptions extends ConnectOptions {
  /** Paths, globs, `-` (with `stdin`), a byte stream, or an (async) iterable of documents. */
  readonly source: IngestSource
  /** What `-` reads. */
  readonly stdin?: Readable | undefined
  /** The platform whose tables `servicenow:TABLE` names as sources; reached through the same proxy. */
  readonly servicenow?: ServiceNowOptions | undefined
  /** With such a source. */
  readonly table?: TableOptions | undefined
  /**
   * With such a source: documents of rows that were deleted. Default `keep`. `audit`: once all is loaded, those are deleted whose deletion the
   * platform has noted (`sys_audit_delete`, which has to be readable). `reconcile`: those of which no row is there any more, by comparing the
   * index, which has to hold nothing else, with the ids of all rows; DELETIONS_TOO_MANY, DELETIONS_INDEX_SHARED. What a run has not
   * read to its end deletes nothing. With `swapAlias` there is nothing to delete.
   */
  readonly deletions?: 'keep' | 'audit' | 'reconcile' | undefined
  /** With `reconcile`: documents that may be deleted at once, as a count, or as a share of the index. Default `10%`. */
  readonly maxDeleted?: RejectionLimit | undefined
  /** With `reconcile`: how long not to compare again after changes alone were read, in milliseconds. Default: each run compares. */
  readonly reconcileEveryMs?: number | undefined
  /** Index, alias or data stream. A name that Elasticsearch would refuse is INDEX_NAME_INVALID. */
  readonly index?: string | undefined
  /**
   * A guarded load, instead of `index`: the documents go into a fresh index, `swapAlias-RUN`, without refreshes and replicas.
   * Its settings are restored, it is checked, and the alias is switched to it in one step. Until then the alias stays where it
   * is (ALIAS_CONFLICT, LOAD_CHECK_FAILED); the index before is kept for `rollback`.
   */
  readonly swapAlias?: string | undefined
  /**
   * With `swapAlias`: the body that the index is made with, as `PUT /INDEX` takes it. Default: settings and mappings of the
   * index before, if there is one. Index templates apply beneath either.
   */
  readonly indexBody?: Readonly<Record<string, unknown>> | undefined
  /** With `swapAlias`: a search body, `{ query }`, that has to match at least `checkHits` (default 1) of the loaded documents. */
  readonly checkQuery?: Readonly<Record<string, unknown>> | undefined
  readonly checkHits?: number | undefined
  /** Default `create`: the only operation that data streams take, and one that never overwrites. */
  readonly op?: Operation | undefined
  /**
   * Where `_id`s come from. Default `run`: Sluice's own, so that a resend doubles nothing, nor does a resume; another run
   * makes others, unless both have the same `runId`. `field` needs `idField`. With `cluster`, documents whose answer was lost count as `unknown` and are not sent again.
   */
  readonly ids?: Ids['from'] | undefined
  /** Top-level field that holds the id, a string or number of at most 512 bytes; a document without is rejected. */
  readonly idField?: string | undefined
  /** Top-level field that holds the routing value. */
  readonly routingField?: string | undefined
  /** Ingest pipeline. Default: the index's own. */
  readonly pipeline?: string | undefined
  /** Default `auto`: JSON where the input starts with `[`, else NDJSON. */
  readonly format?: Format | undefined
  /** Path of the array of documents inside a JSON document: `hits.items`. */
  readonly pick?: string | undefined
  /**
   * A bulk request is sent before its body would grow past this: 1,000 to 100,000,000 bytes. Default 5,000,000. Bodies are smaller
   * once the cluster found one too large.
   */
  readonly batchBytes?: number | undefined
  /** …or has so many documents. Default: no limit. */
  readonly batchDocs?: number | undefined
  /** …or its first document has waited so long, in milliseconds. Default 1,000. */
  readonly batchMs?: number | undefined
  /** Default `auto`: gzip, except on loopback, because bytes through a proxy are metered and slow. */
  readonly compress?: 'auto' | 'gzip' | 'none' | undefined
  /**
   * File for rejected documents; `false` writes none: take them from the `rejected` event.
   * Default `sluice-dead-letters-RUN.ndjson` in the working folder.
   */
  readonly deadLetters?: string | false | undefined
  /**
   * Rejected documents that are allowed, as a count, or as a share (`1%`) once 1,000 were read. Default: any number.
   * One more is TOO_MANY_REJECTED. With `swapAlias` and without a limit the load goes on, and the alias is not switched.
   */
  readonly maxRejected?: RejectionLimit | undefined
  /** How long one body may be refused or unanswered before the run stops, in milliseconds. Default 900,000. */
  readonly maxElapsedMs?: number | undefined
  /**
   * How long the run may take, in milliseconds. It ends early enough for requests under way and the checkpoint: by `graceMs`,
   * at most a quarter of it, and `ingest` throws TIME_BUDGET_SPENT with the receipt. Default: any time.
   */
  readonly timeBudgetMs?: number | undefined
  /** Since when the time budget counts, in milliseconds since the epoch: when a platform began to count. Default: the call. */
  readonly startedAt?: number | undefined
  /**
   * How many bytes may go over the wire to the cluster, both ways, with TLS and preflight. A request that could take it past
   * them is not sent, and `ingest` throws BYTE_BUDGET_SPENT with the receipt; OPTION_INVALID where the preflight and one request
   * do not fit. Default: any number.
   */
  readonly byteBudget?: number | undefined
  /**
   * How long requests under way may take once the run was interrupted, in milliseconds. Then their connections are closed, and
   * their documents are `unknown`: a resume sends them again, unless the cluster makes the ids. Default 25,000.
   */
  readonly graceMs?: number | undefined
  /**
   * What to do when access is lost in the middle: a proxy, an IP filter, credentials or an index that refuse. Default `stop`: the
   * position is kept, and the cause named. `wait` (30 minutes) or `{ waitMs }`: nothing is sent meanwhile, fresh connections
   * probe slowly, and sending goes on once 16 of them in a row were let through. When the time is over it stops all the same.
   */
  readonly onBlock?: 'stop' | 'wait' | { readonly waitMs: number } | undefined
  /**
   * Asked for credentials before each probe while the run waits because they were refused (401, 407). What it leaves out stays as
   * it is. Where it throws, the old ones are tried again.
   */
  readonly refreshCredentials?: (() => FreshCredentials | Promise<FreshCredentials>) | undefined
  /** A document whose id is taken already, with ids from a field: `reject` it, or `skip` it. Default `reject`. */
  readonly onConflict?: 'reject' | 'skip' | undefined
  /**
   * Folder for checkpoints and locks, made where it is missing. With it, the same call after an interruption goes on where files
   * were left, and does not load again what is loaded. A file that another run with this folder is loading into the same index
   * is RUN_LOCKED. Default: none is kept.
   */
  readonly stateDir?: string | undefined
  /**
   * Writes stdin to the state folder and loads it from there, so that a run can continue although stdin cannot be read twice. If the
   * load stops, Sluice still takes stdin to its end. A producer that repeats its data is loaded again, unless `runId` or `ids: 'field'`
   * makes the ids the same. Needs `stateDir`. Default false.
   */
  readonly spool?: boolean | undefined
  /**
   * With `spool`: most bytes on the disk that are kept of one stdin, 1,000,000 or more. Once two thirds of them are used stdin is held back
   * until what came first is loaded, and that is deleted. Compressed data, a JSON array, and all that comes once the load has stopped are
   * kept whole: beyond the limit they are STATE_UNWRITABLE. Default: any number.
   */
  readonly spoolLimit?: number | undefined
  /**
   * Names the run, and makes its ids from the name, the target and each input's name, size and first 64 KiB: repeated without
   * its checkpoint it doubles nothing. Letters, digits, `.`, `_` and `-`. Default: a new name and random ids.
   */
  readonly runId?: string | undefined
  /** Load again what a checkpoint calls finished, as a new run. Default false. */
  readonly again?: boolean | undefined
  /** Check the way and the inputs, and send nothing: documents count as `unsent`. Writes no dead letters, and no checkpoint. */
  readonly dryRun?: boolean | undefined
  /** Called for everything worth telling. Must not throw: one that does is not called again, and the run goes on. */
  readonly onEvent?: ((event: IngestEvent) => void) | undefined
}

/** Bytes over the wire so far, both ways, and how many may go. */
export interface WireUse {
  readonly bytes: number
  readonly budget: number
}

/** Rows of a table that were read, and how many there are to read, as far as the platform has told. */
export interface RowsRead {
  readonly read: number
  readonly total: number
}

/** What the dead letters say themselves. */
type Said = 'op' | 'ids' | 'idField' | 'routingField' | 'format' | 'pick'
/** Dead letters go to the index that the others are in, not to a fresh one. */
type Guarded = 'swapAlias' | 'indexBody' | 'checkQuery' | 'checkHits'

/** Dead letters, where to, and how. */
export interface ReplayOptions extends Omit<IngestOptions, 'source' | Said | Guarded> {
  /** Paths, globs, or `-` (with `stdin` and `index`): files that `ingest` or `replay` wrote, gzip or not. */
  readonly source: string | readonly string[]
  /** Where all of them go. Default: each to the index that it was meant for. */
  readonly index?: string | undefined
  /** Ingest pipeline for all of them. Default: for each the one that it was meant for. */
  readonly pipeline?: string | undefined
}

/** What happens during a run, in the order in which it happens. */
export type IngestEvent =
  /**
   * The way is open. `missChance`, from 0 to 1: that one of two addresses is refused all the same.
   * `notes`: what was decided about the proxy.
   */
  | {
      readonly type: 'preflight'
      readonly cluster: string
      readonly version?: string
      readonly route: string
      readonly probes: number
      readonly missChance: number
      readonly egress: Readonly<Record<string, number>>
      readonly notes: readonly string[]
    }
  /** Reading of an input begins, or goes on with the document of that number. `since`: of a table, only what changed since then. */
  | { readonly type: 'input'; readonly name: string; readonly resumedAt?: number; readonly since?: string }
  /** An input was loaded before, and has nothing new. */
  | { readonly type: 'loaded'; readonly name: string }
  /** The documents of a batch have been booked. `bytesRead`: decoded. `wire`: where there is a byte budget. `rows`: of a table. */
  | {
      readonly type: 'progress'
      readonly counts: Counts
      readonly bytesRead: number
      readonly wire?: WireUse
      readonly rows?: RowsRead
    }
  /** All is loaded, and documents of rows that were deleted are looked for. */
  | { readonly type: 'deletions'; readonly mode: 'audit' | 'reconcile'; readonly index: string }
  /** A request will be sent again, whole or in part, after `waitMs`. */
  | { readonly type: 'retry'; readonly failure: Failure; readonly documents: number; readonly waitMs: number }
  /**
   * Access is lost, and the run waits for it (`onBlock`): told when it begins to, and again after each probe that was not let
   * through. `since`: when access was lost, in ISO 8601. `problem`: what else stood in the way of the last probe.
   */
  | {
      readonly type: 'blocked'
      readonly failure: Failure
      readonly since: string
      readonly waitedMs: number
      readonly leftMs: number
      readonly nextProbeMs: number
      readonly problem?: string
    }
  /** Access is back. `failure`: what was in the way, `waitedMs`: for how long. */
  | { readonly type: 'unblocked'; readonly failure: Failure; readonly waitedMs: number }
  /** Documents were refused. They are copies, to keep. */
  | { readonly type: 'rejected'; readonly documents: readonly Refused[] }
  /** An input could not be read to its end, the egress check named no address, or a resume is not what one might expect. */
  | { readonly type: 'warning'; readonly message: string }
