/** Rows that were deleted at the platform: once all that a run reads is loaded, their documents are deleted, too. */
import { mayDelete } from '../cluster/delete-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { DeletionSection, DocumentSection, TableSection } from '../options/load.js'
import { settledOf } from '../ledger/account.js'
import type { Counts } from '../ledger/receipt.js'
import type { DeletionsReceipt } from './tables-receipt.js'
import { mayReadDeletions } from '../servicenow/deletions/audited-deletions.js'
import type { Instance } from '../servicenow/instance.js'
import { stillThere } from '../servicenow/deletions/list-ids.js'
import type { Run, Started } from '../run/hooks.js'
import { deleteAudited, notedUnder } from './delete-audited.js'
import { type DeletionsSoFar, deletionsSoFar } from './deletions-file.js'
import type { StopSignals } from '../run/stop-signals.js'
import type { FoundRun } from '../state/find-run.js'
import type { Tell } from '../run/events.js'
import { refuseSharedIndex } from './shared-index.js'
import { retryStep } from '../run/retry-step.js'
import { reconcile } from './reconcile.js'
import type { Removed, Removing } from './remove-gone.js'

interface Following {
  readonly documents: DocumentSection
  readonly tables: TableSection
  readonly deletions: DeletionSection
  readonly stateDir: string | undefined
  readonly found: FoundRun
  readonly cluster: Cluster
  readonly instance: Instance
  readonly stop: StopSignals
  readonly tell: Tell
  step(settled: number): Removing['step']
}

interface DeletionSections {
  readonly documents: DocumentSection
  readonly tables: TableSection
  readonly dryRun: boolean
}

/** Returns undefined if the load does not follow deletions. */
export function followDeletions(
  { stop, tell }: Run,
  { documents, tables, dryRun }: DeletionSections,
  instance: Instance,
  { cluster, found, stateDir, patience }: Started,
): Deletions | undefined {
  const { deletions } = tables
  if (deletions === undefined || dryRun) return undefined
  const step = (settled: number): Removing['step'] => {
    const waiting = patience(settled)
    return async take => await retryStep(waiting, take)
  }
  return new Deletions({ documents, tables, deletions, stateDir, found, cluster, instance, stop, tell, step })
}

export class Deletions {
  readonly #following: Following
  readonly #removed: Removed = { deleted: 0, there: 0, changed: 0, other: 0 }
  #soFar: DeletionsSoFar | undefined
  #compared = 0
  #skipped: string | undefined

  constructor(following: Following) {
    this.#following = following
    if (following.found.hasOwnIndex) this.#skipped = 'the index is new, and holds no documents of deleted rows'
  }

  get receipt(): DeletionsReceipt {
    const { deleted, there, changed, other } = this.#removed
    const skipped = this.#skipped
    return {
      mode: this.#following.deletions.mode,
      compared: this.#compared,
      deleted,
      kept: { there, changed, other },
      ...(skipped === undefined ? {} : { skipped }),
    }
  }

