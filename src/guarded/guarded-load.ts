/** What a guarded load does before its first document and after its last: the alias leads to a whole and checked index, or stays. */
import { type AliasFacts, conflict, readIndices, removeAlias, switchAlias } from '../cluster/alias.js'
import { checkCopies, checkLoad, countMatches } from './check-load.js'
import { makeVisible } from '../cluster/indices.js'
import { endLoading, likeBefore, makeIndex, readMark, startLoading } from '../cluster/fresh-index.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { stepRetrying } from '../run/access.js'
import type { FoundRun } from '../state/find-run.js'
import type { Ending } from '../run/ending.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { Tell } from '../run/listener.js'
import { settledOf } from '../ledger/account.js'
import type { AliasReceipt, Counts } from '../ledger/receipt.js'
import { type StepRetrying, retryStep } from '../run/retry-step.js'
import { leadsTo } from './plan-guarded.js'
import type { AccessOptions } from '../sender/layers/access.js'

interface Guarding {
  readonly cluster: Cluster
  /** As it stood when this process began. */
  readonly alias: AliasFacts
  /** The fresh index. */
  readonly index: string
  readonly run: string
  /** Whether anything is left to load; `done`: nor to check and switch. */
  readonly left: 'documents' | 'nothing' | 'done'
  readonly options: IngestOptions
  /** Documents that earlier processes of the run settled. */
  readonly settledBefore: number
  patience(settled: number): StepRetrying
  warn(message: string): void
}

/** What guards the alias, if one is to be switched. A dry run leaves it, and makes no index. */
export function guard(
  options: IngestOptions,
  { alias, plan, target }: FoundRun,
  cluster: Cluster,
  surroundings: { readonly ending: Ending; readonly access: AccessOptions; readonly tell: Tell },
): GuardedLoad | undefined {
  if (alias === undefined || options.dryRun === true) return undefined
  const isLoaded = plan.inputs.every(input => input.isLoaded)
  return new GuardedLoad({
    cluster,
    alias,
    index: target.index,
    run: plan.run,
    left: plan.isDone ? 'done' : isLoaded ? 'nothing' : 'documents',
    options,
    settledBefore: settledOf(plan.before.counts),
    patience: settled => stepRetrying(options, cluster, surroundings, settled),
    warn: message => surroundings.tell({ type: 'warning', message }),
  })
}

export class GuardedLoad {
  readonly #guarding: Guarding
  #previous: string | undefined
  #isSwitched: boolean

  constructor(guarding: Guarding) {
    this.#guarding = guarding
    this.#isSwitched = leadsTo(guarding.alias, guarding.index)
    this.#previous = previousOf(guarding)
  }

  get receipt(): AliasReceipt {
    const { alias, index } = this.#guarding
    const from = this.#previous === undefined ? {} : { from: this.#previous }
    const reason = this.#movedAway
    return {
      name: alias.name,
      ...from,
      to: index,
      switched: this.#isSwitched,
      ...(reason === undefined ? {} : { reason }),
    }
  }

