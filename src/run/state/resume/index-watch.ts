/** Watches whether the index that a run fills stays the same one. An index that is deleted is made anew by the next bulk request. */
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import { type Failure, failure } from '../../../base/failure/failure.js'
import type { Batch, Outcome } from '../../../base/flow.js'
import type { Committed } from '../../../pipeline/ledger/account.js'
import type { Ledger } from '../../../pipeline/ledger/ledger.js'
import type { Target } from '../checkpoint/checkpoint.js'
import { Destinations } from './destinations.js'
import { type HearHolder, Holders } from './holders.js'
import { NamedIndices } from './named-indices.js'
import type { FoundRun } from './find-run.js'
import { DELETED, hasStored, isIndexLost } from './lost-index.js'
import { Witnesses } from './witnesses.js'

interface Watched {
  readonly found: FoundRun
  /** Also used after a byte budget is spent: the budget leaves room for these requests. */
  readonly cluster: Cluster
  readonly ledger: Ledger
  /** Aborted when the cluster is not waited for any longer. */
  readonly givenUp: AbortSignal
}

/** Loads whose ids no value of --ids names. A job makes its ids as a load with --ids run does. */
const named: Readonly<Record<string, string>> = { replay: 'a replay', offset: '--ids run' }

export class IndexWatch {
  readonly #watched: Watched
  #target: Target
  #isMissing: boolean
  readonly #witnesses = new Witnesses()
  /** Whether its documents can be looked for by their ids. */
  #hasWitnesses = true
  /** Resolves when the last look is over. */
  #turn: Promise<void> = Promise.resolve()
  /** Set if each document names its index. */
  readonly #named: NamedIndices | undefined
  readonly #destinations: Destinations
  readonly #holders: Holders
  /** Whether the index is an alias or a data stream. */
  #isName: boolean

  constructor(watched: Watched) {
    this.#watched = watched
    const { witnesses, destinations = [], holders = [], ...target } = watched.found.target
    const { index, indices } = target
    this.#target = target
    this.#witnesses.take(index, witnesses)
    for (const one of indices ?? []) this.#witnesses.take(one.index, one.witnesses)
    this.#named = indices === undefined ? undefined : new NamedIndices(indices, watched, this.#witnesses)
    this.#destinations = new Destinations(destinations, watched)
    this.#isMissing = watched.found.isIndexMissing
    this.#isName = watched.found.isName
    this.#holders = new Holders(holders, () => (this.#isName ? index : undefined), watched)
  }

  /** The target with everything that its indices are known by. */
  get target(): Target {
    const witnesses = this.#named === undefined ? this.#witnesses.of(this.#target.index) : []
    const { known } = this.#destinations
    const { all: holders } = this.#holders
    return {
      ...this.#target,
      ...(witnesses.length === 0 ? {} : { witnesses }),
      ...(holders.length === 0 ? {} : { holders }),
      ...(known.length === 0 ? {} : { destinations: known }),
    }
  }

  /** Notes another index that a pipeline stored a document in, before the document is settled. */
  storedIn(index: string): void {
    const { elsewhere = [] } = this.#target
    if (!elsewhere.includes(index)) this.#target = { ...this.#target, elsewhere: [...elsewhere, index] }
  }

