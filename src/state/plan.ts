/** What a run has left to do, and what decides that. */
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
  /** What was loaded of a table is no use to the next run, which goes into another index. Default false. */
  readonly readsWhole?: boolean
  /** The previous run continues with new inputs, though all of its own are loaded. Default false: a new run loads them. */
  readonly takesMore?: boolean
  /** For a run that is not a resume. */
  newRunId(): string
  /** For an input that has none yet; `look` where it is a file. */
  newToken(source: Source, look: FileLook | undefined): string
}

export interface Plan {
  readonly run: string
  readonly began: string | undefined
  readonly inputs: readonly PlannedInput[]
  /** What earlier processes of this run committed. */
  readonly before: { readonly counts: Counts; readonly rejections: readonly Rejections[] }
  /** The checkpoint says so already: nothing is left to do, nor to write. */
  readonly isDone: boolean
  /** Where the dead letters of this run stood when that was written. */
  readonly deadLetters: Checkpoint['deadLetters']
  /** Whether an earlier process may have sent documents that this one will send, under the same ids. */
  readonly isDoubtful: boolean
  /** What a person should know of it. */
  readonly warnings: readonly string[]
  /** Tables that are not read whole, and since when. */
  readonly notes: readonly string[]
}

export interface PlannedInput {
  readonly source: Source
  readonly token: string
  /** Where reading goes on; absent: at the start. */
  readonly from?: Mark
  /** The same of a table: absent where all of it is to be read. */
  readonly place?: Place
  /** See `CheckpointInput`. */
  readonly start?: CheckpointInput['start']
  /** Nothing of it is left to do. */
  readonly isLoaded: boolean
  /** Documents and blank lines that this run has read before. */
  readonly read: number
  /** As it was read, or is about to be. */
  readonly file?: FileIdentity
}
