/** What earlier runs learnt of a cluster's limits, and what this one adds to it. */
import type { LearntLimits } from '../flow.js'
import type { Target } from './checkpoint.js'
import { limitsPath, recallLimits, rememberLimits } from './known-limits.js'

export interface ClusterLimits {
  readonly learnt: LearntLimits
  /** Undefined: this run learnt nothing. */
  keep(learnt: LearntLimits | undefined): Promise<void>
}

/** Without a state folder nothing is known, nor kept. */
export async function openLimits(
  stateDir: string | undefined,
  { clusterUuid, url }: Target,
  wallClock: () => number,
): Promise<ClusterLimits> {
  if (stateDir === undefined) return { learnt: {}, keep: async () => await Promise.resolve() }
  const path = limitsPath(stateDir, clusterUuid ?? url)
  const known = await recallLimits(path, wallClock())
  return {
    learnt: known,
    keep: async learnt => {
      if (learnt !== undefined) await rememberLimits(path, learnt, wallClock())
    },
  }
}
