/** Defines the remaining work of a run, the facts that decide it, and why an input may not be loaded. */
import { type Failure, failure, SluiceError } from '../../../base/failure/failure.js'
import type { IndexSeen } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { Lines, Mark, Place, Source } from '../../../base/flow.js'
import type { Streamed } from '../inputs/recognised.js'
import type { Elsewhere } from '../../../pipeline/source/find-files.js'
import type { Counts, Rejections } from '../../../pipeline/ledger/receipt.js'
import type { Checkpoint, CheckpointInput, FileIdentity, Target } from '../checkpoint/checkpoint.js'
import type { LostIndices } from './lost-index.js'

/** How a run is known again, and what it has left to do. A feature may give other answers for its runs. */
export interface RunIdentity {
  /** The name that the user gave to where documents go. */
  readonly label: string
  /** The same in keys and tokens. No index has a blank in its name. */
  readonly into: string
  /** In the key, instead of `into`. */
  readonly scope?: string
  /** In the key: what runs of another kind with the same inputs are not. */
  readonly kind?: string
  /** Inputs as the user named them, absolute. */
  readonly sources: readonly string[]
  /** Options that change what Sluice sends for a document. */
  readonly options: Checkpoint['options']
  /** Whether another run of the same name makes the same ids. */
  readonly repeatsIds: boolean
  /** Whether each run fills an index of its own. Default false. */
  readonly hasOwnIndex?: boolean
  /** Why documents that were under way may be stored twice. Undefined: their ids prevent this. */
  readonly doubt: string | undefined
  /** More fields of the target in the checkpoint. */
  readonly target?: Pick<Target, 'alias' | 'indices'>
  /** See `Checkpoint`. Grows while the run reads. */
  readonly replays?: ReadonlySet<string>
  /** Asks the cluster for what the other answers depend on. Throws SluiceError. */
  look?(cluster: Cluster): Promise<void>
  /** Throws SluiceError if another run stands in the way. Called after this run has locked the checkpoint. */
  refuse?(claim: RunClaim): Promise<void>
  /** The index that the last run filled. */
  lastIndex(last: Checkpoint | undefined): string | undefined
  /** Returns indices that no longer hold the documents of the last run. `seen`: of `lastIndex`, if there is one. */
  lost(
    last: Checkpoint,
    seen: IndexSeen | undefined,
    cluster: Cluster,
  ): LostIndices | undefined | Promise<LostIndices | undefined>
  /** Throws SluiceError: see `planRun`. */
  plan(planning: Planning): Promise<Plan>
  /** The index that the run fills. */
  index(run: string): string
  /** Throws SluiceError if the index cannot take the documents. `seen`: undefined if unknown. */
  refuseIndex?(seen: IndexSeen | undefined, index: string): void
  /** Returns notes on the index. */
  notes?(index: string): readonly string[]
}

export interface RunClaim {
  readonly stateDir: string
  /** Path of the checkpoint. */
  readonly path: string
  readonly target: Pick<Target, 'clusterUuid' | 'url'>
}

export interface Planning {
  /** Runs that loaded into the same target, newest first. */
  readonly runs: readonly Checkpoint[]
  /** Runs into the same target, also those that the plan does not go by, that rejected documents. Default: none. */
  readonly rejecting?: readonly Checkpoint[]
  /** Runs whose documents are lost, because their index is another one now. */
  readonly lost: ReadonlySet<Checkpoint>
  readonly sources: readonly Source[]
  readonly options: Checkpoint['options']
  /** Load what is finished again. */
  readonly again: boolean
  /** Whether each run loads all inputs, because it fills an index of its own. Default false. */
  readonly readsWhole?: boolean
  /** The previous run continues with new inputs, though all of its own are loaded. Default false: a new run loads them. */
  readonly takesMore?: boolean
  /** The run that continues if it is known, whatever inputs are left. */
  readonly continuing?: string
  /** Whether an input that must not be loaded is in the plan, with the reason, instead of an error. Default false. */
  readonly listsRefusals?: boolean
  /** The same for all runs of one command. */
  readonly key: string
  /** The name that the user gave to the run. */
  readonly named: string | undefined
  /** Makes a name for a run that is not a resume. */
  newRunId(): string
  /** Makes a token for an input without one. */
  newToken(source: Source): Promise<string>
  /**
   * Returns the lines of an input from its start, as a load reads them. Absent: inputs are known only by their stored bytes. Throws
   * SluiceError if the input cannot be read.
   */
  readonly linesOf?: ((source: Source) => Promise<Lines>) | undefined
  /** See `Elsewhere`. Absent: yes. */
  readonly isThere?: Elsewhere['isThere'] | undefined
  /** Returns the token of a new file by the id of its source, always the same one. Absent: it depends on what the file holds. */
  readonly tokenOfFile?: ((id: number) => string) | undefined
}

