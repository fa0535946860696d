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
