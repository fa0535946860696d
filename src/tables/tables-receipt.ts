export interface DeletionsReceipt {
  readonly mode: 'audit' | 'reconcile'
  /** `audit`: deletions that the platform names. `reconcile`: documents of the index. */
  readonly compared: number
  readonly deleted: number
  /**
   * Documents that were not deleted. `there`: their rows are there again, or hidden. `changed`: written meanwhile. `other`: not of these
   * tables, by their id or class.
   */
  readonly kept: { readonly there: number; readonly changed: number; readonly other: number }
  /** Why nothing was compared. */
  readonly skipped?: string
}

declare module '../ledger/receipt.js' {
  interface Receipt {
    /** Where tables were read, by this process: connections, and bytes on the wire with TLS. They are not among `bytes`. */
    readonly platform?: {
      readonly url: string
      readonly connections: number
      readonly sent: number
      readonly received: number
    }
    /** Documents whose rows were deleted, if that was asked for. They are not among the counts of what was read. */
    readonly deletions?: DeletionsReceipt
  }
}
