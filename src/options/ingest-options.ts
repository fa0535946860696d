import type { Readable } from 'node:stream'
import type { JsonObject } from '../base/json/parse-json.js'
import type { Ids, Operation } from '../base/operation.js'
import type { RejectionLimit } from '../base/flow.js'
import type { CsvOptions, Format } from '../pipeline/format/formats.js'
import type { IngestSource } from '../pipeline/source/open-sources.js'
import type { ConnectOptions, FreshCredentials, ServiceNowOptions, TableOptions } from './connect-options.js'
import type { IngestEvent } from './run-events.js'

/** How to reach inputs on servers. For S3, credentials, region and endpoint come from the environment, as the AWS SDK finds them. */
export interface RemoteOptions {
  /** Reach them through the static-IP proxy. Default false: Sluice connects directly. */
  readonly throughProxy?: boolean | undefined
  /** PEM of the CA that signed the certificates of the servers. Default: the CAs that Node trusts. */
  readonly ca?: string | Buffer | undefined
  /** Bearer token for the server of http and https URLs without a login of their own. */
  readonly token?: string | undefined
}

/** The cluster of sources such as `elasticsearch:orders`, and how to reach it. */
export interface FromOptions {
  /** `https://HOST:PORT`. */
  readonly url: string | URL
  readonly apiKey?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** PEM of the CA that signed its certificate. Default: the CAs that Node trusts. */
  readonly ca?: string | Buffer | undefined
  /** URL of the proxy to it. Default: Sluice reads it directly. */
  readonly proxy?: string | URL | undefined
  /** The documents must match it: `{"query": …}`. Default: all documents. */
  readonly query?: JsonObject | undefined
}

/** The sources of documents, and how to read them. */
export interface InputOptions {
  /** Paths, globs, URLs (http, https, `s3://BUCKET/KEY`), `-` (with `stdin`), a byte stream, or an (async) iterable of documents. */
  readonly source: IngestSource
  /** The stream that the source `-` reads. */
  readonly stdin?: Readable | undefined
  /** Default `auto`: JSON if the input starts with `[`, CSV if its name and its content say so, otherwise NDJSON. `text` makes a document of each line. */
  readonly format?: Format | undefined
  /** How CSV is read. */
  readonly csv?: CsvOptions | undefined
  /** Path of the array of documents inside a JSON document: `hits.items`. */
  readonly pick?: string | undefined
  /** Of an archive: names of the files to read, with wildcards, separated by commas. Default: all that hold documents. */
  readonly members?: string | undefined
  /** Of a workbook (.xlsx): the name of the sheet to read. Default: the first one that is not hidden. */
  readonly sheet?: string | undefined
}

/**
 * A value to set. A string may hold `{now}`, `{file}`, `{path}` and `{line}`. `json`: any JSON as it is to stand in the document, so
 * that no digit is lost, or `{line}` as a number.
 */
export type SetValue = string | number | boolean | null | { readonly json: string }

export const placeholders = ['now', 'file', 'path', 'line'] as const

/** Finds placeholders, and what somebody probably took for one. */
export const IN_BRACES = /\{([A-Za-z_]+)\}/g

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

/** Files that grow. */
interface FollowOptions {
  /**
   * Follows NDJSON files that grow: loads what is there, then what is appended and files that newly match, until `signal` aborts.
   * Then `ingest` loads what is there up to the last line feed, and resolves to the receipt. Needs `stateDir`. Default false.
   */
  readonly follow?: boolean | undefined
  /** With `follow`: how often Sluice looks for new lines, in milliseconds. Default 1000. */
  readonly pollMs?: number | undefined
}

/** Only for a source such as `servicenow:TABLE`: what to do with documents of deleted rows. */
interface DeletionOptions {
  /**
   * Default `keep`. `reconcile`: after the load, Sluice compares the index with the ids of all rows, and deletes
   * documents without a row. The index must hold nothing else. Throws DELETIONS_TOO_MANY, DELETIONS_INDEX_SHARED. A run
   * that did not read everything deletes nothing. With `swapAlias` there is nothing to delete. `{ reconcileEveryMs }`: reconciles, and
   * leaves at least this time between two comparisons, in milliseconds, for runs that read only changes. Default: each run compares.
   */
  readonly deletions?: 'keep' | 'reconcile' | { readonly reconcileEveryMs: number } | undefined
  /** With `reconcile`: documents that one run may delete, as a count, or as a share of the index. Default `10%`. */
  readonly maxDeleted?: RejectionLimit | undefined
  /** @deprecated Use `deletions: { reconcileEveryMs }`. */
  readonly reconcileEveryMs?: number | undefined
}

