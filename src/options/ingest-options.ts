import type { Readable } from 'node:stream'
import type { Ids } from '../bulk/action-line.js'
import type { Failure } from '../failure/failure.js'
import type { Refused, RejectionLimit } from '../flow.js'
import type { Operation } from '../operation.js'
import type { CsvOptions } from '../format/csv/csv-lines.js'
import type { Format } from '../format/decode.js'
import type { SetValue } from './edit-values.js'
import type { Counts } from '../ledger/receipt.js'
import type { IngestSource } from '../source/open-sources.js'

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
  /** Basic, and the password grant. */
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** OAuth: the entry of the instance's application registry. A public client has no secret. */
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
  readonly refreshToken?: string | undefined
  /**
   * Default: follows from the other options, OAuth before Basic. `authorization_code` uses the tokens that `sluice
   * login servicenow` saved.
   */
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
}

/** How to reach inputs on servers. For S3, credentials, region and endpoint come from the environment, as the AWS SDK finds them. */
export interface RemoteOptions {
  /** Reach them through the static-IP proxy. Default false: Sluice connects directly. */
  readonly throughProxy?: boolean | undefined
  /** PEM of the CA that signed the certificates of the servers. Default: the CAs that Node trusts. */
  readonly ca?: string | Buffer | undefined
  /** Bearer token for the server of http and https URLs without a login of their own. */
  readonly token?: string | undefined
}

/** The sources of documents, and how to read them. */
export interface InputOptions {
  /** Paths, globs, URLs (http, https, `s3://BUCKET/KEY`), `-` (with `stdin`), a byte stream, or an (async) iterable of documents. */
  readonly source: IngestSource
  /** The stream that the source `-` reads. */
  readonly stdin?: Readable | undefined
  /** Default `auto`: JSON if the input starts with `[`, CSV if its name and its content say so, otherwise NDJSON. */
  readonly format?: Format | undefined
  /** How CSV is read. */
  readonly csv?: CsvOptions | undefined
  /** Path of the array of documents inside a JSON document: `hits.items`. */
  readonly pick?: string | undefined
}

/**
 * How documents are edited on their way into the index: first `keep` and `drop`, then `rename`, then `set`. All other bytes of a
 * document stay as they are. A name with dots leads into objects and arrays of objects: `user.id`.
 */
export interface EditOptions {
  /** Values of fields, new or not. A string may hold `{now}`, `{file}`, `{path}` and `{line}`. */
  readonly set?: Readonly<Record<string, SetValue>> | undefined
  /** Fields to leave out. */
  readonly drop?: readonly string[] | undefined
  /** The only fields that stay. */
  readonly keep?: readonly string[] | undefined
  /** New names of fields. A document that already has the new name is rejected. */
  readonly rename?: Readonly<Record<string, string>> | undefined
}

/** The position of a document that a function gets. */
export interface DocumentPlace {
  /** Name of the file without its folder. */
  readonly file: string
  /** Name of the input as it was passed. */
  readonly path: string
  /** Number of the line. For JSON and CSV, the number of the element or row. */
  readonly line: number
}

/**
 * Returns the document that is sent for one that was read: the same object or another one, several in an array, or null for none.
 * Integers beyond 2^53 - 1 are bigint. Other numbers that JavaScript cannot hold are objects with a `text`.
 */
export type TransformFunction = (
  document: Record<string, unknown>,
  place: DocumentPlace,
) => object | null | PromiseLike<object | null>

interface TransformOptions {
  /**
   * Makes other documents of those that were read, after `edits`: a function, or the path of a module whose default export is one.
   * A function runs in this thread. A module runs in worker threads. What it throws rejects the document.
   */
  readonly transform?: TransformFunction | string | undefined
  /** How long the function may take for one document, in milliseconds. Default 60,000. A function in this thread must return a promise. */
  readonly transformTimeoutMs?: number | undefined
}

/** Only for a source such as `servicenow:TABLE`: what to do with documents of deleted rows. */
export interface DeletionOptions {
  /**
   * Default `keep`. `reconcile`: after the load, Sluice compares the index with the ids of all rows, and deletes
   * documents without a row. The index must hold nothing else. Throws DELETIONS_TOO_MANY, DELETIONS_INDEX_SHARED. A run
   * that did not read everything deletes nothing. With `swapAlias` there is nothing to delete.
   */
  readonly deletions?: 'keep' | 'reconcile' | undefined
  /** With `reconcile`: documents that one run may delete, as a count, or as a share of the index. Default `10%`. */
  readonly maxDeleted?: RejectionLimit | undefined
  /**
   * With `reconcile`: shortest time between two comparisons, in milliseconds, for runs that read only changes.
   * Default: each run compares.
   */
  readonly reconcileEveryMs?: number | undefined
}

