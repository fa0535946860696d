/** Watches the indices of a run whose documents name them. */
import { explain } from '../../../base/failure/failure.js'
import type { IndexSeen } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { DocumentsByIndex } from '../../../pipeline/ledger/account.js'
import type { NamedIndex } from '../checkpoint/checkpoint.js'
import { DELETED, isNameGone } from './lost-index.js'
import type { Witnesses } from './witnesses.js'

interface Asking {
  readonly cluster: Cluster
  /** Aborted when the cluster is not waited for any longer. */
  readonly givenUp: AbortSignal
}

export class NamedIndices {
  /** Indices that earlier processes of the run stored documents in. */
  readonly #before: ReadonlyMap<string, NamedIndex>
  readonly #asking: Asking
  /** Uuids, of indices that have one. */
  readonly #uuids = new Map<string, string>()
  readonly #asked = new Set<string>()
  readonly #witnesses: Witnesses
  /** Indices that have a pipeline, which may change ids. */
  readonly #piped = new Set<string>()
  #mayAsk = true
  #taken: DocumentsByIndex = new Map()

  constructor(before: readonly NamedIndex[], asking: Asking, witnesses: Witnesses) {
    this.#witnesses = witnesses
    this.#before = new Map(before.map(one => [one.index, one]))
    this.#asking = asking
    for (const { index, indexUuid } of before) if (indexUuid !== undefined) this.#uuids.set(index, indexUuid)
  }

  /** Whether nothing is known of an index yet. */
  isNew(index: string): boolean {
    return this.#mayAsk && !this.#uuids.has(index) && !this.#asked.has(index)
  }

  /** Whether it may be an alias or a data stream. */
  mayBeName(index: string): boolean {
    return this.#mayAsk && !this.#uuids.has(index)
  }

  /** Returns all indices of the run. Asks once for the uuid of each. `taken`: documents of this process. */
  async see(taken: DocumentsByIndex): Promise<readonly NamedIndex[]> {
    this.#taken = taken
    const fresh = [...taken.keys()].filter(index => !this.#uuids.has(index) && !this.#asked.has(index))
    if (fresh.length > 0 && this.#mayAsk) for (const [index, seen] of await this.#ask(fresh)) this.#note(index, seen)
    await this.#look()
    const names = new Set([...this.#before.keys(), ...taken.keys()])
    return Array.from(names, index => {
      const documents = (this.#before.get(index)?.documents ?? 0) + (taken.get(index) ?? 0)
      const indexUuid = this.#uuids.get(index)
      const witnesses = this.#witnesses.of(index)
      const known = indexUuid === undefined ? {} : { indexUuid }
      return { index, documents, ...known, ...(witnesses.length === 0 ? {} : { witnesses }) }
    })
  }

  /** Looks whether indices whose uuid is known are those that took documents before. */
  async #look(): Promise<void> {
    const { cluster, givenUp } = this.#asking
    for (const index of this.#witnesses.indices) {
      // What is missing may be made again.
      if (this.isNew(index)) continue
      if (!this.#uuids.has(index) || this.#piped.has(index)) this.#witnesses.drop(index)
      else if (await this.#witnesses.isOther(cluster, index, givenUp)) this.#uuids.set(index, DELETED)
    }
  }

  /** Returns the indices that took documents of this process and are other ones now, or are gone. */
  async lost(): Promise<readonly string[]> {
    if (!this.#mayAsk) return []
    // A pipeline may have sent documents elsewhere, so that their index was never made.
    const taken = [...this.#taken].flatMap(([index, documents]) =>
      documents > 0 && this.#uuids.has(index) ? [index] : [],
    )
    const seen = await this.#ask(taken)
    return taken.filter(index => isNameGone(this.#uuids.get(index), seen.get(index)))
  }

  async #ask(names: readonly string[]): Promise<ReadonlyMap<string, IndexSeen>> {
    return await this.#asking.cluster.indices.seeAll(names, this.#asking.givenUp)
  }

  #note(index: string, seen: IndexSeen): void {
    // The credentials may not ask for any index of the pattern. If the cluster gave no answer, the next call asks again.
    if (seen.kind === 'unreadable') this.#mayAsk &&= explain(seen.failure.code).retry === 'later'
    else if (seen.kind !== 'missing' || this.#witnesses.of(index).length === 0) this.#asked.add(index)
    if (seen.kind === 'index') this.#uuids.set(index, seen.uuid)
    if ('isPiped' in seen) this.#piped.add(index)
  }
}
