import { readIndices } from '../cluster/alias.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Checkpoint } from '../state/checkpoint.js'
import { fail } from '../failure/fail.js'

/**
 * A guarded load is taken back by a rollback: its index is not emptied while searches go there.
 * Throws SluiceError UNDO_BEHIND_ALIAS, and what asking for the index throws.
 */
export async function refuseBehindAlias(cluster: Cluster, { run, target }: Checkpoint): Promise<void> {
  const { alias, index } = target
  if (alias === undefined) return
  const isBehind = (await readIndices(cluster, index)).some(({ aliases }) => aliases[alias] !== undefined)
  if (isBehind) throw fail('UNDO_BEHIND_ALIAS', { run, index, alias })
}