export interface GuardedOptions {
  /**
   * Makes a guarded load, instead of `index`. Documents go into a fresh index, `swapAlias-RUN`, without refreshes and
   * replicas. Then Sluice restores the settings, checks the index, and switches the alias in one step. Until then the
   * alias does not change (ALIAS_CONFLICT, LOAD_CHECK_FAILED). The previous index stays for `rollback`.
   */
  readonly swapAlias?: string | undefined
  /** The body of `PUT /INDEX`. Default: settings and mappings of the previous index. Index templates also apply. */
  readonly indexBody?: Readonly<Record<string, unknown>> | undefined
  /** A search body, `{ query }`, that must match at least `checkHits` (default 1) of the loaded documents. */
  readonly checkQuery?: Readonly<Record<string, unknown>> | undefined
  readonly checkHits?: number | undefined
}

/** What Sluice does with the index before the first document. */
export interface PreparationOptions {
  /**
   * Turns refreshes and replicas of `index` off for the load, and restores them at its end, also after a failure. The index
   * remembers them, so the next load restores them after a kill. Makes the index if it is missing. For an alias or a data stream:
   * its write index. Needs the privilege `manage`. Default false. A load with `swapAlias` always does this.
   */
  readonly tune?: boolean | undefined
  /**
   * The mapping of `index`: itself, `{ mappings }`, or the answer of `GET /INDEX/_mapping`. If the index is missing, Sluice makes it
   * with this mapping. If not, Sluice compares the two and changes nothing: MAPPING_DIFFERS if a field is missing or different.
   * With `swapAlias` the new index gets it.
   */
  readonly mapping?: Readonly<Record<string, unknown>> | undefined
  /**
   * With `dryRun`: groups the documents by shape and asks the cluster what the index would do with one of each. Nothing is stored.
   * REHEARSAL_REFUSED if it would refuse any. Default false.
   */
  readonly againstIndex?: boolean | undefined
  /**
   * An index template: the body of `PUT /_index_template/NAME` with its `name`, or the answer of GET. Sluice makes it if it is
   * missing, and compares it if not: MAPPING_DIFFERS.
   */
  readonly template?: Readonly<Record<string, unknown>> | undefined
}

/** How documents are stored. */
export interface DocumentOptions {
  /**
   * Default `create`: never overwrites, and is the only operation for data streams. `index` replaces a document with the same id.
   * `update` changes the given fields of a stored document, and `upsert` also creates one. `delete` deletes the document with the id.
   * These three need `ids: 'field'` or `'hash'`.
   */
  readonly op?: Operation | undefined
  /** With a field in `index`: most indices that one run may fill, 1 to 1,000. Default 100. One more is TOO_MANY_INDICES. */
  readonly maxIndices?: number | undefined
  /** Field that holds the routing value: a path, as in `customer.region`. */
  readonly routingField?: string | undefined
  /**
   * With `op` index or delete: field that holds the version of the document, a path. A whole number, as a number or a string, or a date.
   * A document that is older than the stored one changes nothing, and counts as `older`.
   */
  readonly versionField?: string | undefined
  /**
   * Fields that hold `_seq_no` and `_primary_term` of the document when it was read, paths. If the document has changed since then, it is
   * rejected with status 409. Fields of the names `_seq_no` and `_primary_term` are not sent as part of the document.
   */
  readonly ifSeqNoField?: string | undefined
  readonly ifPrimaryTermField?: string | undefined
  /**
   * With `op` update or upsert: the text of a painless script that changes the stored document. The fields of each line are its `params`.
   * With upsert, a new document is empty before the script runs. Sluice does not send a line again that the script may have seen,
   * unless `resendUnknown` is set.
   */
  readonly script?: string | undefined
  /** The id of a script that the cluster stores, instead of `script`. */
  readonly scriptId?: string | undefined
  /** How often Elasticsearch repeats an update if another request changes the document at the same moment: 0 to 100. Default 3. */
  readonly retryOnConflict?: number | undefined
  /** Ingest pipeline. Default: the index's own. */
  readonly pipeline?: string | undefined
  /** What to do if the id already exists, with ids from a field. Default `reject`. */
  readonly onConflict?: 'reject' | 'skip' | undefined
  /**
   * File for rejected documents. With `false`, take them from the `rejected` event. Default
   * `sluice-dead-letters-RUN.ndjson` in the working folder.
   */
  readonly deadLetters?: string | false | undefined
  /**
   * Allowed number of rejected documents, or a share (`1%`) from 1,000 documents on. Default: any number. One more is
   * TOO_MANY_REJECTED. With `swapAlias` and without a limit the load continues, but the alias is not switched.
   */
  readonly maxRejected?: RejectionLimit | undefined
}

