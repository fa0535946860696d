import { readIndices } from '../cluster/alias.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Checkpoint } from '../ledger/checkpoint.js'

/**
 * A guarded load is taken back by a rollback: its index is not emptied while searches go there.
 * Throws SluiceError UNDO_BEHIND_ALIAS, and what asking for the index throws.
 */
export async function refuseBehindAlias(cluster: Cluster, { run, target }: Checkpoint): Promise<void> {
  const { alias, index } = target
  if (alias === undefined) return
  const isBehind = (await readIndices(cluster, index)).some(({ aliases }) => aliases[alias] !== undefined)
  if (isBehind) throw new SluiceError(failure('UNDO_BEHIND_ALIAS', { run, index, alias }))
}
