/**
 * Watches the indices that store documents of a run under another name: those behind an alias or a data stream. A rollover adds one, and
 * the others stay. The first answer of a new index names it, and then its uuid is read.
 */
import type { IndexSeen } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { SenderOptions } from '../../../route/sender/sender.js'
import { explain } from '../../../base/failure/failure.js'
import type { IndexHolder } from '../checkpoint/checkpoint.js'
import { DELETED, isIndexGone } from './lost-index.js'
import { Witnesses } from './witnesses.js'

/** Hears of an index that has stored a document, before the document is settled. */
export type HearHolder = NonNullable<ReturnType<NonNullable<SenderOptions['holders']>['ask']>>

interface Asking {
  readonly cluster: Cluster
  /** Aborted when the cluster is not waited for any longer. */
  readonly givenUp: AbortSignal
}

export class Holders {
  readonly #asking: Asking
  /** Returns the name that leads to them. Undefined: there are many. */
  readonly #name: () => string | undefined
  readonly #uuids = new Map<string, string | undefined>()
  readonly #witnesses = new Witnesses()
  /** Indices whose uuid was read, or cannot be read. Replaced by each change, so that a request keeps what was known when it was sent. */
  #known: ReadonlySet<string>
  #turn: Promise<void> = Promise.resolve()
  #isLooking = false

  constructor(before: readonly IndexHolder[], name: () => string | undefined, asking: Asking) {
    this.#name = name
    this.#asking = asking
    for (const { index, indexUuid, witnesses } of before) {
      this.#uuids.set(index, indexUuid)
      this.#witnesses.take(index, witnesses)
    }
    this.#known = new Set(before.flatMap(({ index, indexUuid }) => (indexUuid === undefined ? [] : [index])))
  }

  /** Every index that stored a document, with what it is known by. */
  get all(): readonly IndexHolder[] {
    return Array.from(this.#uuids, ([index, indexUuid]) => {
      const witnesses = this.#witnesses.of(index)
      const known = indexUuid === undefined ? {} : { indexUuid }
      return { index, ...known, ...(witnesses.length === 0 ? {} : { witnesses }) }
    })
  }

  /** Called before a request. Returns what hears of its answer. `areKept`: whether documents keep the ids that they are sent with. */
  begin(areKept: boolean): HearHolder {
    const known = this.#known
    return (index, document) => {
      if (!this.#uuids.has(index)) this.#uuids.set(index, undefined)
      if (known.has(index)) return
      // Another index of the same name may have stored it, and may be gone when the uuid is read.
      const stored = areKept ? document() : undefined
      if (stored !== undefined) this.#witnesses.add(index, stored)
      if (!this.#isLooking) void this.see()
    }
  }

  /** Reads the uuids of new indices, and looks whether they still hold what they stored before that. */
  async see(): Promise<void> {
    this.#isLooking = true
    const turn = this.#turn.then(async () => {
      this.#isLooking = false
      await this.#see()
    })
    this.#turn = turn
    await turn
  }

  async #see(): Promise<void> {
    const fresh = [...this.#uuids.keys()].filter(index => !this.#known.has(index))
    if (fresh.length > 0) for (const [index, seen] of await this.#ask(fresh)) this.#note(index, seen)
    for (const index of this.#witnesses.indices) {
      if (!this.#known.has(index)) continue
      if (this.#uuids.get(index) === undefined) this.#witnesses.drop(index)
      else if (await this.#witnesses.isOther(this.#asking.cluster, index, this.#asking.givenUp))
        this.#uuids.set(index, DELETED)
    }
  }

  #note(index: string, seen: IndexSeen): void {
    if (!this.#uuids.has(index) || this.#known.has(index)) return
    // It is gone, or the cluster gave no answer. A later look may see it.
    if (seen.kind === 'missing' || seen.kind === 'name') return
    if (seen.kind === 'unreadable' && explain(seen.failure.code).retry === 'later') return
    this.#known = new Set([...this.#known, index])
    if (seen.kind === 'index') this.#uuids.set(index, seen.uuid)
    // A pipeline may have changed the ids.
    if (seen.kind === 'unreadable' || seen.isPiped === true) this.#witnesses.drop(index)
  }

  /** Returns the indices that were deleted or made again since they stored documents. */
  async lost(): Promise<readonly string[]> {
    if (this.#uuids.size === 0) return []
    await this.see()
    const seen = await this.#ask([...this.#uuids.keys()])
    return [...this.#uuids].flatMap(([index, uuid]) => (isIndexGone(uuid, seen.get(index)) ? [index] : []))
  }

  async #ask(indices: readonly string[]): Promise<ReadonlyMap<string, IndexSeen>> {
    const { cluster, givenUp } = this.#asking
    const name = this.#name()
    const seen = name === undefined ? undefined : await cluster.indices.see(name, givenUp)
    return await cluster.indices.seeBehind(seen, indices, givenUp)
  }
}