  /** Sends a batch. Until the uuid of its index is known, one of its documents must still be there when it is. */
  async whileSent(batch: Batch, send: () => Promise<Outcome>): Promise<Outcome> {
    const named = this.#named
    if (batch.addressed !== undefined) await this.#destinations.begin(batch.addressed.destination.index)
    if (named === undefined && !this.#isMissing) return await send()
    const indices = named === undefined ? [this.#target.index] : [...(batch.indices?.keys() ?? [])]
    const fresh = indices.filter(index => named?.isNew(index) ?? true)
    // A pipeline may change ids.
    const areKept = this.#watched.found.options['pipeline'] === undefined && batch.addressed === undefined
    const outcome = await this.#witnesses.whileSent(batch, fresh, areKept, send)
    if (named === undefined) void this.#seeNewIndex()
    return outcome
  }

  /** Called before a request. Returns what hears which indices store its documents, unless these are the ones that it names. */
  ask(batch: Batch): HearHolder | undefined {
    const { addressed, indices } = batch
    if (addressed !== undefined) {
      const { index, pipeline } = addressed.destination
      return this.#destinations.isKnownIndex(index) ? undefined : this.#holders.begin(pipeline === undefined)
    }
    const areKept = this.#watched.found.options['pipeline'] === undefined
    if (this.#named === undefined) {
      if (!this.#isName && !this.#isMissing) return undefined
      return otherThan(this.#holders.begin(areKept), index => index === this.#target.index && !this.#isName)
    }
    const names = [...(indices?.keys() ?? [])]
    if (!names.some(index => this.#named?.mayBeName(index))) return undefined
    return otherThan(this.#holders.begin(areKept), index => names.includes(index))
  }

  /** Looks at what documents were stored in since the last call. */
  async see({ destinations, indices }: Pick<Committed, 'destinations' | 'indices'>): Promise<void> {
    await this.#holders.see()
    if (this.#named !== undefined) {
      this.#target = { ...this.#target, indices: await this.#named.see(indices) }
      return
    }
    await this.#seeNewIndex()
    await this.#destinations.see(destinations)
  }

  /** Returns the failure INDEX_REPLACED if documents that this process has stored were in an index that is gone. */
  async lost(): Promise<Failure | undefined> {
    const { cluster, ledger, givenUp, found } = this.#watched
    // A document that is skipped may have been there. If there was no index, nothing below finds one.
    const { counts } = ledger
    if (counts.skipped === 0 && !hasStored({ counts, options: found.options })) return undefined
    if (this.#named !== undefined) {
      await this.see({ destinations: new Set(), indices: ledger.indices })
      return this.#replaced([...(await this.#named.lost()), ...(await this.#holders.lost())])
    }
    await this.#seeNewIndex()
    const gone = await this.#holders.lost()
    if (gone.length > 0 || !this.#destinations.isEmpty)
      return this.#replaced([...(await this.#destinations.lost()), ...gone])
    const { index, indexUuid } = this.#target
    // After all requests, what is missing was deleted, or a pipeline has stored all documents elsewhere.
    const isElsewhere = this.#target.elsewhere !== undefined
    const known = indexUuid ?? (isElsewhere || this.#witnesses.of(index).length === 0 ? undefined : DELETED)
    if (known === undefined) return undefined
    const now = await cluster.indices.see(index, givenUp)
    if (!isIndexLost(known, now, true)) return undefined
    return this.#replaced([index])
  }

  #replaced(indices: readonly string[]): Failure | undefined {
    const { plan, options } = this.#watched.found
    const { ids = 'run' } = options
    const index = [...new Set(indices)].join(', ')
    return index === ''
      ? undefined
      : failure('INDEX_REPLACED', { index, run: plan.run, load: named[ids] ?? `--ids ${ids}` })
  }

  /** The first document may have made the index. */
  async #seeNewIndex(): Promise<void> {
    const turn = this.#turn.then(async () => await this.#look())
    this.#turn = turn
    await turn
  }

  async #look(): Promise<void> {
    const { cluster, givenUp } = this.#watched
    const { index } = this.#target
    if (this.#isMissing) {
      if (!this.#witnesses.hasAccepted(index)) return
      const seen = await cluster.indices.see(index, givenUp)
      // It was deleted again, or a pipeline has stored the documents elsewhere. A later look may see it.
      if (seen.kind === 'missing' || seen.kind === 'unreadable') return
      this.#isMissing = false
      if (seen.kind === 'index') this.#target = { ...this.#target, indexUuid: seen.uuid }
      else {
        this.#isName = true
        this.#target = { ...this.#target, behind: seen.behind }
      }
      // A pipeline may have changed the ids, and behind a name each document may be in another index.
      this.#hasWitnesses = seen.kind === 'index' && seen.isPiped !== true
    }
    if (!this.#hasWitnesses) this.#witnesses.drop(index)
    if (this.#witnesses.of(index).length === 0) return
    if (await this.#witnesses.isOther(cluster, index, givenUp)) this.#target = { ...this.#target, indexUuid: DELETED }
  }
}

function otherThan(hear: HearHolder, isNamed: (index: string) => boolean): HearHolder {
  return (index, document) => {
    if (!isNamed(index)) hear(index, document)
  }
}
