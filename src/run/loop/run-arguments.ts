/** Defines what a run takes beside its options and features. */
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Source } from '../../base/flow.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import type { DecodeOptions } from '../../pipeline/format/decode.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { Feature, Run } from './hooks.js'
import type { Failure } from '../../base/failure/failure.js'
import type { SlotPool } from '../../pipeline/bulk/slots.js'
import type { ResolvedTarget } from '../../route/connect/open-target.js'
import type { BatchSection, ConnectSection, DocumentSection, RetrySection, StateSection } from '../../options/load.js'

/** Each has a default, and at most one feature gives it. */
export interface RunArguments {
  /** The place of inputs that are no files, for example a URL. Part of their locks. */
  readonly origin?: string | undefined
  /** Copies inputs that can be read only once. */
  readonly copies?: InputCopies
  /** Hears of the route before it carries anything. Its traffic counts, also if it cannot be opened. */
  opening?(route: Cluster['route']): void
  /** How inputs are decoded, beside what the options say. */
  decoding?(cluster: Cluster): Partial<DecodeOptions>
  /** Loads the inputs in place of this process. Resolves when every document has an outcome. Rejects only for a bug. */
  loadElsewhere?(loading: LoadingElsewhere): Promise<Loaded>
}

/** A feature that gives its run an argument, too. */
export interface Composed extends RunArguments {
  readonly feature: Feature
}

/** Makes inputs that can be read again of those that can be read only once. */
interface InputCopies {
  /** A folder that only this run may use. */
  folder(place: RunPlace): string
  /** Returns the inputs with their copies. `folder`: undefined if no state is kept. */
  open(run: Run, sources: readonly Source[], folder: string | undefined): Promise<readonly Source[]>
}

export interface RunPlace {
  readonly stateDir: string
  /** URL of the cluster. */
  readonly url: URL
  readonly identity: RunIdentity
}

/** A run whose documents other processes load. */
export interface LoadingElsewhere extends Run {
  readonly inputs: readonly Source[]
  readonly ledger: Pick<Ledger, 'begin' | 'end' | 'book' | 'overLimit' | 'isOverLimit'>
}

export interface Loaded {
  /** Why the run stopped, or the first input that could not be read to its end. */
  readonly failure?: Failure
  /** The error below it: what an iterable threw, or the system. */
  readonly cause?: unknown
  /** Decoded bytes. */
  readonly bytesRead: number
}

/** The options that the stages of a run take. */
export interface RunSections {
  readonly connecting: ConnectSection
  readonly documents: DocumentSection
  readonly batching: BatchSection
  readonly retrying: RetrySection
  readonly state: StateSection
  readonly dryRun: boolean
}

/** A connection that several runs use one after another. The caller who opened the connection closes it. */
export interface OpenConnection {
  readonly cluster: Cluster
  readonly way: ResolvedTarget
  /** Memory for bodies. All slots are free between two runs. */
  readonly slots: SlotPool
  /** The part of the ids that belongs to the one input of the run, if it has one. */
  readonly token?: string
}
