import type { Failure } from '../failure/failure.js'

/** An item that Elasticsearch refused for good. `item` is its position in the body. */
export interface RefusedItem {
  readonly item: number
  readonly status: number
  readonly type: string
  readonly reason: string
}

/** Counts the items that an answer settled. */
export interface Settled {
  readonly created: number
  readonly updated: number
  readonly duplicate: number
  readonly skipped: number
  readonly unknown: number
  readonly refused: readonly RefusedItem[]
}

/** Says whether documents may be stored although no answer confirmed it. Only then does a resend need ids. */
export type Delivery = 'none' | 'possible'

/** Says what to do about a body. It is judged from its answer only, or from a look-up before it was sent. */
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
  /** Send the same body again, later. `unsent`: it was not sent this time, because it waits for a look-up. */
  | {
      readonly kind: 'wait'
      readonly failure: Failure
      readonly delivery: Delivery
      readonly retryAfterMs?: number
      readonly unsent?: true
    }
  /** Not sent: some of its documents are stored already, and their ids would not have kept a second copy out. */
  | { readonly kind: 'there'; readonly settled: Settled; readonly left: readonly number[] }
  /** Not sent: the run is stopping, or access was lost and the body has to pass the gate again. */
  | { readonly kind: 'notSent'; readonly because: 'stopping' | 'noAccess' }
  /** No document can be stored until a person changes something. */
  | { readonly kind: 'stop'; readonly failure: Failure; readonly delivery: Delivery }

/** Nothing may be sent any more. */
export const STOPPING: Verdict = { kind: 'notSent', because: 'stopping' }
