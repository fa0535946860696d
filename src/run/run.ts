import type { Ids } from '../bulk/action-line.js'
import type { SlotPool } from '../bulk/slots.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Source } from '../flow.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { Load } from '../options/load.js'
import type { InputLocks } from '../state/lock.js'
import type { ResolvedTarget } from '../connect/open-target.js'
import type { SpoolHook } from '../spool/spool-stdin.js'
import type { Ending } from './ending.js'
import type { Platform } from './find-inputs.js'
import type { Tell } from './listener.js'
import type { Replaying } from './open-batcher.js'

/** One call of `ingest` or `replay`: what was asked for, and what belongs to it from its start to its end. */
export interface Run {
  /** As they were checked; `signal` is that of `ending`. */
  readonly options: IngestOptions
  /** The same, read once: every stage takes its own section. The run's signal is that of `ending`. */
  readonly asked: Load
  readonly ids: Ids
  readonly replaying: Replaying | undefined
  /** When it ends before its inputs do. */
  readonly ending: Ending
  /** Absent: none is kept. */
  readonly stateDir: string | undefined
  readonly tell: Tell
  readonly sources: readonly Source[]
  /** Where they are tables. */
  readonly platform: Platform | undefined
  readonly spool: SpoolHook | undefined
  readonly locks: InputLocks | undefined
  readonly standing: Standing | undefined
}

/** What runs use that follow one another. Whoever made it closes it. */
export interface Standing {
  readonly cluster: Cluster
  readonly way: ResolvedTarget
  /** For bodies: all of them are free between two runs. */
  readonly slots: SlotPool
  /** The part of the ids that belongs to the one input of the run. */
  readonly token: string
}
