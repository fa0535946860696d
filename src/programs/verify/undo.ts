import { isOperation, rowOf } from '../../base/operation.js'
import type { Deletion, DeletionRefused, FoundDocument } from '../../route/cluster/documents.js'
import { plural } from '../../base/text/shown.js'
import { forgetRun, ReplaysOfRun } from './forget-run.js'
import { ownRun } from './find-checkpoint.js'
import { hiddenNote } from './look-at-indices.js'
import { type OpenRun, openRun } from './open-run.js'
import { refuseBehindAlias, refuseLoadedAgain, refuseNotOwn } from './refuse-undo.js'
import { lookUpIds, type Sighting } from './run-ids.js'
import { readVerifyOptions, type UndoOptions, type VerifySection } from './verify-options.js'

export type { UndoOptions } from './verify-options.js'

/** The account of an undo. `found` = `deleted` + `wouldDelete` + `changed` + `failed`. */
export interface Undone {
  readonly run: string
  readonly dryRun: boolean
  /** Nothing of the run is left, and its checkpoint is removed. The same load starts afresh, unless `goesBy` is set. */
  readonly isComplete: boolean
  readonly cluster: string
  readonly index: string
  /** Ids that the run may have stored documents under. */
  readonly documents: number
  readonly found: number
  readonly deleted: number
  /** Only in a dry run. */
  readonly wouldDelete: number
  /** Documents that were already gone. */
  readonly gone: number
  /** Documents that somebody changed after the run. Sluice did not delete them. */
  readonly changed: number
  /** The cluster refused to delete them. */
  readonly failed: number
  /** The first of them. */
  readonly changedIds: readonly string[]
  readonly failures: readonly { readonly status: number; readonly type: string; readonly documents: number }[]
  /** Path of the checkpoint, even if it was removed. */
  readonly checkpoint: string
  /**
   * The run that the same load now continues: the one before, whose checkpoint is restored, or a later one if an
   * earlier run was undone. The load skips what that run loaded.
   */
  readonly goesBy?: string
  /** A later run that continued an input of this one. Loads skip the deleted documents until that run is undone, too. */
  readonly continuedBy?: string
  readonly notes: readonly string[]
}

/**
 * Deletes only documents that a run created. Documents that were written again stay, unless `force` is set. Works from the checkpoint,
 * and removes it when nothing of the run is left. Meanwhile no load touches the run. If `undo` is interrupted, call it again.
 *
 * ```ts
 * const { deleted, changed, isComplete } = await undo({ run: receipt.run, stateDir, target: { url, apiKey }, proxy })
 * ```
 * Does not throw if a document cannot be deleted.
 * @throws SluiceError like `verify`. RUN_LOCKED if the run is still loading, or another process undoes it. UNDO_LOADED_AGAIN if a later run
 * loaded documents of the run again. UNDO_BEHIND_ALIAS while the alias of a guarded load leads to its index. STATE_UNWRITABLE if the state folder cannot be written.
 */
