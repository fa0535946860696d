export interface DeletionsReceipt {
  readonly mode: 'reconcile'
  /** Documents of the index. */
  readonly compared: number
  readonly deleted: number
  /**
   * Documents that Sluice kept. `there`: their rows exist, or are hidden. `changed`: written in the meantime. `other`:
   * not of these tables, by their id or class.
   */
  readonly kept: { readonly there: number; readonly changed: number; readonly other: number }
  /** Why nothing was compared. */
  readonly skipped?: string
}

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only if this process read tables. `bytes` does not include these bytes, which count TLS. */
    readonly platform?: {
      readonly url: string
      readonly connections: number
      readonly sent: number
      readonly received: number
    }
    /** Documents of deleted rows. Other counts do not include them. */
    readonly deletions?: DeletionsReceipt
  }
}
