/** Defines the options of a load behind the door: checked, complete with defaults, frozen. */
import type { Readable } from 'node:stream'
import type { Ids } from '../bulk/action-line.js'
import type { Operation, RejectionLimit } from '../flow.js'
import type { Format } from '../format/decode.js'
import type { IngestSource } from '../source/open-sources.js'
import type { FreshCredentials, IngestEvent, ServiceNowOptions, TargetOptions } from './ingest-options.js'

/**
 * The options of one load. Each stage takes its own section. `undefined` in a section: the user set nothing and there
 * is no default.
 */
export interface Load {
  readonly connecting: ConnectSection
  readonly inputs: InputSection
  readonly documents: DocumentSection
  readonly batching: BatchSection
  readonly retrying: RetrySection
  readonly stopping: StopSection
  readonly state: StateSection
  /** Set if an alias is switched to a fresh index after the load. */
  readonly guarded: GuardedSection | undefined
  /** Set if the inputs are tables. */
  readonly tables: TableSection | undefined
  /** Set if stdin is written to the state folder first. */
  readonly spool: SpoolSection | undefined
  /** Read and check everything, send nothing. */
  readonly dryRun: boolean
  readonly onEvent: ((event: IngestEvent) => void) | undefined
}

/** How to reach a cluster. */
export interface ConnectSection {
  readonly target: TargetOptions
  readonly proxy: ProxySection
  /** Most connections of the pool, and most bulk requests under way at once. */
  readonly concurrency: number
  /** Test connections before the first document. 0 means one. */
  readonly preflightConnections: number
  /** Time limit of one request. */
  readonly timeoutMs: number
  /** The two addresses of the provider's dashboard. */
  readonly staticIps: readonly string[] | undefined
  readonly ipCheckUrl: URL | undefined
}

/** The proxy, and when to use it. */
export interface ProxySection {
  /** Complete, with credentials. */
  readonly url: string | undefined
  /** The flag, variable or file that set `url`, for messages. */
  readonly origin: string
  /** PEM of the CA that signed the proxy's own certificate. */
  readonly ca: string | Buffer | undefined
  /** The value of HTTPS_PROXY. */
  readonly environmentProxy: string | undefined
  readonly environmentOrigin: string
  /** The value of NO_PROXY. */
  readonly noProxy: string | undefined
  readonly direct: boolean
  readonly requireProxy: boolean
}

/** The sources of documents, and how to read them. */
export interface InputSection {
  readonly source: IngestSource
  /** Bytes for the input `-`. */
  readonly stdin: Readable | undefined
  readonly format: Format
  /** Path of the array inside a JSON document. */
  readonly pick: string | undefined
}

/** How documents are stored. */
export interface DocumentSection {
  /** The name that the user gave: an index or a data stream, or the alias of a guarded load. */
  readonly into: string
  readonly op: Operation
  /** A replay has `{ from: 'cluster' }`: its dead letters carry their ids. */
  readonly ids: Ids
  readonly routingField: string | undefined
  readonly pipeline: string | undefined
  readonly onConflict: 'reject' | 'skip'
  /** Undefined: a file named after the run. False: no file. */
  readonly deadLetters: string | false | undefined
  readonly maxRejected: RejectionLimit | undefined
}

/** How large a bulk request gets. */
export interface BatchSection {
  readonly batchBytes: number
  /** `Infinity` without a limit. */
  readonly batchDocs: number
  readonly batchMs: number
  readonly compress: 'auto' | 'gzip' | 'none'
}

/** How long to retry, and what to do if access is lost. */
export interface RetrySection {
  readonly maxElapsedMs: number
  /** How long to wait for lost access. 0 stops at once. */
  readonly blockWaitMs: number
  /** Source of a new proxy URL, for messages. */
  readonly freshProxyOrigin: string
  readonly refreshCredentials: (() => FreshCredentials | Promise<FreshCredentials>) | undefined
}

/** When a run ends before its inputs do. */
export interface StopSection {
  readonly signal: AbortSignal | undefined
  /** How long requests under way may take after that. */
  readonly graceMs: number
  readonly timeBudgetMs: number | undefined
  /** Start of the time budget, in milliseconds since the epoch. */
  readonly startedAt: number | undefined
  readonly byteBudget: number | undefined
}

/** State that outlives the process. */
export interface StateSection {
  /** Folder for checkpoints and locks. Undefined: no checkpoint and no lock. */
  readonly stateDir: string | undefined
  readonly runId: string | undefined
  /** Load again what a checkpoint calls finished. */
  readonly again: boolean
}

/** How to reach an instance of ServiceNow. */
export interface InstanceSection {
  readonly servicenow: ServiceNowOptions
  readonly proxy: ProxySection
  readonly concurrency: number
  readonly preflightConnections: number
  readonly timeoutMs: number
  readonly maxElapsedMs: number
}

export interface GuardedSection {
  readonly alias: string
  /** Body of `PUT /INDEX`. Undefined: settings and mappings of the previous index. */
  readonly indexBody: Readonly<Record<string, unknown>> | undefined
  readonly checkQuery: Readonly<Record<string, unknown>> | undefined
  /** Documents that `checkQuery` has to match. */
  readonly checkHits: number
}

export interface TableSection {
  /** Each once: `incident`, not `servicenow:incident`. */
  readonly names: readonly string[]
  readonly servicenow: ServiceNowOptions
  readonly selection: SelectionSection
  /** Undefined: documents of deleted rows stay. */
  readonly deletions: DeletionSection | undefined
}

/** The rows of a table to read, and their fields. */
export interface SelectionSection {
  /** Encoded query. Undefined: every row. */
  readonly query: string | undefined
  /** Undefined: every field. */
  readonly fields: readonly string[] | undefined
  readonly displayValue: 'false' | 'true' | 'all'
  /** Rows of one request. */
  readonly pageSize: number
}

export interface DeletionSection {
  readonly mode: 'audit' | 'reconcile'
  /** With `reconcile`: documents that one run may delete. */
  readonly maxDeleted: RejectionLimit
  /** With `reconcile`: shortest time between two comparisons. 0 compares in each run. */
  readonly reconcileEveryMs: number
}

export interface SpoolSection {
  /** Most bytes on the disk. Undefined: any number. */
  readonly limit: number | undefined
}
