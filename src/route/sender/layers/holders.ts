/** Reads from answers which indices store documents. Behind an alias or a data stream, only the answer names the index. */
import type { Batch } from '../../../base/flow.js'
import { acceptedAs, isVerb, rowOf } from '../../../base/operation.js'
import { type BulkItem, resultIn, resultsIn, sameResult } from '../../cluster/bulk-items.js'
import type { Wanted } from '../../cluster/documents.js'
import { addressIn, type Body, itemLines, itemStarts } from '../send.js'

export interface HolderWatch {
  /** Called before a request. Returns what hears of its answer. Undefined: the answer need not name indices. */
  ask(batch: Batch): HearHolder | undefined
}

/**
 * Hears of an index that has stored a document, before the document is settled. `document`: makes one that the index holds. It returns
 * undefined if none has an id, or if the same request may have deleted it.
 */
export type HearHolder = (index: string, document: () => Wanted | undefined) => void

interface Sent {
  readonly body: Body
  readonly batch: Pick<Batch, 'operation'>
}

/** Reads an answer whose items name their index. */
export function readHolders(answer: Buffer, { body, batch: { operation } }: Sent, hear: HearHolder): void {
  const same = sameResult(answer, body.items)
  const first = new Map<string, number>()
  let at = 0
  for (const item of same === undefined ? resultsIn(answer) : [resultIn(same)]) {
    if (item.index !== undefined && !first.has(item.index) && isHeld(item)) first.set(item.index, at)
    at += 1
  }
  const mayDelete = !rowOf(operation).sendsDocument
  for (const [index, item] of first) hear(index, () => (mayDelete ? undefined : documentAt(body, item)))
}

/** Returns whether the index holds the document. After a lost answer, a conflict shows that, too. */
function isHeld({ action, status, result, failureStore: store }: BulkItem): boolean {
  if (store === 'used') return false
  if (!isVerb(action)) return status === 201
  const row = rowOf(action)
  if (status === CONFLICT) return row.repeat === 'conflict'
  return status === 201 || (status === 200 && HELD.has(acceptedAs(row, result)))
}

const CONFLICT = 409
const HELD = new Set(['updated', 'noop'])

function documentAt(body: Body, item: number): Wanted | undefined {
  const { _id: id, routing } = addressIn(itemLines(body, itemStarts(body, item + 1), item).action)
  return id === undefined ? undefined : { id, ...(routing === undefined ? {} : { routing }) }
}
