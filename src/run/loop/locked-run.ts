import type { SlotPool } from '../../pipeline/bulk/slots.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { ResolvedTarget } from '../../route/connect/open-target.js'
import type { Source } from '../../base/flow.js'
import type { BatchSection, ConnectSection, DocumentSection, RetrySection, StateSection } from '../../options/load.js'
import type { InputLocks } from '../../base/lock/lock.js'
import type { RunIdentity } from '../state/resume/plan.js'
import type { HookList, Run } from './hooks.js'
import type { RunRecord } from './run-record.js'

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
  /** Whether the files that are read stay where they are after the run. */
  readonly filesStay: boolean | undefined
}