/** How large a bulk request gets. Sluice sends it when the first of these limits is reached. */
export interface BodyOptions {
  /** 1,000 to 100,000,000 bytes. Default 5,000,000, or less after the cluster found a body too large. */
  readonly batchBytes?: number | undefined
  /** Default: no limit. */
  readonly batchDocs?: number | undefined
  /** How long the first document may wait, in milliseconds. Default 1,000. */
  readonly batchMs?: number | undefined
  /** Default `auto`: gzip, except on loopback, because bytes through a proxy are metered and slow. */
  readonly compress?: 'auto' | 'gzip' | 'none' | undefined
}

/** How long to retry, and what to do if access is lost. */
export interface RetryOptions {
  /** How long one body may be refused or unanswered before the run stops, in milliseconds. Default 900,000. */
  readonly maxElapsedMs?: number | undefined
  /**
   * What to do if a proxy, an IP filter, credentials or an index refuse access during a run. Default `stop`: Sluice
   * keeps the position and reports the cause. `wait` (30 minutes) or `{ waitMs }`: Sluice sends no documents, and
   * probes slowly with fresh connections. Sending continues as soon as 16 of them in a row succeed. If the time is
   * over, Sluice stops.
   */
  readonly onBlock?: 'stop' | 'wait' | { readonly waitMs: number } | undefined
  /**
   * Returns new credentials. Called before each probe while the run waits after a 401 or 407. Fields that are left
   * out stay unchanged. If the function throws, Sluice tries the old credentials again.
   */
  readonly refreshCredentials?: (() => FreshCredentials | Promise<FreshCredentials>) | undefined
}

/** When a run ends before its inputs do. */
export interface EndingOptions {
  /**
   * Longest duration of the run, in milliseconds. The run stops earlier, to finish requests and the checkpoint: by
   * `graceMs`, but at most by a quarter of the budget. Then `ingest` throws TIME_BUDGET_SPENT with the receipt.
   * Default: any time.
   */
  readonly timeBudgetMs?: number | undefined
  /** Start of the time budget, in milliseconds since the epoch. Default: the call. */
  readonly startedAt?: number | undefined
  /**
   * Bytes that may go over the wire to the cluster, in both directions, with TLS and preflight. Sluice does not send
   * a request that could exceed this budget, and `ingest` throws BYTE_BUDGET_SPENT with the receipt. OPTION_INVALID
   * if preflight and one request do not fit. Default: any number.
   */
  readonly byteBudget?: number | undefined
  /**
   * How long open requests may take once the run was interrupted, in milliseconds. Then Sluice closes their
   * connections, and their documents are `unknown`: a resume sends them again, unless the cluster makes the ids.
   * Default 25,000.
   */
  readonly graceMs?: number | undefined
}

/** State that outlives the process. */
export interface StateOptions {
  /**
   * Folder for checkpoints and locks, made if missing. After an interruption, the same call continues each file at
   * its position and skips loaded files. RUN_LOCKED if another run with this folder is loading the same file into the
   * same index. Default: no checkpoint and no lock.
   */
  readonly stateDir?: string | undefined
  /**
   * Names the run. Sluice makes its ids from the name, the target and each input's name, size and first 64 KiB, so a
   * repeated run stores nothing twice, also without its checkpoint. Letters, digits, `.`, `_` and `-`. Default: a new
   * name and random ids.
   */
  readonly runId?: string | undefined
  /**
   * How many runs the state folder keeps, and for how many days. The oldest ones are removed, unless something of them is left to load.
   * Sluice still knows their inputs, but cannot verify or undo them. Default 1,000 runs and 90 days.
   */
  readonly keepRuns?: number | undefined
  readonly keepDays?: number | undefined
  /** Load again what a checkpoint calls finished, as a new run. Default false. */
  readonly again?: boolean | undefined
}

