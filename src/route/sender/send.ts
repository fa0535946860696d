/** The one shape of the sender's layers: a bulk request goes down through them, and its verdict comes back up. */
import type { Taken, BatchOperation, ConditionKind } from '../../base/operation.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch } from '../../base/flow.js'

export type Send = (request: BulkRequest) => Promise<Verdict>

export interface BulkRequest {
  readonly body: Body
  readonly batch: Batch
  readonly history: SendHistory
  /** The bytes on the wire. Absent if they are the body as it stands. */
  readonly wire?: { readonly bytes: Buffer; readonly isGzip: boolean }
  /** Set by the access layer: whether access was lost since the request passed the gate. */
  readonly isHeld?: () => boolean
  /** Set by the budget and watch layers: takes length and HTTP status of the answer, before anything is asked because of it. */
  readonly answered?: (bytes: number, status: number) => void
}

interface SendHistory {
  /** Whether Elasticsearch may have seen these documents before. */
  readonly resent: boolean
  /** Whether one of those sends may have been stored without an answer. */
  readonly doubtful: boolean
}

/** The part of a batch that one request sends: all of it, a half, or the items to send again. A view, never a copy. */
export interface Body {
  readonly bytes: Buffer
  readonly items: number
  /** The batch's ordinal of each item. Absent: they follow each other from `first`. */
  readonly ordinals?: Uint32Array
  readonly first: number
}

export interface BatchIds {
  /** Whether Sluice made the ids: a 409 can then only be an earlier send of the same document. */
  readonly ownIds: boolean
  /** Whether a second send does no harm. True unless the cluster makes the ids, or a script changes documents. */
  readonly safeToResend: boolean
}

/** Returns whose ids a batch has. Another run made those of dead letters, and a dump may bring its own. */
export function batchIds({ addressed, ids, script }: BatchWithIds, { ownIds, safeToResend }: BatchIds): BatchIds {
  if (ids !== undefined) return { ownIds: ids === 'own' && ownIds, safeToResend }
  if (addressed === undefined) return { ownIds, safeToResend }
  const isRepeatable = addressed.ids !== 'none' && script === undefined
  return { ownIds: addressed.ids === 'own', safeToResend: isRepeatable || safeToResend }
}

type BatchWithIds = Pick<Batch, 'addressed' | 'ids' | 'script'>

/** The body that was answered, as the sender knows it. */
export interface JudgedBody extends BatchIds, SendHistory {
  readonly items: number
  readonly index: string
  /** Whether each item names its index. */
  readonly isOneOfMany?: boolean
  readonly operation: BatchOperation
  readonly onConflict: 'reject' | 'skip'
  /** Set if each item has a condition of this kind. */
  readonly condition?: ConditionKind | undefined
}

/** An item that Elasticsearch refused for good. `item` is its position in the body. */
export interface RefusedItem {
  readonly item: number
  readonly status: number
  readonly type: string
  readonly reason: string
}

/** Refused items (ascending). Each pass may make them anew: kept so, many take little memory. */
export interface RefusedItems extends Iterable<RefusedItem> {
  readonly length: number
  /** Their positions, if these are known without making the items. */
  readonly items?: ArrayLike<number>
}

/** Counts the items that an answer settled. Counts that are absent are 0. */
export interface Settled extends Readonly<Partial<Record<Taken, number>>> {
  readonly created: number
  readonly updated: number
  readonly duplicate: number
  readonly skipped: number
  readonly unknown: number
  readonly refused: RefusedItems
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
      /** After this number of refusals, a person has to change something. Absent: only time limits the retries. */
      readonly tries?: number
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
