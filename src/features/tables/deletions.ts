/** Deletes the documents of rows that were deleted at the platform, after everything else is loaded. */
import { type Failure, isSluiceError, fail } from '../../base/failure/failure.js'
import { settledOf } from '../../pipeline/ledger/account.js'
import type { DeletionSection, DocumentSection, TableSection } from '../../options/load.js'
import type { EndingHook, Run, Started } from '../../run/loop/hooks.js'
import { stillThere } from './reading/list-ids.js'
import type { Instance } from '../../route/servicenow/instance.js'
import { type Removed, type Removing, reconcile } from './reconcile.js'
import type { DeletionsReceipt } from './open-platform.js'
import { dirname, join } from 'node:path'
import { recallJson, rememberJson } from '../../base/disk/safe-files.js'
import { type Checkpoint, isSameCluster } from '../../run/state/checkpoint/checkpoint.js'
import { knownRuns } from '../../run/state/runs/runs.js'

interface Following extends Run, Started {
  readonly documents: DocumentSection
  readonly tables: TableSection
  readonly dryRun: boolean
  readonly instance: Instance
}

/** Returns undefined if the load does not follow deletions. */
export function followDeletions(following: Following): Deletions | undefined {
  const { tables, dryRun } = following
  return tables.deletions === undefined || dryRun ? undefined : new Deletions(following, tables.deletions)
}

export class Deletions {
  readonly #following: Following
  readonly #section: DeletionSection
  readonly #removed: Removed = { deleted: 0, there: 0, changed: 0, other: 0 }
  #last: LastComparison | undefined
  #compared = 0
  #skipped: string | undefined

  constructor(following: Following, section: DeletionSection) {
    this.#following = following
    this.#section = section
    if (following.found.hasOwnIndex) this.#skipped = 'the index is new, and holds no documents of deleted rows'
  }

  get receipt(): DeletionsReceipt {
    const { deleted, ...kept } = this.#removed
    const skipped = this.#skipped
    return { mode: 'reconcile', compared: this.#compared, deleted, kept, ...(skipped === undefined ? {} : { skipped }) }
  }

  /**
   * Finds problems before the first row is read, not after the last. Throws SluiceError CLUSTER_PRIVILEGE_MISSING,
   * DELETIONS_INDEX_SHARED, and every failure of the route.
   */
  async prepare(): Promise<void> {
    const { stateDir, found, cluster, stop } = this.#following
    if (this.#skipped !== undefined) return
    try {
      this.#last = await lastComparison(found)
      if (found.target.behind === undefined) await cluster.privileges.mayDelete(found.target.index)
      await refuseSharedIndex(stateDir, found)
    } catch (error) {
      throw stop.cause(error)
    }
  }

  /**
   * Call this after every row was read and every document has its outcome. First calls `save`, which writes the
   * checkpoint, so that a resume after a kill reads no row again. Resolves to a failure if some documents could not
   * be deleted: the next run deletes them.
   */
  async complete({ counts, save }: Parameters<NonNullable<EndingHook['complete']>>[0]): Promise<Failure | undefined> {
    const { stop } = this.#following
    if (this.#last === undefined) return undefined
    const unsaved = await save()
    if (unsaved !== undefined) return unsaved
    const settled = settledOf(counts)
    try {
      if (stop.signal.aborted) return stop.why(settled)
      await this.#reconcile(this.#last, settled)
      return undefined
    } catch (error) {
      if (stop.signal.aborted) return stop.why(settled)
      if (isSluiceError(error)) return error.failure
      throw error
    }
  }

  async #reconcile(last: LastComparison, settled: number): Promise<void> {
    const { documents, tables, found, instance, stop, tell } = this.#following
    const due = this.#notDueBefore(last.at)
    if (due !== undefined) {
      this.#skipped = `Sluice compared the index with the table recently, and compares it again after ${due}`
      return
    }
    tell({ type: 'deletions', mode: 'reconcile', index: found.target.index })
    const began = new Date().toISOString()
    const { displayValue, fields } = tables.selection
    this.#compared = await reconcile(
      {
        ...this.#removing(settled),
        instance,
        selected: this.#selected,
        displayValue: displayValue === 'false' ? 'false' : 'all',
        // A pipeline may have taken it out.
        saysClass: (fields?.includes('sys_class_name') ?? true) && documents.pipeline === undefined,
        maxDeleted: this.#section.maxDeleted,
        signal: stop.signal,
      },
      this.#removed,
    )
    await last.remember(began)
  }

  /** In ISO 8601. A run that read whole tables always compares. */
  #notDueBefore(last: string | undefined): string | undefined {
    const { found } = this.#following
    const isWhole = found.plan.inputs.some(({ place }) => place === undefined)
    if (isWhole || last === undefined) return undefined
    const since = Date.now() - Date.parse(last)
    const every = this.#section.reconcileEveryMs
    // A clock that was set back makes a time of tomorrow.
    return since >= 0 && since < every ? new Date(Date.parse(last) + every).toISOString() : undefined
  }

