import { readCheckpoint, removeCheckpoint } from '../state/checkpoint-file.js'
import { bringBack, lastOf } from '../state/earlier-checkpoints.js'
import { Deleter } from './deleter.js'
import { openRun, ownRun, refuseBehindAlias } from './open-run.js'
import { idOf } from './run-ids.js'
import { type Sighting, sweep } from './sweep.js'
import type { Undone } from './verification.js'
import { progressOf, readRejected } from './verify.js'
import { readVerifyOptions, type UndoOptions } from './verify-options.js'

/**
 * Deletes only documents that a run created. Documents that were written again stay, unless `force` is set. Works
 * from the checkpoint, and
 * removes it when nothing of the run is left. Meanwhile no load touches the run. If `undo` is interrupted, call it
 * again.
 *
 * ```ts
 * const { deleted, changed, isComplete } = await undo({ run: receipt.run, stateDir, target: { url, apiKey }, proxy })
 * ```
 * Does not throw if a document cannot be deleted.
 * @throws SluiceError like `verify`. RUN_LOCKED if the run is still loading, or another process undoes it.
 * UNDO_BEHIND_ALIAS while the
 * alias of a guarded load leads to its index. STATE_UNWRITABLE if the state folder cannot be written.
 */
export async function undo(options: UndoOptions): Promise<Undone> {
  const asked = readVerifyOptions(options)
  const { listed, dryRun, force, signal } = asked
  // Without the lock, a load could refill what undo deletes.
  const owned = dryRun ? undefined : await ownRun(asked.stateDir, asked.run)
  await using _ = owned?.locks
  const run = await openRun(asked, owned?.known)
  try {
    const { cluster, inputs, by, pace, checkpoint, path } = run
    const { index } = checkpoint.target
    await refuseBehindAlias(cluster, checkpoint)
    const { rejected, notes } = await readRejected(run)
    const stopping = signal === undefined ? {} : { signal }
    const deleter = new Deleter({ cluster, pace, dryRun, force, listed, ...stopping })
    const progress = progressOf(asked, run)
    let absent = 0
    let documents = 0
    let foreign = 0
    let kept = 0
    const remove = async (sightings: readonly Sighting[]) => {
      const own = sightings.filter(({ input, number }) => !(input.sharesFirst && number === input.first))
      kept += sightings.filter(({ copies }) => copies.length > 0).length
      kept -= own.filter(({ copies }) => copies.length > 0).length
      await deleter.remove(own.flatMap(({ copies }) => copies))
    }
    await sweep({
      cluster,
      index,
      by,
      inputs,
      pace,
      ...stopping,
      settled: async sightings => {
        documents += sightings.length
        for (const { input, number, copies } of sightings) {
          const isRejected = rejected.get(input.token)?.has(number) === true
          if (copies.length === 0 && !isRejected) absent += 1
        }
        await remove(sightings)
        progress(sightings.length)
      },
      beyond: async sightings => {
        const own = sightings.filter(({ input }) => input.isOpen)
        documents += own.length
        foreign += sightings.length - own.length
        await remove(own)
      },
    })
    const { deleted, wouldDelete, vanished, changed, failed, changedIds, failures } = deleter.result()
    const listedRejections = [...rejected.values()].reduce((sum, numbers) => sum + numbers.size, 0)
    const gone = Math.max(0, absent - Math.max(0, checkpoint.counts.rejected - listedRejections)) + vanished
    const isComplete = !dryRun && changed + failed === 0 && (run.isFresh || gone === 0)
    const goesBy = isComplete ? await forget(path) : undefined
    const continued = inputs.filter(({ isContinued }) => isContinued).map(({ name }) => name)
    const shared = inputs.filter(({ sharesFirst }) => sharesFirst).map(input => idOf(input, input.first))
    return {
      run: checkpoint.run,
      dryRun,
      isComplete,
      cluster: cluster.display,
      index,
      documents,
      found: deleted + wouldDelete + changed + failed,
      deleted,
      wouldDelete,
      gone,
      changed,
      failed,
      changedIds,
      failures,
      checkpoint: path,
      ...(goesBy === undefined ? {} : { goesBy }),
      notes: [
        ...run.notes,
        ...notes,
        ...(kept === 0
          ? []
          : [`${shared.join(', ')} was stored by an earlier run, whose last line has grown since. Sluice left it`]),
        ...(goesBy === undefined || continued.length === 0
          ? []
          : [`${continued.join(', ')} was continued by a later run. To load the deleted part again, pass --again`]),
        ...(foreign === 0
          ? []
          : [`${foreign} documents have ids like those of the run, but are not its own. Sluice left them`]),
        ...(checkpoint.options['op'] === 'index' && changed > 0
          ? ['with --op index, documents that this run sent twice also count as changed']
          : []),
      ],
    }
  } finally {
    await run.cluster.route.destroy()
  }
}

/** Removes a checkpoint. Resolves to the run by whose checkpoint the same load goes now, if there is one. */
async function forget(path: string): Promise<string | undefined> {
  const last = lastOf(path)
  const before = last === undefined ? await bringBack(path) : undefined
  if (before !== undefined) return before
  await removeCheckpoint(path)
  if (last === undefined) return undefined
  // An unreadable checkpoint is reported when its load is started.
  return (await readCheckpoint(last).catch(() => undefined))?.run
}