/** Options of a load. Needs `source`, `target`, and one of `index` and `swapAlias`. */
export interface IngestOptions
  extends
    ConnectOptions,
    InputOptions,
    DeletionOptions,
    GuardedOptions,
    PreparationOptions,
    DocumentOptions,
    BodyOptions,
    RetryOptions,
    EndingOptions,
    StateOptions,
    TransformOptions {
  /** The ServiceNow instance for sources such as `servicenow:TABLE`. Sluice connects through the same proxy. */
  readonly servicenow?: ServiceNowOptions | undefined
  /** How Sluice reaches sources such as `https://HOST/PATH` and `s3://BUCKET/KEY`. */
  readonly remote?: RemoteOptions | undefined
  /** Only for a source such as `servicenow:TABLE`. */
  readonly table?: TableOptions | undefined
  /** How documents are edited before they are sent. */
  readonly edits?: EditOptions | undefined
  /** Index, alias or data stream. A name that Elasticsearch would refuse is INDEX_NAME_INVALID. */
  readonly index?: string | undefined
  /**
   * Source of `_id`s. Default `run`: Sluice makes ids, so that a retry or a resume stores nothing twice. Another run
   * makes other ids, unless both have the same `runId`. `field` and `hash` need `idField`: the values of its fields, or the
   * SHA-256 of these in hex. With `cluster`, documents without an answer count as `unknown`, and Sluice does not send them again.
   */
  readonly ids?: Ids['from'] | undefined
  /**
   * Send documents again if their answer was lost, even if the target may then store them twice: with `ids: 'cluster'`, or through
   * Elastic's managed ingest endpoint. With other ids Sluice always does. Default false.
   */
  readonly resendUnknown?: boolean | undefined
  /**
   * Fields with strings or numbers that make the id, as in `branch,order.no`. A dot leads into an object or is part of a name, and `\,`
   * is a comma in a name. Without one of them, or with more than 512 bytes, a document is rejected.
   */
  readonly idField?: string | undefined
  /** One visible ASCII character between the values of several fields. In a value it gets a backslash. Default `|`. */
  readonly idSeparator?: string | undefined
  /**
   * Writes stdin to the state folder and loads it from there, so that a run can continue although stdin cannot be
   * read twice. If the load stops, Sluice still takes stdin to its end. A producer that repeats its data is loaded
   * again, unless `runId`, `ids: 'field'` or `'hash'` makes the ids the same. Needs `stateDir`. Default false.
   */
  readonly spool?: boolean | undefined
  /**
   * With `spool`: most bytes on the disk for one stdin, 1,000,000 or more. At two thirds of the limit Sluice stops
   * reading stdin until the oldest bytes are loaded and deleted. Compressed data, a JSON array, and all data after
   * the load has stopped cannot be deleted in parts: beyond the limit the run fails with STATE_UNWRITABLE. Default:
   * any number.
   */
  readonly spoolLimit?: number | undefined
  /**
   * Checks route and inputs, but sends and writes nothing. Documents that a load would send count as `unsent`. Reads the
   * state, if there is one: the receipt lists what a load would do with each input. Default false.
   */
  readonly dryRun?: boolean | undefined
  /**
   * Follows NDJSON files that grow: loads what is there, then what is appended and files that newly match, until `signal` aborts.
   * Then `ingest` loads what is there up to the last line feed, and resolves to the receipt. Needs `stateDir`. Default false.
   */
  readonly follow?: boolean | undefined
  /** With `follow`: how often Sluice looks for new lines, in milliseconds. Default 1000. */
  readonly pollMs?: number | undefined
  /** Called for every event of the run, until it throws. The run continues without it. */
  readonly onEvent?: ((event: IngestEvent) => void) | undefined
}

/** Bytes over the wire so far, in both directions, and the budget. */
interface WireUse {
  readonly bytes: number
  readonly budget: number
}

/** Rows of a table that were read, and the total, if the platform reported one. */
interface RowsRead {
  readonly read: number
  readonly total: number
}

