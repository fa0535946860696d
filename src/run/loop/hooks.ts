/** Defines what a feature may do in a run: four small interfaces. A run knows its features only by them. */
import type { BatchOptions, Batcher } from '../../pipeline/bulk/batcher.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Source } from '../../base/flow.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import type { Counts, InputReceipt, Receipt } from '../../pipeline/ledger/receipt.js'
import type { InputSection } from '../../options/load.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { Sender, SenderOptions } from '../../route/sender/sender.js'
import type { FoundRun } from '../state/resume/find-run.js'
import type { ConditionFields } from '../../base/operation.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { StopSignals } from './stop-signals.js'
import type { StepRetrying } from './retry-step.js'

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

/** A run that was found and begins to load. */
export interface Started {
  readonly cluster: Cluster
  readonly found: FoundRun
  readonly ledger: Pick<Ledger, 'inputs' | 'indices'>
  /** Folder of the checkpoint. Undefined: no checkpoint is kept. */
  readonly stateDir: string | undefined
  /** Whether a checkpoint is written while the run loads. */
  readonly isKept: boolean
  /** Returns how to retry steps beside the documents. `settled`: documents of the run that have their outcome. */
  patience(settled: number): StepRetrying
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
