import { type FollowedDeletions, deletionsPath, recallDeletions, rememberDeletions } from './deletions-file.js'
import type { FoundRun } from '../state/find-run.js'

/** How far earlier runs of the command have followed deletions, and this one. */
export interface DeletionsSoFar {
  readonly known: FollowedDeletions
  /** Adds to it, also on the disk where a checkpoint is kept. */
  add(more: FollowedDeletions): Promise<void>
}

export async function deletionsSoFar({ path: checkpoint, target, isIndexMissing }: FoundRun): Promise<DeletionsSoFar> {
  const path = checkpoint === undefined ? undefined : deletionsPath(checkpoint)
  const { indexUuid } = target
  const kept = path === undefined || isIndexMissing ? {} : await recallDeletions(path)
  const isOther = kept.index !== undefined && indexUuid !== undefined && kept.index !== indexUuid
  let known: FollowedDeletions = {
    ...(isOther ? {} : kept),
    ...(indexUuid === undefined ? {} : { index: indexUuid }),
  }
  return {
    get known() {
      return known
    },
    add: async more => {
      known = { ...known, ...more }
      if (path !== undefined) await rememberDeletions(path, known)
    },
  }
}