export async function undo(options: UndoOptions): Promise<Undone> {
  const asked = readVerifyOptions(options)
  const { dryRun, stateDir } = asked
  // Without the lock, a load could refill what undo deletes.
  const owned = dryRun ? undefined : await ownRun(stateDir, asked.run)
  await using _ = owned?.locks
  await using run = await openRun(asked, owned?.known)
  const { cluster, index, inputs, rejected, checkpoint, path } = run
  refuseLoadedAgain(run)
  await refuseBehindAlias(cluster, checkpoint)
  await refuseNotOwn(run)
  const deleter = new Deleter(run, asked)
  const replays = new ReplaysOfRun(run)
  let absent = 0
  let documents = 0
  let foreign = 0
  const keptFirst: string[] = []
  let keptRejected = 0
  const remove = async (sightings: readonly Sighting[]) => {
    // An id from a field may be that of a document that was there before.
    const isRejected = ({ input, number }: Sighting) =>
      run.readIds !== undefined && rejected.get(input.token)?.has(number) === true
    const own: Sighting[] = []
    for (const one of sightings.filter(({ copies }) => copies.length > 0))
      if (one.input.sharesFirst && one.number === one.input.first) keptFirst.push(one.id ?? `document ${one.number}`)
      else if (isRejected(one)) keptRejected += 1
      else own.push(one)
    if (own.length > 0 && !dryRun) await replays.forget()
    await deleter.remove(own.flatMap(({ copies }) => copies))
  }
  await lookUpIds(run, {
    settled: async sightings => {
      documents += sightings.length
      for (const { input, number, copies } of sightings) {
        const isRejected = rejected.get(input.token)?.has(number) === true
        if (copies.length === 0 && !isRejected) absent += 1
      }
      await remove(sightings)
    },
    beyond: async sightings => {
      const own = sightings.filter(({ input }) => input.isOpen)
      documents += own.length
      foreign += sightings.length - own.length
      await remove(own)
    },
  })
  const { vanished, ...result } = deleter.result()
  const { deleted, wouldDelete, changed, failed } = result
  const listedRejections = [...rejected.values()].reduce((sum, numbers) => sum + numbers.size, 0)
  const unlisted = Math.max(0, checkpoint.counts.rejected - listedRejections)
  const gone = Math.max(0, absent - unlisted - checkpoint.counts.dropped) + vanished
  // Documents that are missing may still be in a queue, or hidden.
  const mayCome = !run.isFresh || run.mayHide.length > 0 || checkpoint.counts.accepted > 0
  const isComplete = !dryRun && changed + failed === 0 && (!mayCome || gone === 0)
  if (!dryRun) await replays.end({ deleted, isComplete })
  const { goesBy, forgotten } = isComplete ? await forgetRun(run, deleted) : { goesBy: undefined, forgotten: [] }
  const continued = inputs.filter(({ continuedBy }) => continuedBy !== undefined)
  const [continuedBy] = continued.flatMap(one => one.continuedBy ?? [])
  const notes = [...run.notes, ...run.lettersNotes, ...(gone > 0 ? hiddenNote(run) : [])]
  if (keptFirst.length > 0) notes.push(sayFirst(keptFirst))
  if (keptRejected > 0) notes.push(sayRejected(keptRejected))
  notes.push(...replays.notes())
  if (continuedBy !== undefined)
    notes.push(
      `${continued.map(({ name }) => name).join(', ')} was continued by run ${continuedBy}, which takes all before its own lines for loaded. To load the deleted documents again, undo that run, too`,
    )
  if (forgotten.length > 0)
    notes.push(`${forgotten.join(', ')} found nothing new in the same inputs. Sluice has forgotten that, too`)
  if (foreign > 0)
    notes.push(`${foreign} documents have ids like those of the run, but are not its own. Sluice kept them`)
  const { op } = checkpoint.options
  if (isOperation(op) && rowOf(op).repeat === 'updated' && changed > 0)
    notes.push(`with --op ${op}, documents that this run sent twice also count as changed`)
  return {
    run: checkpoint.run,
    dryRun,
    isComplete,
    cluster: cluster.display,
    index,
    documents,
    found: deleted + wouldDelete + changed + failed,
    ...result,
    gone,
    checkpoint: path,
    ...(continuedBy === undefined ? {} : { continuedBy }),
    ...(goesBy === undefined ? {} : { goesBy }),
    notes,
  }
}

function sayFirst(ids: readonly string[]): string {
  const [was, them] = ids.length === 1 ? ['was', 'it'] : ['were', 'them']
  return `${ids.join(', ')} ${was} stored by an earlier run, whose last line has grown since. Sluice kept ${them}`
}

/** Another document of the run may have had the same id, and is deleted. */
function sayRejected(documents: number): string {
  const [what, had, them] =
    documents === 1
      ? ['1 document', 'another document in the index had its id', 'such a document']
      : [plural(documents, 'document'), 'other documents in the index had their ids', 'such documents']
  return `the run rejected ${what}, and ${had}. Sluice deletes ${them} only if this run created ${documents === 1 ? 'it' : 'them'}`
}

/** Elasticsearch gives a created document version 1, and raises it with each write. */
const UNTOUCHED = 1

/** Deletes a run's documents as they were found, and counts what happened to them. */
export class Deleter {
  readonly #run: OpenRun
  readonly #options: VerifySection
  /** `vanished`: documents that were found, but were gone before they could be deleted. */
  readonly #counts = { deleted: 0, wouldDelete: 0, changed: 0, failed: 0, vanished: 0 }
  readonly #changedIds: string[] = []
  readonly #failures = new Map<string, DeletionRefused & { documents: number }>()

  constructor(run: OpenRun, options: VerifySection) {
    this.#run = run
    this.#options = options
  }

  /** Resolves when each document is deleted, or known not to be. Throws SluiceError if the cluster cannot answer. */
  async remove(documents: readonly FoundDocument[]): Promise<void> {
    const { force, dryRun } = this.#options
    const { cluster, pace, signal } = this.#run
    const ours: FoundDocument[] = []
    for (const document of documents) {
      if (force || document.version === UNTOUCHED) ours.push(document)
      else this.#count(document, 'changed')
    }
    if (dryRun) {
      this.#counts.wouldDelete += ours.length
      return
    }
    await cluster.documents.delete(ours, {
      force,
      signal,
      settle: async (part, step) => await pace.settle(part, step),
      settled: (document, outcome) => this.#count(document, outcome),
    })
  }

  result() {
    return { ...this.#counts, changedIds: this.#changedIds, failures: [...this.#failures.values()] }
  }

  #count({ id }: FoundDocument, outcome: Deletion): void {
    if (outcome === 'deleted') this.#counts.deleted += 1
    else if (outcome === 'gone') this.#counts.vanished += 1
    else if (outcome === 'changed') {
      this.#counts.changed += 1
      if (this.#changedIds.length < this.#options.listed) this.#changedIds.push(id)
    } else this.#fail(outcome)
  }

  #fail({ status, type }: DeletionRefused): void {
    this.#counts.failed += 1
    const key = `${status} ${type}`
    const known = this.#failures.get(key)
    if (known === undefined) this.#failures.set(key, { status, type, documents: 1 })
    else known.documents += 1
  }
}
