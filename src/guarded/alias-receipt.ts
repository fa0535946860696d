export interface AliasReceipt {
  readonly name: string
  /** Absent if the alias did not exist. */
  readonly from?: string
  readonly to: string
  readonly switched: boolean
  /** Why it is not switched, if nothing failed. */
  readonly reason?: string
}

declare module '../ledger/receipt.js' {
  interface Receipt {
    /** Of a guarded load: whether the alias leads to the index `to` now, and where it led before. */
    readonly alias?: AliasReceipt
  }
}
