import type { Checkpoint } from '../state/checkpoint.js'

/** What of one input is in the cluster. `documents` = `found` + `rejected` + `missing`. */
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
  /** Nothing is missing, foreign or doubled. */
  readonly ok: boolean
  readonly cluster: string
  readonly index: string
  readonly documents: number
  readonly found: number
  readonly rejected: number
  /** Those among `rejected` that no dead letters name: as many of the inputs' `missing` are in truth rejected. */
  readonly unlisted: number
  readonly missing: number
  readonly unsettled: number
  readonly foreign: number
  readonly doubled: number
  readonly inputs: readonly VerifiedInput[]
  readonly checkpoint: string
  readonly notes: readonly string[]
}
