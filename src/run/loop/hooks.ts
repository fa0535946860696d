/** Defines the hooks of a feature in a run. A run knows its features only by these hooks. */
import type { BatchOptions, Batcher } from '../../pipeline/bulk/batcher.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch, Input, Lines, Source } from '../../base/flow.js'
import type { Ledger } from '../../pipeline/ledger/ledger.js'
import type { Counts, InputReceipt, Receipt } from '../../pipeline/ledger/receipt.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { SenderOptions } from '../../route/sender/sender.js'
import type { Elsewhere } from '../../pipeline/source/find-files.js'
import type { FoundRun } from '../state/resume/find-run.js'
import type { ConditionFields } from '../../base/operation.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { Loaded } from './load-documents.js'
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

/** The run calls the methods in this order, and the hooks in the order of the features. */
export interface RunHook {
  /** Inputs that are no files. */
  readonly sources?: readonly Source[]
  /** Finds inputs that are not in a file system. */
  readonly elsewhere?: Elsewhere
  /** The place of those sources, for example a URL. Part of their locks. */
  readonly origin?: string | undefined
  /** Whether inputs that can be read only once get a copy that can be read again. */
  readonly keepsInputs?: boolean
  /** Says how the run is known. */
  identify?(plain: RunIdentity): RunIdentity
  /** A folder that only this run may use. */
  folder?(place: RunPlace): string
  /** Replaces inputs. `folder`: undefined if no state is kept. */
  inputs?(sources: readonly Source[], folder: string | undefined): Promise<readonly Source[]>
  /** Hears of the route before it carries anything. Its traffic counts, also if it cannot be opened. */
  opening?(route: Cluster['route']): void
  /** The connection is open. Returns notes for the `preflight` event, if there are any. Throws if the run cannot begin. */
  connected?(cluster: Cluster): Promise<readonly string[]> | undefined
  /** Prepares what the ending needs. The checkpoint stands. Throws if the run cannot begin. */
  prepare?(started: Started): Promise<void>
  /** Options of the sender. Read after `connected` for budget and ids, and after `prepare`. */
  readonly sending?: Partial<Pick<SenderOptions, SentOptions>>
  /** Makes bodies of documents. `inner`: does so as if this hook did not. */
  frame?(framing: Framing, ledger: Ledger, inner: (framing: Framing) => BodyFramer): BodyFramer
  /** Whether its bodies may hold documents that carry their own actions. Default false. */
  readonly takesDumps?: boolean
  /** Loads the inputs in place of this process. Resolves when every document has an outcome. Rejects only for a bug. */
  loadElsewhere?(loading: LoadingElsewhere): Promise<Loaded>
  /** Called before a batch is sent, in the order of reading. Returns why it must not be, and the run stops. */
  admit?(batch: Batch): Failure | undefined
  inputOpened?(input: Input, kind: Lines['kind']): void
  batchSettled?(): void
  /** Hears every event of the run. */
  told?(event: IngestEvent): void
  /** Adds to the `progress` event. */
  progress?(inputs: readonly InputReceipt[]): Partial<Omit<Progress, 'type'>>
  /**
   * Called when every document has an outcome and nothing has failed so far. Resolves to a failure that must still
   * fail the run.
   */
  complete?(loaded: LoadedRun): Promise<Failure | undefined>
  /** Whether a resume would have to complete the run. Default false. */
  readonly isOpen?: boolean
  /** The checkpoint says how the run ended. */
  finished?(ended: EndedRun): Promise<void>
  receipt?(): Partial<Receipt>
  /** The run failed, and the connection is closed. Resolves to the error to throw. */
  failed?(error: unknown): Promise<unknown>
  dispose?(): Promise<void>
}

type SentOptions =
  | 'budget'
  | 'rates'
  | 'learnt'
  | 'ownIds'
  | 'safeToResend'
  | 'sentBefore'
  | 'repeatsIds'
  | 'permit'
  | 'knowsPlaces'

type Progress = Extract<IngestEvent, { type: 'progress' }>

/** Makes bodies of documents. */
export type BodyFramer = Pick<Batcher, 'frame' | 'rest' | 'reading'>

/** How bodies are made, whatever is in them. */
export type Framing = Omit<
  BatchOptions,
  'operation' | 'ids' | 'routingField' | 'indexPattern' | 'script' | 'retryOnConflict' | keyof ConditionFields
>

export interface RunPlace {
  readonly stateDir: string
  /** URL of the cluster. */
  readonly url: URL
  readonly identity: RunIdentity
}

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

/** A run whose documents other processes load. */
export interface LoadingElsewhere {
  readonly inputs: readonly Source[]
  readonly ledger: Pick<Ledger, 'begin' | 'end' | 'book' | 'overLimit' | 'isOverLimit'>
  readonly stop: StopSignals
  readonly tell: Tell
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
  /** Whether a resume has nothing left to do. */
  readonly isDone: boolean
  /** Limits of the cluster that the run learnt. */
  readonly learnt: SenderOptions['learnt']
}

/** The hooks of a run, in the order of its features. */
export class HookList implements AsyncDisposable {
  readonly all: readonly RunHook[]
  #isDisposed = false

  constructor(all: readonly RunHook[]) {
    this.all = all
  }

  static async open(features: readonly Feature[], run: Run): Promise<HookList> {
    const all: RunHook[] = []
    for (const feature of features) {
      const hook = await feature(run)
      if (hook !== undefined) all.push(hook)
    }
    return new HookList(all)
  }

  get sources(): readonly Source[] | undefined {
    return this.all.find(({ sources }) => sources !== undefined)?.sources
  }

  get elsewhere(): Elsewhere | undefined {
    return this.all.find(({ elsewhere }) => elsewhere !== undefined)?.elsewhere
  }

  get origin(): string | undefined {
    return this.all.find(({ origin }) => origin !== undefined)?.origin
  }

  get keepsInputs(): boolean {
    return this.all.some(({ keepsInputs }) => keepsInputs === true)
  }

  admit(batch: Batch): Failure | undefined {
    for (const { admit } of this.all) {
      const refused = admit?.(batch)
      if (refused !== undefined) return refused
    }
    return undefined
  }

  folder(place: RunPlace): string | undefined {
    return this.all.map(hook => hook.folder?.(place)).find(folder => folder !== undefined)
  }

  identify(plain: RunIdentity): RunIdentity {
    return this.all.reduce((identity, hook) => hook.identify?.(identity) ?? identity, plain)
  }

  async inputs(found: readonly Source[], folder: string | undefined): Promise<readonly Source[]> {
    let sources = found
    for (const hook of this.all) sources = (await hook.inputs?.(sources, folder)) ?? sources
    return sources
  }

  /** Runs what may fail, lets each hook name the error, and disposes of the hooks. */
  async around<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      let why: unknown = error
      for (const hook of this.all) why = hook.failed === undefined ? why : await hook.failed(why)
      throw why
    } finally {
      await this[Symbol.asyncDispose]()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return
    this.#isDisposed = true
    for (const hook of this.all) await hook.dispose?.()
  }
}
