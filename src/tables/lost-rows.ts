import type { IndexSeen } from '../cluster/indices.js'
import type { Checkpoint } from '../state/checkpoint.js'
import type { LostIndices } from '../state/lost-index.js'

/**
 * Returns the indices that no longer stand behind the name of the target, if none of them does: it may hold none of the rows.
 * `readsChanges`: only what changed since would be read.
 */
export function lostRows({ target }: Checkpoint, seen: IndexSeen, readsChanges: boolean): LostIndices | undefined {
  // A table may have had no row to store, and so nothing that could be missing.
  if (seen.kind === 'missing') return { indices: [], isPart: false, startsAfresh: true }
  const { index, indexUuid, behind } = target
  const was = behind ?? (indexUuid === undefined ? undefined : [index])
  if (!readsChanges || was === undefined || (seen.kind !== 'name' && seen.kind !== 'index')) return undefined
  const now = seen.kind === 'name' ? seen.behind : [index]
  return was.some(name => now.includes(name)) ? undefined : { indices: was, isPart: false, startsAfresh: true }
}
