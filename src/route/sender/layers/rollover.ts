/**
 * The layer that looks up documents that may be stored already. After a rollover of a data stream or alias, a new index takes the
 * documents, and a second send would store the same id there. So Sluice searches all indices before it sends such a body.
 */
import { rowOf } from '../../../base/operation.js'
import type { FoundDocument, Looked } from '../../cluster/documents.js'
import type { IndexSeen, View } from '../../cluster/indices.js'
import type { Cluster } from '../../cluster/open-cluster.js'
import { explain, type Failure, isSluiceError } from '../../../base/failure/failure.js'
import type { Clock } from '../../../base/flow.js'
import { isAccessLoss } from '../circuit-breaker.js'
import {
  type BatchIds,
  batchIds,
  type Body,
  type BulkRequest,
  idOfItem,
  itemStarts,
  type Send,
  type Settled,
  type Verdict,
} from '../send.js'
import { EachIndex } from './each-index.js'

export interface RolloverOptions extends BatchIds {
  readonly cluster: Cluster
  readonly index: string
  /** Whether an earlier process may have sent the same documents under the same ids: a resume, or a named run. */
  readonly sentBefore: boolean
  /** Whether an id of Sluice's own always belongs to the same document, so that a conflict is never another document. Default false. */
  readonly repeatsIds?: boolean
  /** Whether an earlier process may have sent documents whose outcome it did not note. Default: as `sentBefore`. */
  readonly leftInDoubt?: boolean
  /** Indices behind the name when the first document was sent. Absent: not known. */
  readonly behind?: readonly string[]
  readonly onConflict: 'reject' | 'skip'
  readonly clock: Pick<Clock, 'now'>
  /** Aborted when nothing more may be sent. A doubt is not reported then. */
  readonly halted: AbortSignal
  onDoubt?(message: string): void
}

const MOST_IDS = 1000
/** An answer about the index serves other bodies for this time, unless one of their own sends got no answer. */
const SEEN_MS = 1000

export function rollover(stream: StreamWatch, inner: Send): Send {
  const { sentBefore: ownBefore, leftInDoubt = ownBefore, repeatsIds = false } = stream.options
  const each = new EachIndex(stream)
  return async request => {
    const { history, batch } = request
    // Ids that somebody else made are no trace of an earlier send.
    const sentBefore = batch.ids === 'given' ? leftInDoubt : ownBefore
    const found = mayBeStored(stream, request) ? await lookUp(stream, each, request) : undefined
    if (found !== undefined) return found
    // The last send of a dead letter was answered, so it is no reason for doubt.
    const resent = history.resent || sentBefore || repeatsIds || batch.addressed !== undefined
    return await inner({ ...request, history: { resent, doubtful: history.doubtful || sentBefore } })
  }
}

/** Returns whether documents of a body may be stored already, and their ids might not keep a second copy out. */
function mayBeStored({ options }: StreamWatch, { batch, history }: BulkRequest): boolean {
  const isOfAnyAge = batch.addressed?.ids === 'own'
  if (!history.doubtful && !options.sentBefore && !isOfAnyAge) return false
  const { ownIds, safeToResend } = batchIds(batch, options)
  // With operation index and ids of their own, users ask Sluice to overwrite.
  return safeToResend && (rowOf(batch.operation).repeat === 'conflict' || ownIds)
}

async function lookUp(
  stream: StreamWatch,
  each: EachIndex,
  { body, batch, history }: BulkRequest,
): Promise<Verdict | undefined> {
  const { ownIds } = batchIds(batch, stream.options)
  if (batch.indices !== undefined) return await each.look(body, history.doubtful, ownIds)
  if (batch.addressed === undefined) return await stream.look(body, history.doubtful, ownIds)
  // An earlier send, or an earlier replay of the same file, may have stored a dead letter. Under an id that Sluice did not make,
  // a document that is found need not be the dead letter.
  return await stream.of(batch.addressed.destination.index, ownIds).look(body, history.doubtful, ownIds)
}

/** Watches which indices are behind a name. */
export class StreamWatch {
  readonly options: RolloverOptions
  #seen: { readonly at: number; readonly index: Promise<IndexSeen> } | undefined
  #refreshed: ReturnType<Cluster['indices']['refresh']> | undefined
  /** Where a search sees all documents, for the indices that were behind the name. */
  #view: { readonly behind: string; readonly names: Promise<View['names'] | undefined> } | undefined
  readonly #told = new Set<string>()
  readonly #others = new Map<string, StreamWatch>()

  constructor(options: RolloverOptions) {
    this.options = options
  }

  /**
   * Returns the watch over an index that dead letters go to. `atAnyTime`: an unknown process may have stored some of them, so the
   * indices behind the name at the start of this run are no evidence.
   */
  of(index: string, atAnyTime: boolean): StreamWatch {
    if (index === this.options.index && !atAnyTime) return this
    const { behind: _, ...options } = this.options
    const other = this.#others.get(index) ?? new StreamWatch({ ...options, index })
    this.#others.set(index, other)
    return other
  }

  /** Returns whether an index is behind the target. True also if Sluice may not ask. */
  async isBehind(name: string): Promise<boolean> {
    const seen = await this.#see(true)
    return seen.kind === 'unreadable' || (seen.kind === 'name' && seen.behind.includes(name))
  }

