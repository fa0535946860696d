import { removeCheckpoint } from '../ledger/checkpoint-file.js'
import { refuseLive, runHolder } from '../ledger/run-holder.js'
import { Deleter } from './deleter.js'
import { openRun } from './open-run.js'
import { idOf } from './run-ids.js'
import { type Sighting, sweep } from './sweep.js'
import type { Undone } from './undone.js'
import { LISTED, progressOf, readRejected } from './verify.js'
import { type UndoOptions, checkVerifyOptions } from './verify-options.js'

/**
 * Deletes the documents that a run created, and no others: what was written again since is left, unless `force` is set. Works
 * from the checkpoint, which is removed once nothing of the run is left. Cut off in the middle, it is called again.
 *
 * ```ts
 * const { deleted, changed, isComplete } = await undo({ run: receipt.run, stateDir, target: { url, apiKey }, proxy })
 * ```
 * What cannot be deleted does not make it throw.
 * @throws SluiceError as `verify` does, RUN_LOCKED while the run is going on, and STATE_UNWRITABLE where the checkpoint cannot be removed.
 */
export async function undo(options: UndoOptions): Promise<Undone> {
  checkVerifyOptions(options)
  const { listed = LISTED, dryRun = false, force = false, signal } = options
  const run = await openRun(options)
  try {
    const { cluster, inputs, by, pace, checkpoint, path } = run
    const { index } = checkpoint.target
    // What is deleted in the front would be loaded behind.
    const input = checkpoint.inputs[0]?.name ?? ''
    if (!dryRun) await refuseLive(options.stateDir, { run: checkpoint.run, input, index })
    const { rejected, notes } = await readRejected(run)
    const stopping = signal === undefined ? {} : { signal }
    const deleter = new Deleter({ cluster, pace, dryRun, force, listed, ...stopping })
    const progress = progressOf(options, run)
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
    // A job that began meanwhile goes by it.
    if (isComplete && (await runHolder(options.stateDir, checkpoint.run)) === undefined) await removeCheckpoint(path)
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
      notes: [
        ...run.notes,
        ...notes,
        ...(kept === 0
          ? []
          : [`${shared.join(', ')}: stored by an earlier run, whose last line has grown since: left`]),
        ...(foreign === 0 ? [] : [`${foreign} documents have ids like the run's and are none of its own: left`]),
        ...(checkpoint.options['op'] === 'index' && changed > 0
          ? ['with --op index, what this run sent twice counts as changed too']
          : []),
      ],
    }
  } finally {
    await run.cluster.route.destroy()
  }
}
