/** The account of an undo. `found` = `deleted` + `wouldDelete` + `changed` + `failed`. */
export interface Undone {
  readonly run: string
  readonly dryRun: boolean
  /** Nothing of the run is left, and its checkpoint is removed: the same load starts afresh, unless `goesBy` says otherwise. */
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
  /**
   * The run by which the same load goes now: the one before, whose checkpoint has its place again; or a later one, where it was not
   * the last that was undone. What that has loaded is not loaded again.
   */
  readonly goesBy?: string
  readonly notes: readonly string[]
}
