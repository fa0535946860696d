/** Prepares the index of a guarded load, and switches the alias after the last document, if the index is whole and checked. */
import type { Retrier, Started } from '../../run/loop/hooks.js'
import {
  type AliasFacts,
  endLoading,
  leadsTo,
  likeBefore,
  makeIndex,
  readMark,
  startLoading,
} from '../../route/cluster/indices.js'
import { checkCopies, checkLoad, countMatches, type LoadedIndex, type LoadedSections } from './check-load.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { fail, type Failure, isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import { settledOf } from '../../pipeline/ledger/account.js'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import type { PreparationSection, StateSection } from '../../options/load.js'
import { isMappingWord } from '../../options/option-checks.js'
import type { AliasReceipt } from './rollback.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only for a guarded load: whether the alias leads to the index `to` now, and its index before. */
    readonly alias?: AliasReceipt
  }
}

export interface GuardedSections extends LoadedSections {
  readonly state: StateSection
  readonly preparing: PreparationSection
}

interface Guarding {
  readonly sections: GuardedSections
  readonly cluster: Cluster
  /** The alias when this process began. */
  readonly alias: AliasFacts
  readonly found: Started['found']
  /** `settled`: documents of the run that have their outcome. */
  retrier(settled: number): Retrier
  warn(message: string): void
}

export class GuardedLoad {
  readonly #guarding: Guarding
  readonly #index: string
  /** The remaining work. `nothing`: no documents, only checks and the switch. `done`: not even those. */
  readonly #left: 'documents' | 'nothing' | 'done'
  #previous: string | undefined
  #isSwitched: boolean

  constructor(guarding: Guarding) {
    const { alias, found } = guarding
    const isLoaded = found.plan.inputs.every(input => input.isLoaded)
    this.#guarding = guarding
    this.#index = found.target.index
    this.#left = found.plan.isDone ? 'done' : isLoaded ? 'nothing' : 'documents'
    this.#isSwitched = leadsTo(alias, this.#index)
    this.#previous = previousOf(alias, this.#index)
  }

  /** Whether a later process may still switch the alias. */
  get isOpen(): boolean {
    return this.#left !== 'done' && !this.#isSwitched
  }

  get receipt(): AliasReceipt {
    const { alias } = this.#guarding
    const from = this.#previous === undefined ? {} : { from: this.#previous }
    const reason = this.#movedAway
    return {
      name: alias.name,
      ...from,
      to: this.#index,
      switched: this.#isSwitched,
      ...(reason === undefined ? {} : { reason }),
    }
  }

