import type { Source } from '../../base/flow.js'
import type { InputLocks } from '../../base/lock/lock.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { HookList } from './hook-list.js'
import type { OpenConnection, Run, RunArguments, RunSections } from './hooks.js'
import type { RunRecord } from './run-record.js'

/** A run whose inputs are found, and locked if state is kept. */
export interface LockedRun extends Run {
  readonly sections: RunSections
  readonly hooks: HookList
  readonly identity: RunIdentity
  readonly sources: readonly Source[]
  /** Folder of the state that the run may read. Undefined: no input can be known. */
  readonly knownFrom: string | undefined
  /** Folder of the checkpoint. Undefined: no checkpoint is kept. */
  readonly stateDir: string | undefined
  readonly locks: InputLocks | undefined
  readonly connection: OpenConnection | undefined
  readonly record: RunRecord
  readonly given: RunArguments & {
    /** Whether the files that are read stay where they are after the run. */
    readonly filesStay?: boolean
  }
}
