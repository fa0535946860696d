import type { Failure } from '../failure/failure.js'

/** An item that Elasticsearch refused for good. `item` is its place in the body. */
export interface RefusedItem {
  readonly item: number
  readonly status: number
  readonly type: string
  readonly reason: string
}

/** What an answer says of the items that are settled by it. */
export interface Settled {
  readonly created: number
  readonly updated: number
  readonly duplicate: number
  readonly skipped: number
  readonly unknown: number
  readonly refused: readonly RefusedItem[]
}

/** Whether what was refused can have been stored all the same. Only then does a resend need ids. */
export type Delivery = 'none' | 'possible'

/** What to do about a body, judged from its answer alone, or from what was looked up before it was sent. */
export type Verdict =
  /** Every item has its outcome. */
  | { readonly kind: 'done'; readonly settled: Settled }
  /** The named items were refused as busy; the others are settled. `delivery` is that of the named ones. */
  | {
      readonly kind: 'retryItems'
      readonly settled: Settled
      readonly items: readonly number[]
      readonly failure: Failure
      readonly delivery: Delivery
    }
  /** Too large, or one document spoils the request: send halves. `alike`: stop when both halves are refused in the same way. */
  | {
      readonly kind: 'split'
      readonly refusal: Omit<RefusedItem, 'item'>
      readonly alike?: Failure
      readonly delivery: Delivery
    }
  /** Send the same body again, later. `unsent`: it was not sent this time, because what it waits for is a lookup. */
  | {
      readonly kind: 'wait'
      readonly failure: Failure
      readonly delivery: Delivery
      readonly retryAfterMs?: number
      readonly unsent?: true
    }
  /** Not sent: some of its documents are stored already, under ids that would not have kept them from being stored twice. */
  | { readonly kind: 'there'; readonly settled: Settled; readonly left: readonly number[] }
  /** No document can be stored until a person changes something. */
  | { readonly kind: 'stop'; readonly failure: Failure; readonly delivery: Delivery }