  /**
   * Makes the index, or continues with the index of an earlier process, and turns off settings that slow the load.
   * Throws SluiceError ALIAS_CONFLICT, INDEX_REQUEST_REFUSED, every failure of the route, or why the run ended.
   */
  async prepare(): Promise<void> {
    const { found, retrier, warn } = this.#guarding
    const settled = settledOf(found.plan.before.counts)
    if (this.#left !== 'done') return await retrier(settled)(async () => await this.#prepare())
    const reason = this.#movedAway
    if (reason !== undefined) warn(reason)
  }

  /**
   * Restores the settings, checks the index and switches the alias. First calls `save`, which writes down that all documents
   * are settled, so that no later process writes to what the alias leads to. `deadLetters`: the run's file, if it has one.
   * Returns why the alias was not switched.
   */
  async complete(
    counts: Counts,
    deadLetters: string | undefined,
    save: () => Promise<Failure | undefined>,
  ): Promise<Failure | undefined> {
    if (this.#isSwitched || this.#left === 'done') return undefined
    const unsaved = await save()
    if (unsaved !== undefined) return unsaved
    const retried = this.#guarding.retrier(settledOf(counts))
    try {
      await retried(async () => await this.#restore())
      await retried(async () => await this.#checkCopies())
      const replayed = await retried(async () => await checkLoad(this.#loaded, counts, deadLetters))
      await retried(async () => await this.#switch())
      if (replayed > 0)
        this.#guarding.warn(`${replayed} of the rejected documents were replayed, and are in ${this.#index}`)
      return undefined
    } catch (error) {
      if (isSluiceError(error)) return error.failure
      throw error
    }
  }

  /** Why the alias is not on an index that an earlier load put it on. */
  get #movedAway(): string | undefined {
    const { sections, alias, found } = this.#guarding
    if (this.#left !== 'done' || this.#isSwitched) return undefined
    const observed = `${alias.name} is on ${alias.on?.name ?? 'no index'}, not on ${this.#index}`
    const how = sections.state.runId === undefined ? '--again' : 'a new --run-id'
    return `${observed}, where run ${found.plan.run} put it. A rollback or another load has switched the alias since. To load again and switch it, pass ${how}`
  }

  async #prepare(): Promise<void> {
    const { cluster, alias, sections, found } = this.#guarding
    const { run } = found.plan
    const { name, on } = alias
    const index = this.#index
    const [known] = await cluster.indices.read(index)
    if (known === undefined) {
      const previous = on === undefined ? {} : { previous: on.name }
      await makeIndex(cluster, index, this.#body(), { run, alias: name, ...previous, loading: true })
    }
    const facts = known ?? (await cluster.indices.read(index))[0]
    const mark = facts === undefined ? undefined : readMark(facts.mappings)
    if (facts === undefined || mark?.run !== run || mark.alias !== name)
      throw conflict(name, `there is an index ${index} that run ${run} did not create`)
    this.#previous = mark.previous
    if (mark.loading === true && facts.aliases[name] !== undefined) {
      await cluster.indices.removeAlias(name, index)
      throw conflict(name, `an index template put it on ${index} before the load, and Sluice removed it again`)
    }
    if (this.#isSwitched) {
      if (this.#left === 'nothing' || sections.guarded.mayBeSwitched === true) return
      throw conflict(
        name,
        `it is already on ${index}, which an earlier load with the name ${run} created. Give each load its own name`,
      )
    }
    if (mark.previous !== on?.name) {
      const was = mark.previous ?? 'no index'
      throw conflict(name, `it was on ${was} when run ${run} began, but is now on ${on?.name ?? 'no index'}`)
    }
    if (this.#left === 'documents') await startLoading(cluster, facts, mark)
    // Finds a query that the cluster refuses before the load, not after it.
    if (sections.guarded.checkQuery !== undefined) await countMatches(cluster, index, sections.guarded.checkQuery)
  }

  #body(): Readonly<Record<string, unknown>> {
    const { cluster, alias, sections } = this.#guarding
    const { indexBody } = sections.guarded
    const { mapping } = sections.preparing
    const mapped = mapping === undefined || isMappingWord(mapping) ? {} : { mappings: mapping }
    if (indexBody !== undefined) return { ...indexBody, ...mapped }
    const before = alias.on === undefined ? {} : likeBefore(alias.on, cluster.preflight.info?.flavor === 'serverless')
    return { ...before, ...mapped }
  }

  async #restore(): Promise<void> {
    const { cluster } = this.#guarding
    await cluster.indices.makeVisible(this.#index)
    const [facts] = await cluster.indices.read(this.#index)
    const mark = facts === undefined ? undefined : readMark(facts.mappings)
    if (facts !== undefined && mark !== undefined) await endLoading(cluster, facts, mark)
  }

  async #checkCopies(): Promise<void> {
    const warning = await checkCopies(this.#loaded)
    if (warning !== undefined) this.#guarding.warn(warning)
  }

  async #switch(): Promise<void> {
    const { cluster, alias } = this.#guarding
    await cluster.indices.switchAlias(alias, this.#index)
    this.#isSwitched = true
  }

  get #loaded(): LoadedIndex {
    const { sections, cluster } = this.#guarding
    return { ...sections, cluster, index: this.#index }
  }
}

function previousOf({ on }: AliasFacts, index: string): string | undefined {
  return on?.name === index ? readMark(on.mappings)?.previous : on?.name
}

function conflict(alias: string, observed: string): SluiceError {
  return fail('ALIAS_CONFLICT', { alias, observed })
}
