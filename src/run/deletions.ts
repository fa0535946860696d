/** Rows that were deleted at the platform: once all that a run reads is loaded, their documents are deleted, too. */
import { mayDelete } from '../cluster/may-delete.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { refresh } from '../cluster/refresh.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { IngestOptions } from '../ingest-options.js'
import { settledOf } from '../ledger/account.js'
import { type FollowedDeletions, deletionsPath, recallDeletions, rememberDeletions } from '../ledger/deletions-file.js'
import type { Counts, DeletionsReceipt } from '../ledger/receipt.js'
import type { AccessOptions } from '../sender/access-gate.js'
import { mayReadDeletions, readDeletions } from '../servicenow/audited-deletions.js'
import { classesOfTable } from '../servicenow/classes-of-table.js'
import type { Instance } from '../servicenow/instance.js'
import type { Selected } from '../servicenow/list-ids.js'
import { stillThere } from '../servicenow/still-there.js'
import { tablesIn } from '../table-names.js'
import { patienceOf } from './access.js'
import type { Begun } from './begin.js'
import type { Ending } from './ending.js'
import type { FoundRun } from './find-run.js'
import { refuseSharedIndex } from './own-index.js'
import { patiently } from './patiently.js'
import { reconcile } from './reconcile.js'
import { type Removed, type Removing, removeGone } from './remove-gone.js'
import type { Run } from './run.js'

type Mode = DeletionsReceipt['mode']

interface Following {
  readonly mode: Mode
  readonly options: IngestOptions
  readonly stateDir: string | undefined
  readonly found: FoundRun
  readonly cluster: Cluster
  readonly instance: Instance
  readonly ending: Ending
  step(settled: number): Removing['step']
}

const DEFAULT_MAX_DELETED = '10%'
/** Documents that are looked up and deleted at once. */
const PAGE = 500

/** Undefined where deletions are not followed. */
export function followDeletions(
  { options, stateDir, platform, ending, tell }: Run,
  { cluster, found }: Begun,
  access: AccessOptions,
): Deletions | undefined {
  const { deletions: mode = 'keep', dryRun } = options
  if (mode === 'keep' || platform === undefined || dryRun === true) return undefined
  const { instance } = platform
  return new Deletions({
    mode,
    options,
    stateDir,
    found,
    cluster,
    instance,
    ending,
    step: settled => {
      const patience = patienceOf(options, cluster, { ending, access, tell }, settled)
      return async take => await patiently(patience, take)
    },
  })
}

export class Deletions {
  readonly #following: Following
  readonly #removed: Removed = { deleted: 0, there: 0, changed: 0, other: 0 }
  #followed: FollowedDeletions = {}
  #compared = 0
  #skipped: string | undefined

  constructor(following: Following) {
    this.#following = following
    if (following.found.alias !== undefined)
      this.#skipped = 'the index is a new one, and holds no document of a row that was deleted before'
  }

  get receipt(): DeletionsReceipt {
    const { deleted, there, changed, other } = this.#removed
    const skipped = this.#skipped
    return {
      mode: this.#following.mode,
      compared: this.#compared,
      deleted,
      kept: { there, changed, other },
      ...(skipped === undefined ? {} : { skipped }),
    }
  }