  /**
   * Makes the index, or takes up the one that an earlier process made, and turns off what slows the load.
   * Throws SluiceError ALIAS_CONFLICT, INDEX_REQUEST_REFUSED, and every failure of the way there, or why the run ended.
   */
  async prepare(): Promise<void> {
    const { left, patience, settledBefore, warn } = this.#guarding
    if (left !== 'done') return await retryStep(patience(settledBefore), async () => await this.#prepare())
    const reason = this.#movedAway
    if (reason !== undefined) warn(reason)
  }

  /**
   * Restores the settings, checks the index and switches the alias. `save` is called first: it writes down that all documents
   * are settled, so that no process that comes after writes to what the alias leads to. `deadLetters`: the file of the run's, if
   * it has any. Returns why the alias was not switched.
   */
  async complete(
    counts: Counts,
    deadLetters: string | undefined,
    save: () => Promise<Failure | undefined>,
  ): Promise<Failure | undefined> {
    if (this.#isSwitched || this.#guarding.left === 'done') return undefined
    const unsaved = await save()
    if (unsaved !== undefined) return unsaved
    const patience = this.#guarding.patience(settledOf(counts))
    try {
      await retryStep(patience, async () => await this.#restore())
      await retryStep(patience, async () => await this.#checkCopies())
      const replayed = await retryStep(patience, async () => await checkLoad(this.#guarding, counts, deadLetters))
      await retryStep(patience, async () => await this.#switch())
      const { warn, index } = this.#guarding
      if (replayed > 0) warn(`of the rejected documents ${replayed} were replayed, and are in ${index}`)
      return undefined
    } catch (error) {
      if (isSluiceError(error)) return error.failure
      throw error
    }
  }

  /** Why the alias is not on an index that it was put on when that was loaded. */
  get #movedAway(): string | undefined {
    const { alias, index, left, run, options } = this.#guarding
    if (left !== 'done' || this.#isSwitched) return undefined
    const observed = `${alias.name} is on ${alias.on?.name ?? 'no index'}, and not on ${index}`
    const anew = options.runId === undefined ? '--again' : 'under another name'
    return `${observed}, where run ${run} put it: a rollback or another load has led it away since, and it stays there unless all is loaded ${anew}`
  }

  async #prepare(): Promise<void> {
    const { cluster, alias, index, run, left, options } = this.#guarding
    const { name, on } = alias
    const [known] = await readIndices(cluster, index)
    if (known === undefined) {
      const previous = on === undefined ? {} : { previous: on.name }
      await makeIndex(cluster, index, this.#body(), { run, alias: name, ...previous, loading: true })
    }
    const facts = known ?? (await readIndices(cluster, index))[0]
    const mark = facts === undefined ? undefined : readMark(facts.mappings)
    if (facts === undefined || mark?.run !== run || mark.alias !== name) {
      throw conflict(name, `there is an index ${index} that run ${run} did not make`)
    }
    this.#previous = mark.previous
    if (mark.loading === true && facts.aliases[name] !== undefined) {
      await removeAlias(cluster, name, index)
      throw conflict(name, `an index template put it on ${index} before that was loaded; it was taken off again`)
    }
    if (this.#isSwitched) {
      if (left === 'nothing') return
      throw conflict(
        name,
        `it is on ${index} already, which an earlier load of the name ${run} made: name each load anew`,
      )
    }
    if (mark.previous !== on?.name) {
      const was = mark.previous ?? 'no index'
      throw conflict(name, `it was on ${was} when run ${run} began, and is on ${on?.name ?? 'no index'} now`)
    }
    if (left === 'documents') await startLoading(cluster, facts, mark)
    // What the cluster does not understand is better known now than after the load.
    if (options.checkQuery !== undefined) await countMatches(cluster, index, options.checkQuery)
  }

  #body(): Readonly<Record<string, unknown>> {
    const { cluster, alias, options } = this.#guarding
    if (options.indexBody !== undefined) return options.indexBody
    return alias.on === undefined ? {} : likeBefore(alias.on, cluster.preflight.info?.flavor === 'serverless')
  }

  async #restore(): Promise<void> {
    const { cluster, index } = this.#guarding
    await makeVisible(cluster, index)
    const [facts] = await readIndices(cluster, index)
    const mark = facts === undefined ? undefined : readMark(facts.mappings)
    if (facts !== undefined && mark !== undefined) await endLoading(cluster, facts, mark)
  }

  async #checkCopies(): Promise<void> {
    const warning = await checkCopies(this.#guarding)
    if (warning !== undefined) this.#guarding.warn(warning)
  }

  async #switch(): Promise<void> {
    const { cluster, alias, index } = this.#guarding
    await switchAlias(cluster, alias, index)
    this.#isSwitched = true
  }
}

function previousOf({ alias: { on }, index }: Guarding): string | undefined {
  return on?.name === index ? readMark(on.mappings)?.previous : on?.name
}
