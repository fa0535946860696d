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
    /**
     * Only if this process read tables: connections to the platform, and bytes on the wire with TLS. `bytes` does not
     * include them.
     */
    readonly platform?: {
      readonly url: string
      readonly connections: number
      readonly sent: number
      readonly received: number
    }
    /**
     * Documents of deleted rows, if `deletions` is set. The counts of documents that were read do not include them.
     */
    readonly deletions?: DeletionsReceipt
  }
}
