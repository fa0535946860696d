/** Defines the remaining work of a run, and the facts that decide it. */
import type { FileLook, Mark, Place, Source } from '../flow.js'
import type { Counts, Rejections } from '../ledger/receipt.js'
import type { Checkpoint, CheckpointInput, FileIdentity } from './checkpoint.js'

export interface Planning {
  /** The last checkpoint of the same inputs and target, if there is one. */
  readonly previous: Checkpoint | undefined
  readonly sources: readonly Source[]
  /** Whether files are looked at: for a checkpoint, or for tokens that depend on what they hold. */
  readonly isLookedAt: boolean
  readonly options: Checkpoint['options']
  /** Load what is finished again. */
  readonly again: boolean
  /** Whether tables are read from their start, because the documents go into another index. Default false. */
  readonly readsWhole?: boolean
  /** The previous run continues with new inputs, though all of its own are loaded. Default false: a new run loads them. */
  readonly takesMore?: boolean
  /** Makes a name for a run that is not a resume. */
  newRunId(): string
  /** Makes a token for an input without one. `look`: set if the input is a file. */
  newToken(source: Source, look: FileLook | undefined): string
}

export interface Plan {
  readonly run: string
  readonly began: string | undefined
  readonly inputs: readonly PlannedInput[]
  /** Documents that earlier processes of this run committed. */
  readonly before: { readonly counts: Counts; readonly rejections: readonly Rejections[] }
  /** The checkpoint says so already: nothing is left to do, nor to write. */
  readonly isDone: boolean
  /** Dead letters of this run when the checkpoint was written. */
  readonly deadLetters: Checkpoint['deadLetters']
  /** Whether an earlier process may have sent documents that this one will send, under the same ids. */
  readonly isDoubtful: boolean
  /** Warnings for the user. */
  readonly warnings: readonly string[]
  /** Tables that are not read whole, and since when. */
  readonly notes: readonly string[]
}

export interface PlannedInput {
  readonly source: Source
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
  /** Identity of the file that was read, or will be read. */
  readonly file?: FileIdentity
}
