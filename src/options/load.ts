/** Defines the options of a load behind the door: checked, complete with defaults, frozen. */
import type { JsonObject } from '../base/json/parse-json.js'
import type { IndexTemplate } from './mapping-files.js'
import type { IndexPattern } from '../base/text/index-pattern.js'
import type { SourceUrl } from '../base/text/source-url.js'
import type { Ids } from '../pipeline/bulk/action-line.js'
import type { IngestSource } from '../pipeline/source/open-sources.js'
import type { RangeList } from '../pipeline/source/ranges.js'
import type { Script } from '../base/operation.js'
import type {
  BodyOptions,
  DeletionOptions,
  DocumentOptions,
  GuardedOptions,
  PreparationOptions,
  InputOptions,
  RemoteOptions,
  RetryOptions,
  EditOptions,
  StateOptions,
  TrafficOptions,
  EndingOptions,
  TransformFunction,
} from './ingest-options.js'
import type {
  ConnectOptions,
  ProxyOptions,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
} from './connect-options.js'
import type { IngestEvent } from './run-events.js'

/** Every option as the library describes it. Those of `D` have a default, others are undefined if not set. */
type Complete<T, D extends keyof T> = { readonly [P in keyof T]-?: P extends D ? NonNullable<T[P]> : T[P] }

/** The options of one load. Each stage takes its own section. */
export interface Load {
  readonly dryRun: boolean
  readonly onEvent: ((event: IngestEvent) => void) | undefined
  readonly connecting: ConnectSection
  readonly inputs: InputSection
  readonly documents: DocumentSection
  readonly batching: BatchSection
  readonly retrying: RetrySection
  readonly stopping: StopSection
  readonly traffic: TrafficSection
  readonly state: StateSection
  readonly preparing: PreparationSection
  /** Set if an alias is switched to a fresh index after the load. */
  readonly guarded: GuardedSection | undefined
  /** Set if the inputs are tables. */
  readonly tables: TableSection | undefined
  /** Set if inputs lie on servers. */
  readonly remote: RemoteSection | undefined
  /** Set if stdin is written to the state folder first. */
  readonly spool: SpoolSection | undefined
  /** Set if documents are edited on their way. */
  readonly edits: EditSection | undefined
  /** Set if the files are followed while they grow. */
  readonly follow: FollowSection | undefined
  /** Set if a function makes other documents of them. */
  readonly transform: TransformSection | undefined
}

/** How to reach a cluster. */
export interface ConnectSection extends Complete<
  Omit<ConnectOptions, 'proxy' | 'ipCheckUrl' | 'signal'>,
  'target' | 'concurrency' | 'preflightConnections' | 'timeoutMs'
> {
  readonly proxy: ProxySection
  readonly ipCheckUrl: URL | undefined
  /** The open connection to use. Undefined: the load opens one. */
  readonly openedWith: unknown
  /** Time limit for building one connection, if the user set one for requests. */
  readonly connectTimeoutMs: number | undefined
}

/** The proxy, and when to use it. */
export interface ProxySection extends Complete<
  Omit<ProxyOptions, 'url'>,
  'origin' | 'environmentOrigin' | 'direct' | 'requireProxy'
> {
  /** Complete, with credentials. */
  readonly url: string | undefined
}

export interface InputSection extends Complete<Omit<InputOptions, 'source'>, 'format'> {
  readonly source: IngestSource | RangeList
}

export interface DocumentSection extends Complete<
  Omit<DocumentOptions, 'script' | 'scriptId'>,
  'op' | 'onConflict' | 'maxIndices'
> {
  /** The name that the user gave: an index or a data stream, or the alias of a guarded load. */
  readonly into: string
  /** Set if fields of each document name its index. */
  readonly indexPattern: IndexPattern | undefined
  /** A replay has `{ from: 'cluster' }`: its dead letters carry their ids. */
  readonly ids: Ids
  readonly script: Script | undefined
  readonly resendUnknown: boolean
}

/** `batchDocs` is `Infinity` without a limit. */
export interface BatchSection extends Complete<BodyOptions, keyof BodyOptions> {}

export interface RetrySection extends Complete<Omit<RetryOptions, 'onBlock'>, 'maxElapsedMs'> {
  /** How long to wait for lost access. 0 stops at once. */
  readonly blockWaitMs: number
  /** Source of a new proxy URL, for messages. */
  readonly freshProxyOrigin: string
}

export interface StopSection extends Complete<EndingOptions & Pick<ConnectOptions, 'signal'>, 'graceMs'> {}

export interface TrafficSection extends Complete<TrafficOptions, 'planDay' | 'planLimit'> {}

export interface StateSection extends Complete<StateOptions, 'again' | 'keepRuns' | 'keepDays'> {}

/** How to reach an instance of ServiceNow. */
export interface InstanceSection extends Complete<
  Omit<ServiceNowConnection, 'proxy' | 'signal' | 'onWarning'>,
  'servicenow' | 'concurrency' | 'preflightConnections' | 'timeoutMs' | 'maxElapsedMs'
> {
  readonly proxy: ProxySection
  /** Undefined if no time limit is set. */
  readonly connectTimeoutMs: number | undefined
}

export interface GuardedSection extends Complete<Omit<GuardedOptions, 'swapAlias'>, 'checkHits'> {
  readonly alias: string
  /** Set for a load that an earlier process may have finished up to the switch: the alias may be on the index already. */
  readonly mayBeSwitched?: boolean
}

export interface PreparationSection extends Complete<
  Omit<PreparationOptions, 'mapping' | 'template'>,
  'tune' | 'againstIndex'
> {
  readonly mapping: JsonObject | undefined
  readonly template: IndexTemplate | undefined
}

export interface TableSection {
  /** Each once: `incident`, not `servicenow:incident`. */
  readonly names: readonly string[]
  readonly servicenow: ServiceNowOptions
  readonly selection: Complete<TableOptions, 'displayValue' | 'pageSize'>
  /** Undefined if documents of deleted rows stay. */
  readonly deletions: DeletionSection | undefined
}

export interface DeletionSection extends Complete<
  Omit<DeletionOptions, 'deletions'>,
  'maxDeleted' | 'reconcileEveryMs'
> {}

/** How to reach inputs on servers. */
export interface RemoteSection extends Complete<RemoteOptions, 'throughProxy'> {
  /** By the names that inputs have instead: these hold no secrets. */
  readonly addresses: ReadonlyMap<string, SourceUrl>
}

export interface FollowSection {
  /** How often to look for new lines. */
  readonly pollMs: number
}

export interface EditSection extends Complete<EditOptions, never> {}

export interface TransformSection {
  /** Path of its module, or the function itself. */
  readonly transform: TransformFunction | string
  readonly timeoutMs: number
}

export interface SpoolSection {
  /** Most bytes on the disk. Undefined: any number. */
  readonly limit: number | undefined
}