interface GuardedOptions {
  /**
   * Makes a guarded load, instead of `index`. Documents go into a fresh index, `swapAlias-RUN`, without refreshes and
   * replicas. Then Sluice restores the settings, checks the index, and switches the alias in one step. Until then the
   * alias does not change (ALIAS_CONFLICT, LOAD_CHECK_FAILED). The previous index stays for `rollback`.
   */
  readonly swapAlias?: string | undefined
  /** The body of `PUT /INDEX`. Default: settings and mappings of the previous index. Index templates also apply. */
  readonly indexBody?: Readonly<Record<string, unknown>> | undefined
  /** A search body, `{ query }`, that must match at least one of the loaded documents. `{ query, hits }`: at least as many as `hits` says. */
  readonly checkQuery?: Readonly<Record<string, unknown>> | undefined
  /** @deprecated Use `checkQuery: { query, hits }`. */
  readonly checkHits?: number | undefined
}

/** Work on the index before the first document. */
interface PreparationOptions {
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
   *
   * `infer`: Sluice proposes the mapping of a missing index from the first documents of the inputs, and reads cells of CSV as with
   * `inferTypes`. An index that exists keeps its mapping.
   *
   * `copy`, only for sources such as `elasticsearch:INDEX`: Sluice makes a missing index with the mapping of the one that it reads, and
   * with its settings for analysis and limits. MAPPING_DIFFERS if the index exists, and a field has another type. `copy,aliases`: with its
   * aliases, too.
   */
  readonly mapping?: Readonly<Record<string, unknown>> | 'infer' | 'copy' | 'copy,aliases' | undefined
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
interface DocumentOptions {
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
   * Fields that hold `_seq_no` and `_primary_term` of the document when it was read, paths with a comma between them. If the document has changed since then, it is
   * rejected with status 409. Fields of the names `_seq_no` and `_primary_term` are not sent as part of the document.
   */
  readonly ifSeqNoField?: string | undefined
  /** @deprecated Name both fields in `ifSeqNoField`: `_seq_no,_primary_term`. */
  readonly ifPrimaryTermField?: string | undefined
  /**
   * With `op` update or upsert: the text of a painless script that changes the stored document. The fields of each line are its `params`.
   * With upsert, a new document is empty before the script runs. Sluice does not send a line again that the script may have seen,
   * unless `resendUnknown` is set. `{ id }`: a script that the cluster stores.
   */
  readonly script?: string | { readonly id: string } | undefined
  /** @deprecated Use `script: { id }`. */
  readonly scriptId?: string | undefined
  /** How often Elasticsearch repeats an update if another request changes the document at the same moment: 0 to 100. Default 3. */
  readonly retryOnConflict?: number | undefined
  /**
   * Source of `_id`s. Default `run`: Sluice makes ids, so that a retry or a resume stores nothing twice. Another run
   * makes other ids, unless both have the same `runId`. `field` and `hash` need `idField`: the values of its fields, or the
   * SHA-256 of these in hex. With `cluster`, documents without an answer count as `unknown`, and Sluice does not send them again.
   */
  readonly ids?: Ids['from'] | undefined
  /**
   * Fields with strings or numbers that make the id, as in `branch,order.no`. A dot leads into an object or is part of a name, and `\,`
   * is a comma in a name. Without one of them, or with more than 512 bytes, a document is rejected.
   */
  readonly idField?: string | undefined
  /** One visible ASCII character between the values of several fields. In a value it gets a backslash. Default `|`. */
  readonly idSeparator?: string | undefined
}

/** What becomes of documents. */
interface OutcomeOptions {
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
  /**
   * Send documents again if their answer was lost, even if the target may then store them twice: with `ids: 'cluster'`, or through
   * Elastic's managed ingest endpoint. With other ids Sluice always does. Default false.
   */
  readonly resendUnknown?: boolean | undefined
}

/** How large a bulk request gets. Sluice sends it when the first of these limits is reached. */
interface BodyOptions {
  /** 1,000 to 100,000,000 bytes. Default 5,000,000, or less after the cluster found a body too large. */
  readonly batchBytes?: number | undefined
  /** Default: no limit. */
  readonly batchDocs?: number | undefined
  /** How long the first document may wait, in milliseconds. Default 1,000. */
  readonly batchMs?: number | undefined
  /**
   * Default `auto`: gzip if a proxy or a limit may count the bytes. Otherwise Sluice measures in the first seconds whether gzip is
   * slower. On loopback, requests are sent as they are.
   */
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

/** How much traffic a load may make. */
interface TrafficOptions {
  /**
   * Most bytes on the wire per second, in both directions and with retries, or most documents per second. 1,000 bytes or one document
   * at least. Sluice spreads the requests evenly. Default: no limit.
   */
  readonly maxRate?: MaxRate | undefined
  /**
   * Bytes of a month that the proxy's plan holds. Sluice counts in `stateDir` what goes through the proxy while loads with this option run, in
   * this process and in others, and the receipt has `plan`. Needs `stateDir`. Default: Sluice counts nothing. `day`: the month begins on this
   * day, at midnight UTC, 1 to 28. Default 1.
   */
  readonly plan?: number | { readonly bytes: number; readonly day: number } | undefined
  /** @deprecated Use `plan: { bytes, day }`. */
  readonly planDay?: number | undefined
  /**
   * What loads do near the end of the plan. `stop`: a load does not start (PLAN_SPENT), or ends and can be resumed (PLAN_LIMIT_REACHED), when
   * this share of the plan is used, in percent. `slow`: from this share on, a load is so slow that the rest lasts until the month ends. Without a share,
   * `stop` means 100 and `slow` 80. Default `report`.
   */
  readonly planLimit?: PlanLimit | undefined
}

export type PlanLimit = 'report' | 'stop' | 'slow' | { readonly stop: number } | { readonly slow: number }

/** A limit per second. */
export type MaxRate = { readonly bytes: number } | { readonly documents: number }

/** When a run ends before its inputs do. */
interface EndingOptions {
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
interface StateOptions {
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
  readonly keepRuns?: number | { readonly runs?: number; readonly days?: number } | undefined
  /** @deprecated Use `keepRuns: { days }`. */
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
    OutcomeOptions,
    FollowOptions,
    BodyOptions,
    RetryOptions,
    EndingOptions,
    TrafficOptions,
    StateOptions,
    TransformOptions {
  /** The ServiceNow instance for sources such as `servicenow:TABLE`. Sluice connects through the same proxy. */
  readonly servicenow?: ServiceNowOptions | undefined
  /** How Sluice reaches sources such as `https://HOST/PATH` and `s3://BUCKET/KEY`. */
  readonly remote?: RemoteOptions | undefined
  /** Only for a source such as `elasticsearch:INDEX`. */
  readonly from?: FromOptions | undefined
  /** Only for a source such as `servicenow:TABLE`. */
  readonly table?: TableOptions | undefined
  /** How documents are edited before they are sent. */
  readonly edits?: EditOptions | undefined
  /** Index, alias or data stream. A name that Elasticsearch would refuse is INDEX_NAME_INVALID. */
  readonly index?: string | undefined
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
  /** Called for every event of the run, until it throws. The run continues without it. */
  readonly onEvent?: ((event: IngestEvent) => void) | undefined
}

/** Options of a load that the dead letters contain, or that no replay needs. */
type OfIngest =
  | Exclude<keyof InputOptions, 'stdin'>
  | 'remote'
  | 'from'
  | 'edits'
  | keyof DocumentOptions
  | keyof FollowOptions
  | keyof GuardedOptions
  | keyof PreparationOptions
  | keyof TransformOptions

/** Dead letters, where to, and how. */
export interface ReplayOptions extends Omit<IngestOptions, OfIngest> {
  /** Paths, globs, or `-` (with `stdin` and `index`): files that `ingest` or `replay` wrote, gzip or not. */
  readonly source: string | readonly string[]
  /** Index for all documents. Default: each goes to its original index. */
  readonly index?: string | undefined
  /** Ingest pipeline for all documents. Default: each uses its original pipeline. */
  readonly pipeline?: string | undefined
}