  /**
   * Returns undefined if no id can exist twice, or if Sluice may not look. `fresh`: ask again which indices are behind the name.
   * `ownIds`: documents that are found are Sluice's.
   */
  async look(body: Body, fresh: boolean, ownIds: boolean): Promise<Verdict | undefined> {
    // It answers no question.
    if (this.options.cluster.isManaged) return undefined
    const seen = await this.#see(fresh)
    if (seen.kind === 'unreadable') {
      const later = askLater(seen.failure)
      if (later !== undefined) {
        this.#seen = undefined
        return later
      }
      if (this.options.behind !== undefined)
        this.#doubt(
          `the credentials do not show whether ${this.options.index} has rolled over. A document may be stored twice`,
        )
    }
    if (!this.#hasRolledOver(seen)) return undefined
    const { cluster, index } = this.options
    // Documents of an earlier process are old. A document whose send got no answer may have arrived just now.
    if (fresh || this.#refreshed === undefined) this.#refreshed = cluster.indices.refresh(index)
    const unrefreshed = await this.#refreshed
    if (unrefreshed !== undefined) {
      const later = askLater(unrefreshed)
      if (later !== undefined) {
        this.#refreshed = undefined
        return later
      }
      this.#doubt(
        `the credentials cannot refresh ${index}, so a document stored just before a rollover may be stored twice`,
      )
    }
    const names = await this.#searched(seen)
    if (names === undefined) return undefined
    const starts = itemStarts(body)
    const ids = Array.from({ length: body.items }, (_, item) => idOfItem(body, starts, item) ?? '')
    const found = new Set<string>()
    for (const part of parts(ids, MOST_IDS)) {
      const looked = await this.#find(part, names)
      if (looked === undefined) return undefined
      if (!Array.isArray(looked)) return looked
      for (const { id } of looked) found.add(id)
    }
    if (found.size === 0) return undefined
    const left = ids.flatMap((id, item) => (found.has(id) ? [] : [item]))
    return { kind: 'there', settled: this.#settled(body.items - left.length, ownIds), left }
  }

  async #see(fresh: boolean): Promise<IndexSeen> {
    const { cluster, index, clock } = this.options
    const now = clock.now()
    if (fresh || this.#seen === undefined || now - this.#seen.at > SEEN_MS)
      this.#seen = { at: now, index: cluster.indices.see(index) }
    const seen = await this.#seen.index
    // By the next body, another index may be behind the name.
    if (seen.kind === 'name') this.#seen = undefined
    return seen
  }

  #hasRolledOver(seen: IndexSeen): boolean {
    if (seen.kind !== 'name') return false
    const { behind } = this.options
    return behind === undefined ? seen.behind.length > 1 : seen.behind.some(name => !behind.includes(name))
  }

  /** Returns where to search for documents. Undefined if an alias hides some, and the credentials may not look behind it. */
  async #searched(seen: IndexSeen): Promise<View['names'] | undefined> {
    const { cluster, index } = this.options
    const behind = seen.kind === 'name' ? seen.behind.join() : ''
    if (this.#view?.behind !== behind) {
      const names = cluster.indices.viewOf(index, seen).then(
        ({ names, mayHide }) => {
          // The next body asks again.
          if (mayHide) this.#view = undefined
          return names
        },
        (error: unknown) => {
          if (!isSluiceError(error)) throw error
          this.#doubt(
            `${index} has rolled over, and Sluice cannot look up its ids (${error.failure.message}). A document that is already stored may be stored twice`,
          )
          return undefined
        },
      )
      this.#view = { behind, names }
      return await names
    }
    return await this.#view.names
  }

  /** Finds the ids, in halves if the cluster refuses a request with all of them. Returns undefined if it refuses for good. */
  async #find(ids: readonly string[], names: View['names']): Promise<FoundDocument[] | Verdict | undefined> {
    const { cluster, index } = this.options
    const [only = index] = names
    const where = names.length === 1 ? only : names
    const finding = cluster.documents.find({ index: where, by: 'search', wanted: ids.map(id => ({ id })) })
    const looked = await finding.catch(asBusy)
    if (looked.kind === 'found') return [...looked.documents]
    if (looked.kind === 'again') return { kind: 'wait', failure: looked.failure, delivery: 'none', unsent: true }
    // If access is lost, the layer above asks again once it is back.
    if (isAccessLoss(looked.failure)) return { kind: 'stop', failure: looked.failure, delivery: 'none' }
    if (looked.kind === 'refused' || ids.length === 1) {
      this.#doubt(
        `${index} has rolled over, and Sluice cannot look up its ids (${looked.failure.message}). A document that is already stored may be stored twice`,
      )
      return undefined
    }
    const found: FoundDocument[] = []
    for (const half of parts(ids, Math.ceil(ids.length / 2))) {
      const one = await this.#find(half, names)
      if (!Array.isArray(one)) return one
      found.push(...one)
    }
    return found
  }

  #settled(there: number, ownIds: boolean): Settled {
    const { onConflict } = this.options
    const none = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused: [] }
    if (ownIds) return { ...none, duplicate: there }
    // As with a conflict: the document under a user's id may be another one.
    return onConflict === 'skip' ? { ...none, skipped: there } : { ...none, unknown: there }
  }

  #doubt(message: string): void {
    if (this.options.halted.aborted || this.#told.has(message)) return
    this.#told.add(message)
    this.options.onDoubt?.(message)
  }
}

/** Returns the verdict on a body whose look-up failed and may succeed later. Undefined: the cluster refuses it for good. */
function askLater(why: Failure): Verdict | undefined {
  if (explain(why.code).retry === 'later') return { kind: 'wait', failure: why, delivery: 'none', unsent: true }
  return isAccessLoss(why) ? { kind: 'stop', failure: why, delivery: 'none' } : undefined
}

/** Treats a request that was given up, or that is over the budget, as one to a busy cluster. */
function asBusy(error: unknown): Looked {
  if (isSluiceError(error) && error.code === 'RUN_INTERRUPTED') return { kind: 'again', failure: error.failure }
  throw error
}

function* parts<T>(list: readonly T[], most: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += most) yield list.slice(at, at + most)
}
