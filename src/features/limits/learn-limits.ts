/** Remembers how much a cluster bears at once. */
import type { BodiesHook, EndingHook, RouteHook } from '../../run/loop/hooks.js'
import type { Sender } from '../../route/sender/sender.js'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recallJson, rememberJson } from '../../base/disk/safe-files.js'

type LearntLimits = NonNullable<Sender['learnt']>

/**
 * Starts with the limits that earlier runs learnt of the cluster, and saves the limits that this run learns. Without
 * a state folder nothing is saved. Never stops a load: ignores files that it cannot read or write.
 */
export function learnLimits(): RouteHook & BodiesHook & EndingHook {
  let path: string | undefined
  let learnt: LearntLimits = {}
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
    finished: async ({ sender }) => {
      if (path !== undefined && sender.learnt !== undefined) await rememberLimits(path, sender.learnt, Date.now())
    },
  }
}

const VERSION = 1
/** A cluster may have been resized since. */
const LASTING_MS = 7 * 86_400_000

/** `cluster`: its uuid, or its URL if the user may not read the uuid. */
export function limitsPath(stateDir: string, cluster: string): string {
  const key = createHash('sha256').update(cluster).digest('hex').slice(0, 32)
  return join(stateDir, 'limits', `${key}.json`)
}

/** Returns an empty object if there are no usable limits. `now`: milliseconds since the epoch. */
export async function recallLimits(path: string, now: number): Promise<LearntLimits> {
  const { written, concurrency, bodyBytes } = await recallJson(path, VERSION)
  const age = now - Date.parse(String(written))
  // A clock that was set back makes a file of tomorrow.
  if (!(Math.abs(age) <= LASTING_MS) || !isCount(concurrency)) return {}
  return { concurrency, ...(isCount(bodyBytes) ? { bodyBytes } : {}) }
}

export async function rememberLimits(path: string, learnt: LearntLimits, now: number): Promise<void> {
  await rememberJson(path, VERSION, { written: new Date(now).toISOString(), ...learnt })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
