export interface AliasReceipt {
  readonly name: string
  /** The index before. Absent if the alias did not exist. */
  readonly from?: string
  readonly to: string
  readonly switched: boolean
  /** Why Sluice did not switch the alias, if nothing failed. */
  readonly reason?: string
}

declare module '../ledger/receipt.js' {
  interface Receipt {
    /** Only for a guarded load: whether the alias leads to the index `to` now, and its index before. */
    readonly alias?: AliasReceipt
  }
}
