/** Defines the options of a load behind the door: checked, complete with defaults, frozen. */
import type { JsonObject } from '../base/json/parse-json.js'
import type { IndexPattern } from '../base/text/index-pattern.js'
import type { SourceUrl } from '../base/text/source-url.js'
import type { Ids, Script } from '../base/operation.js'
import type { IngestSource } from '../pipeline/source/open-sources.js'
import type { RangeList } from '../pipeline/source/ranges.js'
import type {
  EditOptions,
  IngestOptions,
  InputOptions,
  RemoteOptions,
  RetryOptions,
  TransformFunction,
} from './ingest-options.js'
import type {
  ProxyOptions,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
  TargetOptions,
} from './connect-options.js'
import type { MappingWord } from './option-checks.js'
import type { LoadSection } from './option.js'
import type { Apart, Defaulted, StagedIn } from './describe-option.js'
import type { IngestEvent } from './run-events.js'

/** Every option as the library describes it. Those with a default, and those of `D`, are never undefined. */
export type Complete<T, D = never> = { readonly [P in keyof T]-?: P extends D | Defaulted ? NonNullable<T[P]> : T[P] }

/** The options that the table puts into a section. */
export type Section<S extends LoadSection> = Complete<Apart<Pick<IngestOptions, StagedIn<S> & keyof IngestOptions>>>

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
  /** Set if the inputs are indices of another cluster. */
  readonly from: FromSection | undefined
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
export interface ConnectSection extends Omit<Section<'connecting'>, 'ipCheckUrl'> {
  readonly target: TargetOptions
  readonly proxy: ProxySection
  readonly ipCheckUrl: URL | undefined
  /** The open connection to use. Undefined: the load opens one. */
  readonly openedWith: unknown
  /** Time limit for building one connection, if the user set one for requests. */
  readonly connectTimeoutMs: number | undefined
}

/** The proxy, and when to use it. */
export interface ProxySection extends Complete<Omit<ProxyOptions, 'url'>, 'origin' | 'environmentOrigin'> {
  /** Complete, with credentials. */
  readonly url: string | undefined
}

export interface InputSection extends Section<'inputs'>, Complete<Pick<InputOptions, 'stdin' | 'csv'>> {
  readonly source: IngestSource | RangeList
}

export interface DocumentSection extends Omit<Section<'documents'>, 'script'> {
  /** The name that the user gave: an index or a data stream, or the alias of a guarded load. */
  readonly into: string
  /** Set if fields of each document name its index. */
  readonly indexPattern: IndexPattern | undefined
  /** A replay has `{ from: 'cluster' }`: its dead letters carry their ids. */
  readonly ids: Ids
  readonly script: Script | undefined
}

/** `batchDocs` is `Infinity` without a limit. */
export interface BatchSection extends Section<'batching'> {}

export interface RetrySection extends Section<'retrying'>, Complete<Pick<RetryOptions, 'refreshCredentials'>> {
  /** How long to wait for lost access. 0 stops at once. */
  readonly blockWaitMs: number
  /** Source of a new proxy URL, for messages. */
  readonly freshProxyOrigin: string
}

export interface StopSection extends Section<'stopping'>, Complete<Pick<IngestOptions, 'startedAt' | 'signal'>> {}

export interface TrafficSection extends Section<'traffic'> {}

export interface StateSection extends Section<'state'> {}

/** How to reach an instance of ServiceNow. */
export interface InstanceSection extends Complete<Omit<ServiceNowConnection, 'proxy' | 'signal' | 'onWarning'>> {
  readonly proxy: ProxySection
  /** Undefined if no time limit is set. */
  readonly connectTimeoutMs: number | undefined
}

export interface GuardedSection extends Section<'guarded'> {
  readonly alias: string
  /** Set for a load that an earlier process may have finished up to the switch: the alias may be on the index already. */
  readonly mayBeSwitched?: boolean
}

export interface PreparationSection extends Omit<Section<'preparing'>, 'mapping' | 'template'> {
  /** `infer`: Sluice proposes it. */
  readonly mapping: JsonObject | MappingWord | undefined
  readonly template: IndexTemplate | undefined
}

export interface IndexTemplate {
  readonly name: string
  /** The body of `PUT /_index_template/NAME`. */
  readonly body: JsonObject
}

export interface TableSection {
  /** Each once: `incident`, not `servicenow:incident`. */
  readonly names: readonly string[]
  readonly servicenow: ServiceNowOptions
  readonly selection: Complete<TableOptions>
  /** Undefined if documents of deleted rows stay. */
  readonly deletions: DeletionSection | undefined
}

export interface DeletionSection extends Section<'deletions'> {}

/** How to reach inputs on servers. */
export interface RemoteSection extends Complete<RemoteOptions, 'throughProxy'> {
  /** By the names that inputs have instead: these hold no secrets. */
  readonly addresses: ReadonlyMap<string, SourceUrl>
}

/** Another cluster whose indices are read. */
export interface FromSection {
  /** Indices, aliases and data streams, with wildcards. */
  readonly names: readonly string[]
  readonly connecting: ConnectSection
  /** The value of `query`. Undefined: all documents. */
  readonly query: JsonObject | undefined
}

export interface FollowSection extends Section<'follow'> {}

export interface EditSection extends Complete<EditOptions> {}

export interface TransformSection {
  /** Path of its module, or the function itself. */
  readonly transform: TransformFunction | string
  readonly timeoutMs: number
}

export interface SpoolSection {
  /** Most bytes on the disk. Undefined: any number. */
  readonly limit: number | undefined
}
