import type { RunHook } from '../run/hooks.js'
import { type KnownLimits, limitsPath, recallLimits, rememberLimits } from '../state/known-limits.js'

/**
 * Starts with the limits that earlier runs learnt of the cluster, and saves the limits that this run learns. Without
 * a state folder nothing is saved.
 */
export function learnLimits(): RunHook {
  let path: string | undefined
  let learnt: KnownLimits = {}
  return {
    prepare: async ({ stateDir, found }) => {
      if (stateDir === undefined) return
      const { clusterUuid, url } = found.target
      path = limitsPath(stateDir, clusterUuid ?? url)
      learnt = await recallLimits(path, Date.now())
    },
    get sending() {
      return { learnt }
    },
    finished: async ended => {
      if (path !== undefined && ended.learnt !== undefined) await rememberLimits(path, ended.learnt, Date.now())
    },
  }
}
