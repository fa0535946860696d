/**
 * Behind a data stream or alias a rollover puts a new index in the place of the one that was written to, and the same id can be
 * created again there. What may have been stored before the rollover is looked up, in all of them, before it is sent again.
 */
import { type FoundDocument, type Looked, findDocuments } from '../cluster/find-documents.js'
import { type IndexSeen, seeIndex } from '../cluster/index-uuid.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { refresh } from '../cluster/refresh.js'
import { explain } from '../failure/catalogue.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { Clock } from '../flow.js'
import { isAccessLoss } from './access-loss.js'
import { type Body, itemStarts } from './body.js'
import type { Settled, Verdict } from './verdict.js'
import { idIn } from './witness.js'

export interface StreamWatchOptions {
  readonly cluster: Pick<Cluster, 'client' | 'display' | 'route' | 'bounds'>
  readonly index: string
  /** Indices behind the name when the first document was sent. Absent: not known. */
  readonly behind?: readonly string[]
  readonly onConflict: 'reject' | 'skip'
  readonly clock: Pick<Clock, 'now'>
  /** Aborted when nothing more may be sent: then nothing is in doubt that would be. */
  readonly halted: AbortSignal
  onDoubt?(message: string): void
}

const MOST_IDS = 1000
/** For bodies that only may have been sent before, what was seen of an index is good for so long. */
const SEEN_MS = 1000

export class StreamWatch {
  readonly #options: StreamWatchOptions
  #seen: { readonly at: number; readonly index: Promise<IndexSeen> } | undefined
  #refreshed: ReturnType<typeof refresh> | undefined
  readonly #told = new Set<string>()
  readonly #others = new Map<string, StreamWatch>()

  constructor(options: StreamWatchOptions) {
    this.#options = options
  }

  /**
   * The watch over where dead letters go. `atAnyTime`: one may have been stored by a process of which nothing is known, so that
   * what stood behind the name when this run began tells nothing.
   */
  of(index: string, atAnyTime: boolean): StreamWatch {
    if (index === this.#options.index && !atAnyTime) return this
    const { behind: _, ...options } = this.#options
    const other = this.#others.get(index) ?? new StreamWatch({ ...options, index })
    this.#others.set(index, other)
    return other
  }

  /** Whether an index stands behind the target. True also where that may not be asked. */
  async isBehind(name: string): Promise<boolean> {
    const seen = await this.#see(true)
    return seen.kind === 'unreadable' || (seen.kind === 'name' && seen.behind.includes(name))
  }

  /** Undefined: none of the body's ids can be doubled, or nothing can be done about it. `fresh`: ask now what is behind the name. `ownIds`: what is found is Sluice's. */
  async look(body: Body, fresh: boolean, ownIds: boolean): Promise<Verdict | undefined> {
    const seen = await this.#see(fresh)
    if (seen.kind === 'unreadable') {
      const later = askLater(seen.failure)
      if (later !== undefined) {
        this.#seen = undefined
        return later
      }
      if (this.#options.behind !== undefined)
        this.#doubt(`whether ${this.#options.index} has rolled over may not be asked: a document may be stored twice`)
    }
    if (!this.#hasRolledOver(seen)) return undefined
    const { cluster, index } = this.#options
    // What an earlier process stored is as old as this one; what got no answer may have come a moment ago.
    if (fresh || this.#refreshed === undefined) this.#refreshed = refresh(cluster, index)
    const unrefreshed = await this.#refreshed
    if (unrefreshed !== undefined) {
      const later = askLater(unrefreshed)
      if (later !== undefined) {
        this.#refreshed = undefined
        return later
      }
      this.#doubt(`${index} may not be refreshed: after a rollover, a document stored just before may be stored twice`)
    }
    const starts = itemStarts(body)
    const ids = Array.from({ length: body.items }, (_, item) => idIn(body, starts, item) ?? '')
    const found = new Set<string>()
    for (const part of parts(ids, MOST_IDS)) {
      const looked = await this.#find(part)
      if (looked === undefined) return undefined
      if (!Array.isArray(looked)) return looked
      for (const { id } of looked) found.add(id)
    }
    if (found.size === 0) return undefined
    const left = ids.flatMap((id, item) => (found.has(id) ? [] : [item]))
    return { kind: 'there', settled: this.#settled(body.items - left.length, ownIds), left }
  }

  async #see(fresh: boolean): Promise<IndexSeen> {
    const { cluster, index, clock } = this.#options
    const now = clock.now()
    if (fresh || this.#seen === undefined || now - this.#seen.at > SEEN_MS)
      this.#seen = { at: now, index: seeIndex(cluster, index) }
    const seen = await this.#seen.index
    // Behind a name another index may stand by the next body.
    if (seen.kind === 'name') this.#seen = undefined
    return seen
  }

  #hasRolledOver(seen: IndexSeen): boolean {
    if (seen.kind !== 'name') return false
    const { behind } = this.#options
    return behind === undefined ? seen.behind.length > 1 : seen.behind.some(name => !behind.includes(name))
  }

  /** Halved as often as it has to be. Undefined: it is refused for good. */
  async #find(ids: readonly string[]): Promise<FoundDocument[] | Verdict | undefined> {
    const { cluster, index } = this.#options
    const finding = findDocuments(cluster, { index, by: 'search', wanted: ids.map(id => ({ id })) })
    const looked = await finding.catch(asBusy)
    if (looked.kind === 'found') return [...looked.documents]
    if (looked.kind === 'busy') return { kind: 'wait', failure: looked.failure, delivery: 'none', unsent: true }
    // What cannot be asked for want of access is asked again when access is back.
    if (isAccessLoss(looked.failure)) return { kind: 'stop', failure: looked.failure, delivery: 'none' }
    if (looked.kind === 'refused' || ids.length === 1) {
      this.#doubt(
        `${index} has rolled over, and its ids cannot be looked up (${looked.failure.message}): a document that was stored before may be stored twice`,
      )
      return undefined
    }
    const found: FoundDocument[] = []
    for (const half of parts(ids, Math.ceil(ids.length / 2))) {
      const one = await this.#find(half)
      if (!Array.isArray(one)) return one
      found.push(...one)
    }
    return found
  }

  #settled(there: number, ownIds: boolean): Settled {
    const { onConflict } = this.#options
    const none = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, refused: [] }
    if (ownIds) return { ...none, duplicate: there }
    // As with a conflict: whose document stands under an id of the user's own is not known.
    return onConflict === 'skip' ? { ...none, skipped: there } : { ...none, unknown: there }
  }

  #doubt(message: string): void {
    if (this.#options.halted.aborted || this.#told.has(message)) return
    this.#told.add(message)
    this.#options.onDoubt?.(message)
  }
}

/** What was in the way of a question may pass, or access may come back: until then nothing is sent unseen. Undefined: it is refused for good. */
function askLater(why: Failure): Verdict | undefined {
  if (explain(why.code).retry === 'later') return { kind: 'wait', failure: why, delivery: 'none', unsent: true }
  return isAccessLoss(why) ? { kind: 'stop', failure: why, delivery: 'none' } : undefined
}

/** Given up, or past a budget: as good as a cluster that is too busy to answer. */
function asBusy(error: unknown): Looked {
  if (isSluiceError(error) && error.code === 'RUN_INTERRUPTED') return { kind: 'busy', failure: error.failure }
  throw error
}

function* parts<T>(list: readonly T[], most: number): Generator<readonly T[]> {
  for (let at = 0; at < list.length; at += most) yield list.slice(at, at + most)
}