  /**
   * Finds problems before the first row is read, not after the last. Throws SluiceError SERVICENOW_ACCESS_DENIED,
   * CLUSTER_PRIVILEGE_MISSING, DELETIONS_INDEX_SHARED, and every failure of the route.
   */
  async prepare(): Promise<void> {
    const { deletions, stateDir, found, cluster, stop } = this.#following
    if (this.#skipped !== undefined) return
    try {
      const soFar = await deletionsSoFar(found)
      this.#soFar = soFar
      await mayDelete(cluster, found.target.index, { isNamed: found.target.behind === undefined })
      await (deletions.mode === 'audit' ? this.#prepareAudit(soFar) : refuseSharedIndex(stateDir, found))
    } catch (error) {
      throw stop.cause(error)
    }
  }

  /**
   * Call this after every row was read and every document has its outcome. First calls `save`, which writes the
   * checkpoint, so that a resume after a kill reads no row again. Resolves to a failure if some documents could not
   * be deleted: the next run deletes them.
   */
  async complete(counts: Counts, save: () => Promise<Failure | undefined>): Promise<Failure | undefined> {
    const { deletions, stop } = this.#following
    if (this.#soFar === undefined) return undefined
    const unsaved = await save()
    if (unsaved !== undefined) return unsaved
    const settled = settledOf(counts)
    try {
      if (stop.signal.aborted) return stop.why(settled)
      await (deletions.mode === 'audit' ? this.#audit(this.#soFar, settled) : this.#reconcile(this.#soFar, settled))
      return undefined
    } catch (error) {
      if (stop.signal.aborted) return stop.why(settled)
      if (isSluiceError(error)) return error.failure
      throw error
    }
  }

  async #prepareAudit(soFar: DeletionsSoFar): Promise<void> {
    const { tables, found, instance, stop } = this.#following
    const classes = await notedUnder(instance, tables.names, soFar.known.classes ?? [], stop.signal)
    const now = await mayReadDeletions(instance, classes, stop.signal)
    // A new index holds no documents of deleted rows.
    const isNew = found.isIndexMissing && found.plan.began === undefined
    await soFar.add({ ...(classes === undefined ? {} : { classes }), ...(isNew ? { audited: now } : {}) })
  }

  async #audit(soFar: DeletionsSoFar, settled: number): Promise<void> {
    const { tables, instance, stop } = this.#following
    const { classes: known = [], audited: since } = soFar.known
    const { signal } = stop
    const classes = await notedUnder(instance, tables.names, known, signal)
    this.#tell()
    const audited = await deleteAudited(
      {
        // A row that exists again keeps its document, even if the query does not select it.
        removing: this.#removing(settled, ''),
        instance,
        noted: classes,
        since,
        signal,
        compared: more => {
          this.#compared += more
        },
      },
      this.#removed,
    )
    await soFar.add({ ...(classes === undefined ? {} : { classes }), audited })
  }

  async #reconcile(soFar: DeletionsSoFar, settled: number): Promise<void> {
    const { documents, tables, deletions, instance, stop } = this.#following
    const due = this.#notDueBefore(soFar)
    if (due !== undefined) {
      this.#skipped = `Sluice compared the index with the table recently, and compares it again after ${due}`
      return
    }
    this.#tell()
    const began = new Date().toISOString()
    const { displayValue, fields, query = '' } = tables.selection
    this.#compared = await reconcile(
      {
        ...this.#removing(settled, query),
        instance,
        selected: tables.names.map(table => ({ table, query })),
        isDisplayed: displayValue !== 'false',
        // A pipeline may have taken it out.
        saysClass: (fields?.includes('sys_class_name') ?? true) && documents.pipeline === undefined,
        maxDeleted: deletions.maxDeleted,
        signal: stop.signal,
      },
      this.#removed,
    )
    await soFar.add({ reconciled: began })
  }

  /** In ISO 8601. A whole reading is always compared. */
  #notDueBefore({ known: { reconciled } }: DeletionsSoFar): string | undefined {
    const { deletions, found } = this.#following
    const isWhole = found.plan.inputs.some(({ place }) => place === undefined)
    if (isWhole || reconciled === undefined) return undefined
    const since = Date.now() - Date.parse(reconciled)
    const every = deletions.reconcileEveryMs
    // A clock that was set back makes a time of tomorrow.
    return since >= 0 && since < every ? new Date(Date.parse(reconciled) + every).toISOString() : undefined
  }

  /** `query`: which rows count as there. */
  #removing(settled: number, query: string): Pick<Removing, 'cluster' | 'index' | 'by' | 'step' | 'there'> {
    const { documents, tables, cluster, found, instance, stop, step } = this.#following
    const { index, behind } = found.target
    return {
      cluster,
      index,
      // Without its routing value, or behind an alias, a document cannot be found by its id.
      by: behind === undefined && documents.routingField === undefined ? 'id' : 'search',
      step: step(settled),
      there: async ids => {
        const there = new Set<string>()
        for (const table of tables.names)
          for (const id of await stillThere(instance, { table, query }, ids, stop.signal)) there.add(id)
        return there
      },
    }
  }

  #tell(): void {
    const { deletions, found, tell } = this.#following
    tell({ type: 'deletions', mode: deletions.mode, index: found.target.index })
  }
}