/** Options that the dead letters contain. */
type InLetters =
  | 'op'
  | 'maxIndices'
  | 'ids'
  | 'idField'
  | 'idSeparator'
  | 'routingField'
  | 'versionField'
  | 'ifSeqNoField'
  | 'ifPrimaryTermField'
  | 'script'
  | 'scriptId'
  | 'retryOnConflict'
  | 'format'
  | 'pick'
  | 'csv'
  | 'remote'
  | 'edits'
  | 'follow'
  | 'pollMs'

/** Dead letters, where to, and how. */
export interface ReplayOptions extends Omit<
  IngestOptions,
  'source' | InLetters | keyof GuardedOptions | keyof PreparationOptions | keyof TransformOptions
> {
  /** Paths, globs, or `-` (with `stdin` and `index`): files that `ingest` or `replay` wrote, gzip or not. */
  readonly source: string | readonly string[]
  /** Index for all documents. Default: each goes to its original index. */
  readonly index?: string | undefined
  /** Ingest pipeline for all documents. Default: each uses its original pipeline. */
  readonly pipeline?: string | undefined
}

/** Where a run stands. */
export interface StandingEvent {
  readonly type: 'standing'
  /** Counts of the whole run, with those of earlier processes. */
  readonly ofRun: Counts
  /** Stored bytes of the run's files that are read, and all of them. Absent if an input has no size. */
  readonly bytes?: { readonly read: number; readonly total: number }
  /** The number of the input that is being read, and how many there are. 0 before the first one. */
  readonly file?: { readonly number: number; readonly of: number }
  /** Batches that were read, and have no outcome yet. */
  readonly underWay: number
  /** The run reads and sends nothing more, and waits for the batches under way. */
  readonly isStopping?: true
}

/** Events of a run, in the order in which they happen. */
export type IngestEvent =
  /**
   * The route is open. `missChance`: chance from 0 to 1 that one of two addresses is still blocked. `notes`: how the
   * proxy was chosen.
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
  /** The inputs are found. What is known of each comes next. */
  | { readonly type: 'planning'; readonly inputs: number }
  /** It is known which run this is: a new one, or one that continues. */
  | { readonly type: 'begun'; readonly run: string }
  /**
   * Reading of an input begins, or continues with the document `resumedAt`. `since`: for a table, only changes since
   * then are read.
   */
  | { readonly type: 'input'; readonly name: string; readonly resumedAt?: number; readonly since?: string }
  /** How Sluice reads a CSV input: delimiter, encoding and columns, as it found them or as options say. */
  | { readonly type: 'format'; readonly name: string; readonly found: string }
  /** An input was loaded before, and has nothing new. */
  | { readonly type: 'loaded'; readonly name: string }
  /** A file that is followed is new, or was renamed, truncated or deleted. */
  | { readonly type: 'followed'; readonly name: string; readonly message: string }
  /**
   * The outcomes of a batch were booked. `bytesRead`: decoded bytes. `wire`: only with a byte budget. `rows`: only
   * for a table.
   */
  | {
      readonly type: 'progress'
      readonly counts: Counts
      readonly bytesRead: number
      readonly wire?: WireUse
      readonly rows?: RowsRead
    }
  /** Sent when loading begins, whenever a batch is read or has its outcomes, and when the run begins to stop. */
  | StandingEvent
  /** All is loaded, and documents of rows that were deleted are looked for. */
  | { readonly type: 'deletions'; readonly mode: 'reconcile'; readonly index: string }
  /** A request will be sent again, whole or in part, after `waitMs`. */
  | { readonly type: 'retry'; readonly failure: Failure; readonly documents: number; readonly waitMs: number }
  /**
   * Access is lost, and the run waits (`onBlock`). Sent when the wait begins, and again after each refused probe.
   * `since`: when access was lost, in ISO 8601. `problem`: a different failure of the last probe.
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
  /** Access is back. `failure`: the cause of the wait. `waitedMs`: its duration. */
  | { readonly type: 'unblocked'; readonly failure: Failure; readonly waitedMs: number }
  /** Documents were rejected. The listener may keep these copies. */
  | { readonly type: 'rejected'; readonly documents: readonly Refused[] }
  /** An input could not be read to its end, the egress check named no address, or a resume is not what one might expect. */
  | { readonly type: 'warning'; readonly message: string }
