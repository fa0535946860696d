/**
 * Defines what a feature gives to a run: four small interfaces, and the arguments that only one feature gives. A run knows its features
 * only by them.
 */
import type { Batcher, BatchOptions } from '../../pipeline/bulk/batcher.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Source } from '../../base/flow.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import type { Counts, InputReceipt, Receipt } from '../../pipeline/ledger/receipt.js'
import type {
  BatchSection,
  ConnectSection,
  DocumentSection,
  InputSection,
  RetrySection,
  StateSection,
} from '../../options/load.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { Sender, SenderOptions } from '../../route/sender/sender.js'
import type { FoundRun } from '../state/resume/find-run.js'
import type { ConditionFields } from '../../base/operation.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { StopSignals } from './stop-signals.js'
import type { DecodeOptions } from '../../pipeline/format/decode.js'
import type { SlotPool } from '../../pipeline/bulk/slots.js'
import type { ResolvedTarget } from '../../route/connect/open-target.js'

/** Reports events to the caller. */
export type Tell = (event: IngestEvent) => void

/** One call of `ingest` or `replay`, from its start to its end. */
export interface Run {
  /** Ends the run before its inputs end. */
  readonly stop: StopSignals
  readonly tell: Tell
}

/** Returns the hook of a feature, or undefined if the options do not ask for it. */
export type Feature = (run: Run) => RunHook | undefined | Promise<RunHook | undefined>

/**
 * A feature implements what it needs of the four interfaces. The run calls their members in this order, and the hooks in the order of
 * the features. Each member has more than one implementer: what a single feature needs is an argument of what it serves.
 */
export type RunHook = InputsHook & RouteHook & BodiesHook & EndingHook

/** Where bytes come from, what they are, and how they are known again. */
export interface InputsHook {
  /** Says how the run is known. */
  identify?(plain: RunIdentity): RunIdentity
  /** Finds the inputs, if they are not only files. The first feature that can do this finds all of them. */
  sources?(named: NamedInputs, signal: AbortSignal): readonly Source[] | Promise<readonly Source[]>
}

/** The connection, and how the sender uses it. */
export interface RouteHook {
  /** The connection is open. Returns notes for the `preflight` event, if there are any. Throws if the run cannot begin. */
  connected?(cluster: Cluster): Promise<readonly string[]> | undefined
  /** Options of the sender. Read after `connected` for budget and ids, and after `prepare`. */
  readonly sending?: Partial<SenderOptions>
}

/** Documents, from the first one that is read to the last outcome. */
export interface BodiesHook {
  /** Prepares what bodies and the ending need. The checkpoint stands. Throws if the run cannot begin. */
  prepare?(started: Started): Promise<void>
  /** Makes bodies of documents. `inner`: does so as if this hook did not. */
  frame?(framing: Framing, ledger: Ledger, inner: (framing: Framing) => BodyFramer): BodyFramer
  /** Called before a batch is sent, in the order of reading. Returns why it must not be, and the run stops. */
  admit?(batch: Batch): Failure | undefined
  /** Hears every event of the run. */
  told?(event: IngestEvent): void
  /** Adds to the `progress` event, which the run tells after each batch. */
  progress?(inputs: readonly InputReceipt[]): Partial<Omit<Progress, 'type'>>
}

/** The end of a run. A run that ends before its load calls only `failed` and `dispose`. */
export interface EndingHook {
  /**
   * Called when every document has an outcome and nothing has failed so far. Resolves to a failure that must still
   * fail the run.
   */
  complete?(loaded: LoadedRun): Promise<Failure | undefined>
  /** The checkpoint says how the run ended. */
  finished?(ended: EndedRun): Promise<void>
  receipt?(): Partial<Receipt>
  /** The run failed, and the connection is closed. Resolves to the error to throw. */
  failed?(error: unknown): Promise<unknown>
  dispose?(): Promise<void>
}

/** The inputs as the user named them. */
export type NamedInputs = Pick<InputSection, 'source' | 'stdin'>

type Progress = Extract<IngestEvent, { type: 'progress' }>

/** Makes bodies of documents. */
export type BodyFramer = Pick<Batcher, 'frame' | 'rest' | 'reading'>

/** How bodies are made, whatever is in them. */
export type Framing = Omit<
  BatchOptions,
  'operation' | 'ids' | 'routingField' | 'indexPattern' | 'script' | 'retryOnConflict' | keyof ConditionFields
>

/**
 * Repeats a step while its failure may pass. The step must be safe to repeat. Throws SluiceError: what the step throws, the failure that
 * lasted too long, or why the run ended.
 */
export type Retrier = <T>(step: () => Promise<T>) => Promise<T>

/** A run that was found and begins to load. */
export interface Started {
  readonly cluster: Cluster
  readonly found: FoundRun
  readonly ledger: Pick<Ledger, 'inputs' | 'indices'>
  /** Folder of the checkpoint. Undefined: no checkpoint is kept. */
  readonly stateDir: string | undefined
  /** Whether a checkpoint is written while the run loads. */
  readonly isKept: boolean
  /** Returns what retries steps beside the documents. `settled`: documents of the run that have their outcome. */
  retrier(settled: number): Retrier
}

interface LoadedRun {
  /** Counts of the whole run. */
  readonly counts: Counts
  /** The file of rejected documents, if there are any. */
  readonly deadLetters: string | undefined
  /** Writes down that all documents are settled. Resolves to why that failed. */
  save(): Promise<Failure | undefined>
}

interface EndedRun {
  /** Whether all documents are loaded, so that no resume needs the inputs. */
  readonly isDone: boolean
  /** It sends nothing more. */
  readonly sender: Sender
}

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
