/** The account of an undo. `found` = `deleted` + `wouldDelete` + `changed` + `failed`. */
export interface Undone {
  readonly run: string
  readonly dryRun: boolean
  /** Nothing of the run is left, and its checkpoint is removed: the same load starts afresh. */
  readonly isComplete: boolean
  readonly cluster: string
  readonly index: string
  /** Ids that the run may have stored documents under. */
  readonly documents: number
  /** Documents that were there. */
  readonly found: number
  readonly deleted: number
  /** In a dry run alone. */
  readonly wouldDelete: number
  /** Were not there any more. */
  readonly gone: number
  /** Written again since the run created them, and left. */
  readonly changed: number
  /** The cluster refused to delete them. */
  readonly failed: number
  /** The first of them. */
  readonly changedIds: readonly string[]
  readonly failures: readonly { readonly status: number; readonly type: string; readonly documents: number }[]
  /** Its path, also where it was removed. */
  readonly checkpoint: string
  readonly notes: readonly string[]
}