  /**
   * What would stand in the way is better known before the first row is read than after the last.
   * Throws SluiceError SERVICENOW_ACCESS_DENIED, CLUSTER_PRIVILEGE_MISSING, DELETIONS_INDEX_SHARED, and every failure of the way there.
   */
  async prepare(): Promise<void> {
    const { mode, stateDir, found, cluster, instance, ending } = this.#following
    if (this.#skipped !== undefined) return
    const path = this.#path
    this.#followed = path === undefined ? {} : await recallDeletions(path)
    try {
      await mayDelete(cluster, found.target.index, { isNamed: found.target.behind === undefined })
      if (mode === 'reconcile') return await refuseSharedIndex(stateDir, found)
      const classes = await this.#classes()
      const since = await mayReadDeletions(instance, classes, ending.signal)
      // Of a row that is deleted already no document can be in an index that is not there yet.
      const isNew = found.isIndexMissing && found.plan.began === undefined
      await this.#remember({ classes, ...(isNew ? { audited: since } : {}) })
    } catch (error) {
      throw ending.cause(error)
    }
  }

  /**
   * To be called once every row was read and every document has its outcome. `save` is called first: it writes that down, so that
   * whoever comes after a kill reads no row again. Resolves to why not all that is gone was deleted; then the next run deletes it.
   */
  async complete(counts: Counts, save: () => Promise<Failure | undefined>): Promise<Failure | undefined> {
    const { mode, ending } = this.#following
    if (this.#skipped !== undefined) return undefined
    const unsaved = await save()
    if (unsaved !== undefined) return unsaved
    const settled = settledOf(counts)
    try {
      if (ending.signal.aborted) return ending.why(settled)
      await (mode === 'audit' ? this.#deleteAudited(settled) : this.#reconcile(settled))
      return undefined
    } catch (error) {
      if (ending.signal.aborted) return ending.why(settled)
      if (isSluiceError(error)) return error.failure
      throw error
    }
  }

  async #deleteAudited(settled: number): Promise<void> {
    const { cluster, found, instance, ending } = this.#following
    const { audited } = this.#followed
    const removing = { ...this.#removing(settled), fields: [], isMeant: () => true }
    const since = audited === undefined ? {} : { since: audited }
    const classes = await this.#classes()
    const deletions = readDeletions(instance, { tables: classes, ...since, signal: ending.signal })
    if (removing.by === 'search') await refresh(cluster, found.target.index)
    for await (const ids of deletions.ids) {
      this.#compared += ids.length
      for (let at = 0; at < ids.length; at += PAGE) await removeGone(ids.slice(at, at + PAGE), removing, this.#removed)
    }
    await this.#remember({ classes, audited: deletions.next() })
  }

  async #reconcile(settled: number): Promise<void> {
    const { options, found, instance, ending } = this.#following
    const due = this.#notDueBefore()
    if (due !== undefined) {
      this.#skipped = `the index was compared with the table a while ago, and is again from ${due} on`
      return
    }
    const began = new Date().toISOString()
    const { displayValue = 'false', fields } = options.table ?? {}
    this.#compared = await reconcile(
      {
        ...this.#removing(settled),
        instance,
        selected: this.#selected,
        isDisplayed: displayValue !== 'false',
        saysClass: (fields ?? ['sys_class_name']).includes('sys_class_name') && options.pipeline === undefined,
        maxDeleted: options.maxDeleted ?? DEFAULT_MAX_DELETED,
        signal: ending.signal,
      },
      this.#removed,
    )
    if (found.path !== undefined) await this.#remember({ reconciled: began })
  }

  /** In ISO 8601. A whole reading is always compared. */
  #notDueBefore(): string | undefined {
    const { options, found } = this.#following
    const { reconciled } = this.#followed
    const isWhole = found.plan.inputs.some(({ place }) => place === undefined)
    if (isWhole || reconciled === undefined) return undefined
    const since = Date.now() - Date.parse(reconciled)
    const every = options.reconcileEveryMs ?? 0
    // A clock that was set back makes a time of tomorrow.
    return since >= 0 && since < every ? new Date(Date.parse(reconciled) + every).toISOString() : undefined
  }

  #removing(settled: number): Pick<Removing, 'cluster' | 'index' | 'by' | 'step' | 'there'> {
    const { mode, cluster, found, options, instance, ending, step } = this.#following
    const { index, behind } = found.target
    return {
      cluster,
      index,
      // Without its routing value a document is not found by its id alone, nor is one behind an alias.
      by: behind === undefined && options.routingField === undefined ? 'id' : 'search',
      step: step(settled),
      there: async ids => {
        const there = new Set<string>()
        for (const { table, query } of this.#selected) {
          // What an audit names is deleted, not only of another selection now: a row that is there again stays, whatever it says.
          const rows = { table, query: mode === 'audit' ? '' : query }
          for (const id of await stillThere(instance, rows, ids, ending.signal)) there.add(id)
        }
        return there
      },
    }
  }

  /** The tables that deletions may be noted under. */
  async #classes(): Promise<string[]> {
    const { instance, ending } = this.#following
    const classes = new Set([...this.#tables, ...(this.#followed.classes ?? [])])
    for (const table of this.#tables)
      for (const name of await classesOfTable(instance, table, ending.signal)) classes.add(name)
    return [...classes]
  }

  get #tables(): string[] {
    return tablesIn(this.#following.options.source)
  }

  get #selected(): Selected[] {
    const { query = '' } = this.#following.options.table ?? {}
    return this.#tables.map(table => ({ table, query }))
  }

  get #path(): string | undefined {
    const { path } = this.#following.found
    return path === undefined ? undefined : deletionsPath(path)
  }

  async #remember(more: FollowedDeletions): Promise<void> {
    this.#followed = { ...this.#followed, ...more }
    if (this.#path !== undefined) await rememberDeletions(this.#path, this.#followed)
  }
}
