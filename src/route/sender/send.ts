/**
 * The one shape of the sender's layers: a bulk request goes down through them, and its verdict comes back up. Takes the bodies of requests
 * apart.
 */
import {
  type BatchOperation,
  bulkFormOf,
  type ConditionKind,
  type Operation,
  operations,
  rowOf,
  type Script,
  type Taken,
} from '../../base/operation.js'
import type { Failure } from '../../base/failure/failure.js'
import type { Batch } from '../../base/flow.js'
import { copyInto } from '../../base/memory.js'
import { LINE_FEED } from '../../base/text/bytes.js'

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
  /** Whether Sluice looks at each document that exists already. Then a conflict is never unknown. */
  readonly comparesConflicts?: boolean
  /** Set if each item has a condition of this kind. */
  readonly condition?: ConditionKind | undefined
}

/** An item that Elasticsearch refused for good. `item` is its position in the body. */
export interface RefusedItem {
  readonly item: number
  readonly status: number
  readonly type: string
  readonly reason: string
  /** The index behind the name, if the answer was asked for it. */
  readonly index?: string
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

export function ordinalOf(body: Body, item: number): number {
  return body.ordinals === undefined ? body.first + item : (body.ordinals[item] ?? 0)
}

/** Returns where each item starts, and where the last one ends. `items`: how many, from the first one on. Each has an action line and a document line. */
export function itemStarts(body: Body, items = body.items): Uint32Array {
  const starts = new Uint32Array(items + 1)
  let at = 0
  for (let item = 1; item <= items; item += 1) {
    at = body.bytes.indexOf(LINE_FEED, body.bytes.indexOf(LINE_FEED, at) + 1) + 1
    starts[item] = at
  }
  return starts
}

/** Returns an item's action line and document, without line ends. */
export function itemLines(body: Body, starts: Uint32Array, item: number): { action: Buffer; document: Buffer } {
  const from = starts[item] ?? 0
  const to = (starts[item + 1] ?? 0) - 1
  const between = body.bytes.indexOf(LINE_FEED, from)
  const end = body.bytes[to - 1] === 0x0d ? to - 1 : to
  return { action: body.bytes.subarray(from, between), document: body.bytes.subarray(between + 1, end) }
}

/** Returns the id that an item is sent with. */
export function idOfItem(body: Body, starts: Uint32Array, item: number): string | undefined {
  return addressIn(itemLines(body, starts, item).action)._id
}

/** Returns both halves, as views of the same memory. */
export function halves(body: Body): [Body, Body] {
  const items = body.items >> 1
  const middle = itemStarts(body)[items] ?? 0
  const part = (bytes: Buffer, first: number, count: number): Body => ({
    bytes,
    items: count,
    first: body.first + first,
    ...(body.ordinals === undefined ? {} : { ordinals: body.ordinals.subarray(first, first + count) }),
  })
  return [part(body.bytes.subarray(0, middle), 0, items), part(body.bytes.subarray(middle), items, body.items - items)]
}

/** Moves the named items (ascending) to the front of the body's memory; the others are overwritten. */
export function keepItems(body: Body, items: ArrayLike<number>): Body {
  return gathered(body, items, body.bytes)
}

/** Returns the named items (ascending) in memory of their own. */
export function copyItems(body: Body, items: ArrayLike<number>): Body {
  return gathered(body, items)
}

function gathered(body: Body, items: ArrayLike<number>, into?: Buffer): Body {
  const starts = itemStarts(body)
  const list = Array.from(items)
  const bytes = list.reduce((sum, item) => sum + (starts[item + 1] ?? 0) - (starts[item] ?? 0), 0)
  const memory = into ?? Buffer.allocUnsafeSlow(bytes)
  let end = 0
  for (const item of list) end += copyInto(memory, end, body.bytes.subarray(starts[item], starts[item + 1]))
  return {
    bytes: memory.subarray(0, end),
    items: list.length,
    first: 0,
    ordinals: Uint32Array.from(list, item => ordinalOf(body, item)),
  }
}

/** Returns the bytes of a request. For a deletion, these are only its action lines. */
export function requestBytes(body: Body, operation: BatchOperation): Buffer {
  if (bulkFormOf(operation).sendsDocument) return body.bytes
  const { bytes } = body
  const lines: Buffer[] = []
  for (let item = 0, from = 0; item < body.items; item += 1) {
    const document = bytes.indexOf(LINE_FEED, from) + 1
    const next = bytes.indexOf(LINE_FEED, document) + 1
    lines.push(bytes.subarray(from, isSentWithout(bytes, from) ? document : next))
    from = next
  }
  return Buffer.concat(lines)
}

const withoutDocument = operations
  .filter(operation => !rowOf(operation).sendsDocument)
  .map(operation => Buffer.from(bulkFormOf(operation).action))

function isSentWithout(bytes: Buffer, from: number): boolean {
  return withoutDocument.some(action => bytes.compare(action, 0, action.length, from, from + action.length) === 0)
}

/** Returns the operation of an item. Some of the same action differ only in what stands around the document: the longest counts. */
export function operationOf(of: BatchOperation, action: Buffer, document: Buffer): Operation {
  if (of !== 'mixed') return of
  const verb = action.toString('latin1', 2, action.indexOf('"', 2))
  return longestFirst.find(one => rowOf(one).verb === verb && isAround(rowOf(one), document)) ?? 'update'
}

const longestFirst = operations.toSorted((one, other) => lengthAround(other) - lengthAround(one))

function lengthAround(operation: Operation): number {
  const { opening, closing } = rowOf(operation)
  return opening.length + closing.length
}

function isAround({ opening, closing }: Pick<ReturnType<typeof rowOf>, 'opening' | 'closing'>, line: Buffer): boolean {
  const starts = line.subarray(0, opening.length).equals(Buffer.from(opening))
  return starts && line.subarray(line.length - closing.length).equals(Buffer.from(closing))
}

/** Returns a document without what its operation puts around it. */
export function documentIn(line: Buffer, operation: Operation, script?: Script): Buffer {
  const { opening, closing } = bulkFormOf(operation, { script })
  if (opening === '') return line
  return line.subarray(Buffer.byteLength(opening), line.lastIndexOf(closing))
}

interface Address {
  readonly _id?: string
  readonly _index?: string
  readonly routing?: string
}

/** Reads the address in an action line. */
export function addressIn(action: Buffer): Address {
  const line = JSON.parse(action.toString('utf8')) as Record<string, Address>
  return Object.values(line)[0] ?? {}
}
