/** Keeps documents that an undo must not delete. */
import { fail } from '../../base/failure/failure.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import type { OpenRun } from './open-run.js'

/** Keeps documents that belong to a later run. Throws SluiceError UNDO_LOADED_AGAIN. */
export function refuseLoadedAgain({ checkpoint: { run }, loadedBy }: Pick<OpenRun, 'checkpoint' | 'loadedBy'>): void {
  if (loadedBy !== undefined) throw fail('UNDO_LOADED_AGAIN', { run, later: loadedBy })
}

/** Keeps the index behind the alias of a guarded load: a rollback takes such a load back. Throws SluiceError UNDO_BEHIND_ALIAS, and as `call` does. */
export async function refuseBehindAlias(cluster: Cluster, { run, target }: Checkpoint): Promise<void> {
  const { alias, index } = target
  if (alias === undefined) return
  const isBehind = (await cluster.indices.read(index)).some(({ aliases }) => aliases[alias] !== undefined)
  if (isBehind) throw fail('UNDO_BEHIND_ALIAS', { run, index, alias })
}

/**
 * Keeps documents that may have been there before the run. If ids come from fields, only the counts of the run show that it stored each one.
 * Throws SluiceError RUN_IDS_UNKNOWN, and as reading does.
 */
export async function refuseNotOwn({ readIds, checkpoint, rejected }: OpenRun): Promise<void> {
  if (readIds === undefined) return
  const { run, status, counts, options } = checkpoint
  const how = `--ids ${options['ids']}`
  if (status !== 'finished') throw fail('RUN_IDS_UNKNOWN', { run, ids: `${how}, and it is not finished` })
  let documents = 0
  for await (const { input, number, id } of readIds())
    if (id !== undefined && rejected.get(input.token)?.has(number) !== true) documents += 1
  if (documents !== counts.created + counts.updated)
    throw fail('RUN_IDS_UNKNOWN', { run, ids: `${how}, and some of its documents may have been there before` })
}
