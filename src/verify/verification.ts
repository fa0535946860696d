import type { Checkpoint } from '../state/checkpoint.js'

/** The documents of one input in the cluster. `documents` = `found` + `rejected` + `missing`. */
export interface VerifiedInput {
  readonly name: string
  /** Its ids are `TOKEN-NUMBER`. */
  readonly token: string
  /** Documents that the run has settled, and the numbers of the first and the last of them. */
  readonly documents: number
  readonly first: number
  readonly last: number
  readonly found: number
  /** Not there, and in the dead letters. */
  readonly rejected: number
  /** Not there, and in no dead letters that could be read. */
  readonly missing: number
  /** There, and numbered behind the last settled one: sent before the run was cut off. A resume settles them. */
  readonly unsettled: number
  /** There, with the token of the run, and none of its documents. */
  readonly foreign: number
  /** There in more than one index behind an alias or data stream. */
  readonly doubled: number
  /** The first of them. */
  readonly missingIds: readonly string[]
  readonly foreignIds: readonly string[]
  readonly doubledIds: readonly string[]
}

/** The account of a run, as the cluster gives it. `documents` = `found` + `rejected` + `missing`. */
export interface Verification {
  readonly run: string
  readonly status: Checkpoint['status']
  /** No document is missing, foreign or doubled. */
  readonly ok: boolean
  readonly cluster: string
  readonly index: string
  readonly documents: number
  readonly found: number
  readonly rejected: number
  /** Rejected documents that no dead letters name. That many of the inputs' `missing` were in fact rejected. */
  readonly unlisted: number
  readonly missing: number
  readonly unsettled: number
  readonly foreign: number
  readonly doubled: number
  readonly inputs: readonly VerifiedInput[]
  readonly checkpoint: string
  readonly notes: readonly string[]
}

/** The account of an undo. `found` = `deleted` + `wouldDelete` + `changed` + `failed`. */
export interface Undone {
  readonly run: string
  readonly dryRun: boolean
  /**
   * Nothing of the run is left and its checkpoint is removed. The same load starts afresh, unless `goesBy` is set.
   */
  readonly isComplete: boolean
  readonly cluster: string
  readonly index: string
  /** Ids that the run may have stored documents under. */
  readonly documents: number
  /** Documents that were there. */
  readonly found: number
  readonly deleted: number
  /** Only in a dry run. */
  readonly wouldDelete: number
  /** Documents that were already gone. */
  readonly gone: number
  /** Written again since the run created them, and left. */
  readonly changed: number
  /** The cluster refused to delete them. */
  readonly failed: number
  /** The first of them. */
  readonly changedIds: readonly string[]
  readonly failures: readonly { readonly status: number; readonly type: string; readonly documents: number }[]
  /** Path of the checkpoint, even if it was removed. */
  readonly checkpoint: string
  /**
   * The run that the same load now continues: the one before, whose checkpoint is restored, or a later one if an
   * earlier run was undone. What that run loaded is not loaded again.
   */
  readonly goesBy?: string
  readonly notes: readonly string[]
}