export interface Plan {
  readonly run: string
  /** The run that continues. */
  readonly continues: Checkpoint | undefined
  readonly inputs: readonly PlannedInput[]
  /** Documents that earlier processes of this run committed. */
  readonly before: { readonly counts: Counts; readonly rejections: readonly Rejections[] }
  /**
   * Other runs of these inputs, or of the same command, whose rejected documents this run does not read again. Also the run that
   * continues, if it stopped at too many.
   */
  readonly unsettled: readonly Checkpoint[]
  /** See `Checkpoint`. */
  readonly settles: readonly string[]
  /** The checkpoint says so already: nothing is left to do, nor to write. */
  readonly isDone: boolean
  /** Whether an earlier process may have sent documents that this one will send, under the same ids. */
  readonly isDoubtful: boolean
  /** Warnings for the user. */
  readonly warnings: readonly string[]
  /** Tables that are not read whole, and since when. Files that are known under another name. */
  readonly notes: readonly string[]
}

/** Closes what a plan has opened, if nobody carries it out. */
export async function dropPlan({ inputs }: Plan): Promise<void> {
  for (const { opened } of inputs) await opened?.close()
}

export interface PlannedInput {
  readonly source: Source
  /** The part of each id that names this input. Empty if all is loaded and no id is needed. */
  readonly token: string
  /** The mark where reading continues. Absent: the start of the input. */
  readonly from?: Mark
  /** For a table: where reading continues. Absent: the whole table is read. */
  readonly place?: Place
  /** See `CheckpointInput`. */
  readonly start?: CheckpointInput['start']
  /** Whether nothing of the input is left to load. */
  readonly isLoaded: boolean
  /** Documents and blank lines that this run has read before. */
  readonly read: number
  /** The earlier record of the input. Absent if nothing of it is left to load, and its file is as it was. */
  readonly known?: CheckpointInput
  /** The run that loaded it, if that is another one. */
  readonly by?: Checkpoint
  /** The file as it is now, if Sluice knows it, and it is not as it was. */
  readonly file?: FileIdentity
  /** The content of the file as it is now, if it is packed otherwise than before. */
  readonly content?: CheckpointInput['content']
  /** The path or URL of the input when it was read, if that is another one now. */
  readonly moved?: string
  /** Whether the lines are not the stored bytes, as far as Sluice knows. Default false. */
  readonly isPacked?: boolean
  /** The open input, if it was opened to compare it. */
  readonly opened?: Streamed['opened']
  /** The lines that it must begin with, if the load opens it again, and it may be another one then. */
  readonly begins?: Streamed['begins']
  /** The run that loaded another content of this name. */
  readonly replaces?: Checkpoint
  /** The file that had that content. */
  readonly replacedFile?: FileIdentity | undefined
  /** Why the input must not be loaded. Only if the plan lists refusals. */
  readonly refused?: Failure
}

/** A file that no run has read. There may be very many, and each token takes as much memory as the rest of it. */
export class NewFile implements PlannedInput {
  readonly source: Source
  readonly #tokenOf: (id: number) => string

  constructor(source: Source, tokenOf: (id: number) => string) {
    this.source = source
    this.#tokenOf = tokenOf
  }

  get token(): string {
    return this.#tokenOf(this.source.id)
  }

  get isLoaded(): boolean {
    return false
  }

  get read(): number {
    return 0
  }
}

/** A file that is as it was when all of it was loaded. There may be very many, and nothing more is asked of them. */
export class LoadedFile implements PlannedInput {
  readonly source: Source
  readonly by?: Checkpoint
  read: number

  constructor(source: Source, by: Checkpoint | undefined, read: number) {
    this.source = source
    if (by !== undefined) this.by = by
    this.read = read
  }

  get token(): string {
    return ''
  }

  get isLoaded(): boolean {
    return true
  }

  /** Counts nothing of it for the run that begins. */
  loadedByAnother(): this {
    this.read = 0
    return this
  }
}

/** Returns RUN_OPTIONS_CHANGED. `loaded`: the input that the run has loaded completely. Otherwise the run is unfinished. */
export function optionsChanged(run: string, differences: readonly string[], loaded?: string): Failure {
  const what = loaded === undefined ? `the unfinished run ${run} began` : `run ${run} loaded ${loaded}`
  return failure('RUN_OPTIONS_CHANGED', { run, what, differences })
}

/** Returns INPUT_CHANGED. `documents`: how many of it the run has settled. `offset`: where that part ends. */
export function inputChanged(
  input: string,
  run: string,
  documents: number,
  observed: string,
  offset?: number,
): Failure {
  const many = `loaded ${documents.toLocaleString('en-US')} ${documents === 1 ? 'document' : 'documents'} from it`
  const did = documents === 0 ? 'began to load it' : many
  return failure('INPUT_CHANGED', { input, run, did, documents, observed, ...(offset === undefined ? {} : { offset }) })
}

/** Throws SluiceError RUN_OPTIONS_CHANGED if the options are others than those of the run. */
export function sameOptions({ options: was, run }: Checkpoint, now: Checkpoint['options']): void {
  const changed = differences(was, now)
  if (changed.length > 0) throw new SluiceError(optionsChanged(run, changed))
}

/** Returns the names of options that are not what they were. */
export function changedNames(was: Checkpoint['options'], now: Checkpoint['options']): string[] {
  return [...new Set([...Object.keys(was), ...Object.keys(now)])].filter(name => was[name] !== now[name])
}

/** Says how they differ. */
export function differences(was: Checkpoint['options'], now: Checkpoint['options']): string[] {
  return changedNames(was, now).map(
    name => `${name} was ${was[name] ?? 'not set'} but is now ${now[name] ?? 'not set'}`,
  )
}
