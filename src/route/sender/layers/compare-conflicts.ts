/** The layer that looks at the documents that exist already. If the cluster holds the same document, an earlier load brought it there. */
import { explain, isSluiceError, type SluiceError } from '../../../base/failure/failure.js'
import type { Cluster } from '../../cluster/open-cluster.js'
import type { Wanted } from '../../cluster/documents.js'
import {
  addressIn,
  type BulkRequest,
  itemLines,
  itemStarts,
  type RefusedItems,
  type Send,
  type Verdict,
} from '../send.js'
import { StoredForms } from './stored-forms.js'

interface ComparingOptions {
  readonly cluster: Cluster
  readonly index: string
  /** The pipeline that the load names. */
  readonly pipeline?: string | undefined
  onDoubt?(message: string): void
}

/** Documents and bytes in one question. */
const AT_ONCE = 500
const BYTES_AT_ONCE = 4 << 20

export function compareConflicts(options: ComparingOptions, inner: Send): Send {
  const { cluster, index, onDoubt } = options
  const forms = new StoredForms(options)
  let isTold = false
  return async request => {
    const verdict = await inner(request)
    if (verdict.kind !== 'done' && verdict.kind !== 'retryItems') return verdict
    const conflicts = () => conflictsIn(request, verdict.settled.refused, index)
    try {
      const { same, unclear } = await findSame(cluster, forms, conflicts())
      const seen = sorted(verdict, 'duplicate', same)
      // The stored document may be our own earlier send.
      return request.history.doubtful ? sorted(seen, 'unknown', unclear) : seen
    } catch (error) {
      if (!isSluiceError(error)) throw error
      const open = new Set(Array.from(conflicts(), ({ item }) => item))
      if (explain(error.code).retry === 'later') return askedAgain(verdict, open, error)
      if (!isTold) onDoubt?.(unseen(index, error))
      isTold = true
      // The stored document may be our own earlier send.
      return request.history.doubtful ? sorted(verdict, 'unknown', open) : verdict
    }
  }
}

function unseen(index: string, { message }: SluiceError): string {
  return `Sluice cannot see whether documents that exist in ${index} are the same, so it rejects them (${message})`
}

interface Conflict extends Wanted {
  readonly item: number
  readonly index: string
  readonly document: Buffer
}

const CONFLICT = 409

/** `index`: where the documents of the run go. An answer names the index behind it. */
function* conflictsIn({ body }: BulkRequest, refused: RefusedItems, index: string): Generator<Conflict> {
  if (refused.length === 0) return
  const starts = itemStarts(body)
  for (const { item, status, index: holder } of refused) {
    if (status !== CONFLICT) continue
    const { action, document } = itemLines(body, starts, item)
    const { _id: id, _index: named, routing } = addressIn(action)
    if (id === undefined) continue
    const place = routing === undefined ? { id } : { id, routing }
    yield { ...place, item, index: holder ?? named ?? index, document }
  }
}

interface Seen {
  readonly same: ReadonlySet<number>
  readonly unclear: ReadonlySet<number>
}

/** Returns the items whose document the cluster holds, and those that a pipeline may have changed. Throws SluiceError. */
async function findSame(cluster: Cluster, forms: StoredForms, conflicts: Iterable<Conflict>): Promise<Seen> {
  const [same, unclear] = [new Set<number>(), new Set<number>()]
  for (const part of partsOf(conflicts)) {
    const stored = await cluster.documents.readSources({ index: part[0]?.index ?? '', wanted: part })
    for (const [at, { item, index, document }] of part.entries()) {
      const source = stored[at]
      if (source === undefined) continue
      const how = await forms.compare(index, source, document)
      if (how === 'same') same.add(item)
      if (how === 'unclear') unclear.add(item)
    }
  }
  return { same, unclear }
}

/** Collects conflicts of one index that fit into one answer. A body may have many thousands: as objects they would take much memory. */
function* partsOf(conflicts: Iterable<Conflict>): Generator<readonly Conflict[]> {
  const open = new Map<string, { readonly part: Conflict[]; bytes: number }>()
  for (const conflict of conflicts) {
    const { index, document } = conflict
    let collected = open.get(index)
    if (collected === undefined || isFull(collected, document.length)) {
      if (collected !== undefined) yield collected.part
      collected = { part: [], bytes: 0 }
      open.set(index, collected)
    }
    collected.part.push(conflict)
    collected.bytes += document.length
  }
  for (const { part } of open.values()) yield part
}

function isFull(
  { part, bytes }: { readonly part: readonly Conflict[]; readonly bytes: number },
  more: number,
): boolean {
  return part.length === AT_ONCE || bytes + more > BYTES_AT_ONCE
}

type Answered = Extract<Verdict, { kind: 'done' | 'retryItems' }>

/** Counts these refused items in another way. */
function sorted(verdict: Answered, as: 'duplicate' | 'unknown', items: ReadonlySet<number>): Answered {
  const { settled } = verdict
  const refused = without(settled.refused, items)
  return { ...verdict, settled: { ...settled, [as]: settled[as] + items.size, refused } }
}

/** Leaves the conflicts open: their documents are sent and looked up again. */
function askedAgain(verdict: Answered, open: ReadonlySet<number>, { failure }: SluiceError): Verdict {
  const others = verdict.kind === 'retryItems' ? verdict.items : []
  const settled = { ...verdict.settled, refused: without(verdict.settled.refused, open) }
  const items = [...others, ...open].toSorted((one, other) => one - other)
  const delivery = verdict.kind === 'retryItems' ? verdict.delivery : 'none'
  return { kind: 'retryItems', settled, items, failure, delivery }
}

function without(refused: RefusedItems, items: ReadonlySet<number>): RefusedItems {
  if (items.size === 0) return refused
  const left = Array.from(refused.items ?? Array.from(refused, ({ item }) => item)).filter(item => !items.has(item))
  return {
    items: left,
    length: left.length,
    *[Symbol.iterator]() {
      for (const one of refused) if (!items.has(one.item)) yield one
    },
  }
}