  #removing(settled: number): Removing {
    const { documents, cluster, found, instance, stop, retrier } = this.#following
    const { index, behind } = found.target
    return {
      cluster,
      index,
      // Without its routing value, or behind an alias, a document cannot be found by its id.
      by: behind === undefined && documents.routingField === undefined ? 'id' : 'search',
      step: retrier(settled),
      there: async ids => {
        const there = new Set<string>()
        for (const one of this.#selected)
          for (const id of await stillThere(instance, one, ids, stop.signal)) there.add(id)
        return there
      },
    }
  }

  get #selected() {
    const { names, selection } = this.#following.tables
    return names.map(table => ({ table, query: selection.query ?? '' }))
  }
}

const VERSION = 1

interface LastComparison {
  /** ISO 8601. Undefined: not known. */
  readonly at: string | undefined
  remember(at: string): Promise<void>
}

/**
 * Remembers when an index was last compared with its tables, beside the checkpoint of the command. Ignores files that
 * it cannot read or write: then the next run compares.
 */
export async function lastComparison({
  path: run,
  key,
  target,
  isIndexMissing,
}: Started['found']): Promise<LastComparison> {
  if (run === undefined) return { at: undefined, remember: async () => await Promise.resolve() }
  const path = deletionsPath(run, key)
  const { index, reconciled } = isIndexMissing ? {} : await recallJson(path, VERSION)
  const { indexUuid = index } = target
  const isSame = index === undefined || index === indexUuid
  return {
    at: isSame && isDate(reconciled) ? reconciled : undefined,
    remember: async at => await rememberJson(path, VERSION, { index: indexUuid, reconciled: at }),
  }
}

/** Returns a path in the state folder that holds the run: the same for all runs of a command. */
export function deletionsPath(run: string, key: string): string {
  return join(dirname(dirname(run)), 'deletions', `${key}.json`)
}

function isDate(text: unknown): text is string {
  return typeof text === 'string' && !Number.isNaN(Date.parse(text))
}

/** Throws SluiceError DELETIONS_INDEX_SHARED if the index holds documents of another run, which Sluice would delete. */
async function refuseSharedIndex(stateDir: string | undefined, found: Started['found']): Promise<void> {
  if (stateDir === undefined || found.isIndexMissing) return
  const { known } = await knownRuns(stateDir)
  const others = known.flatMap(({ checkpoint, isEarlier, path }) => {
    if (path === found.path || !isSameIndex(checkpoint, found) || !hasStored(checkpoint)) return []
    const names = checkpoint.sources.filter(name => !found.sources.includes(name))
    if (names.length > 0) return names
    // Another selection of the same rows, unless this command had another selection once.
    return isEarlier || isSameSelection(checkpoint, found)
      ? []
      : [`${checkpoint.sources.join(', ')} with another query`]
  })
  if (others.length === 0) return
  const [first = '', ...more] = new Set(others)
  const other = more.length === 0 ? first : `${first} and ${more.length} more`
  throw fail('DELETIONS_INDEX_SHARED', { index: found.target.index, other })
}

function isSameIndex({ target: was }: Checkpoint, { target }: Started['found']): boolean {
  if (!isSameCluster(was, target)) return false
  const isSameName = [was.index, was.alias, ...(was.behind ?? [])].some(name => {
    return name !== undefined && [target.index, ...(target.behind ?? [])].includes(name)
  })
  const isOther = was.indexUuid !== undefined && target.indexUuid !== undefined && was.indexUuid !== target.indexUuid
  return isSameName && !isOther
}

function hasStored({ counts: { created, updated, duplicate, unknown } }: Checkpoint): boolean {
  return created + updated + duplicate + unknown > 0
}

function isSameSelection({ inputs }: Checkpoint, { plan }: Started['found']): boolean {
  return [...inputs].every(({ name, selection }) => {
    const now = plan.inputs.find(({ source }) => source.name === name)?.source.cursor?.selection
    return selection?.['query'] === now?.['query']
  })
}
