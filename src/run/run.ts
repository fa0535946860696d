import type { Ids } from '../bulk/action-line.js'
import type { Source } from '../flow.js'
import type { IngestOptions } from '../ingest-options.js'
import type { InputLocks } from '../ledger/lock.js'
import type { Spool } from '../source/spool.js'
import type { Ending } from './ending.js'
import type { Platform } from './find-inputs.js'
import type { Tell } from './listener.js'
import type { Replaying } from './open-batcher.js'

/** One call of `ingest` or `replay`: what was asked for, and what belongs to it from its start to its end. */
export interface Run {
  /** As they were checked; `signal` is that of `ending`. */
  readonly options: IngestOptions
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
  readonly spool: Spool | undefined
  readonly locks: InputLocks | undefined
}
