/** Watches whether the index that a run fills stays the same one. An index that is deleted is made anew by the next bulk request. */
import { hasDocument, seeIndex } from '../../../route/cluster/indices.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import { type Failure, failure } from '../../../base/failure/failure.js'
import type { Committed, SettledDocument } from '../../../pipeline/ledger/committed-prefix.js'
import type { Ledger } from '../../../pipeline/ledger/ledger.js'
import type { Target } from '../checkpoint/checkpoint.js'
import { NamedIndices } from './named-indices.js'
import type { FoundRun } from './find-run.js'
import { isLost } from './lost-index.js'
import { ownNumber } from '../../../base/text/own-number.js'

/** Stands for the uuid of an index that was deleted before Sluice knew it. No index has it. */
const DELETED = '(deleted)'

interface Watched {
  readonly found: FoundRun
  /** Also used after a byte budget is spent: the budget leaves room for these requests. */
  readonly cluster: Cluster
  readonly ledger: Ledger
  /** Aborted when the cluster is not waited for any longer. */
  readonly givenUp: AbortSignal
}

export class IndexWatch {
  readonly #watched: Watched
  #target: Target
  #isMissing: boolean
  /** Set if each document names its index. */
  readonly #named: NamedIndices | undefined
  /** Destinations whose uuid was already read while this process stores documents in them. */
  readonly #seen = new Set<string>()

  constructor(watched: Watched) {
    this.#watched = watched
    const { indices } = watched.found.target
    this.#named = indices === undefined ? undefined : new NamedIndices(indices, watched)
    this.#target = watched.found.target
    this.#isMissing = watched.found.isIndexMissing
  }

  /** The target with everything that its indices are known by. */
  get target(): Target {
    return this.#target
  }

  /** Notes another index that a pipeline stored a document in, before the document is settled. */
  storedIn(index: string): void {
    const { elsewhere = [] } = this.#target
    if (!elsewhere.includes(index)) this.#target = { ...this.#target, elsewhere: [...elsewhere, index] }
  }

  /** Looks at what documents were stored in since the last call. */
  async see({ counts, destinations, indices }: Pick<Committed, 'counts' | 'destinations' | 'indices'>): Promise<void> {
    if (this.#named !== undefined) {
      const taken = await this.#named.see(indices)
      this.#target = { ...this.#target, indices: taken }
      return
    }
    // The first of the committed documents shows whether the index is still the one that took it.
    await this.#seeNewIndex(counts.created)
    await this.#seeDestinations(destinations)
  }

  /** Returns the failure INDEX_REPLACED if documents that this process has stored were in an index that is gone. */
  async lost(): Promise<Failure | undefined> {
    const { cluster, ledger, givenUp } = this.#watched
    const { created, updated, duplicate } = ledger.counts
    if (created + updated + duplicate === 0) return undefined
    if (this.#named !== undefined) {
      await this.see({ counts: ledger.counts, destinations: new Set(), indices: ledger.indices })
      return this.#replaced((await this.#named.lost()).join(', '))
    }
    await this.#seeNewIndex(created)
    const { index, indexUuid } = this.#target
    if (indexUuid === undefined) return undefined
    const now = await seeIndex(cluster, index, givenUp)
    if (!isLost(indexUuid, now, true)) return undefined
    return this.#replaced(index)
  }

  #replaced(index: string): Failure | undefined {
    const { plan, options } = this.#watched.found
    return index === '' ? undefined : failure('INDEX_REPLACED', { index, run: plan.run, ids: options['ids'] ?? '' })
  }

  /** The first document may have made the index. */
  async #seeNewIndex(created: number): Promise<void> {
    const { found, cluster, ledger, givenUp } = this.#watched
    if (!this.#isMissing || created === 0) return
    const seen = await seeIndex(cluster, this.#target.index, givenUp)
    this.#isMissing = seen.kind === 'unreadable'
    if (seen.kind === 'name') this.#target = { ...this.#target, behind: seen.behind }
    if (seen.kind !== 'index') return
    const id = idOf(ledger.firstStored, found)
    const isSame = id === undefined || (await hasDocument(cluster, this.#target.index, id, givenUp)) !== false
    this.#target = { ...this.#target, indexUuid: isSame ? seen.uuid : DELETED }
  }

  /** A later resume of a replay compares the uuids of all its destinations. */
  async #seeDestinations(reached: Committed['destinations']): Promise<void> {
    const { cluster, givenUp } = this.#watched
    for (const index of reached) {
      if (this.#seen.has(index)) continue
      const seen = await seeIndex(cluster, index, givenUp)
      // The next checkpoint tries this index and the remaining ones again.
      if (seen.kind === 'unreadable') return
      this.#seen.add(index)
      const others = (this.#target.destinations ?? []).filter(one => one.index !== index)
      const known = { index, ...(seen.kind === 'index' ? { indexUuid: seen.uuid } : {}) }
      this.#target = { ...this.#target, destinations: [...others, known] }
    }
  }
}

/** Returns undefined if Sluice did not make the id, or the document may be elsewhere. */
function idOf(stored: SettledDocument | undefined, { plan, options }: FoundRun): string | undefined {
  const { ids, pipeline, routingField } = options
  const isOwn = ids === 'run' || ids === 'offset'
  if (stored === undefined || !isOwn || pipeline !== undefined || routingField !== undefined) return undefined
  const token = plan.inputs.find(({ source }) => source.id === stored.input.id)?.token
  return token === undefined ? undefined : `${token}-${ownNumber(stored, ids === 'offset')}`
}
