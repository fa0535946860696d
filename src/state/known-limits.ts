/**
 * Saves the limits of a cluster that runs have learnt, for the next run. Never stops a load: ignores files that it
 * cannot read or write.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recallJson, rememberJson } from '../disk/safe-files.js'

const VERSION = 1
/** A cluster may have been resized since. */
const LASTING_MS = 7 * 86_400_000

/** How much a cluster bears at once, as far as runs have learnt. */
export interface KnownLimits {
  /** Requests under way. */
  readonly concurrency?: number
  /** Largest body, if one was too large. */
  readonly bodyBytes?: number
}

/** `cluster`: its uuid, or its URL if the user may not read the uuid. */
export function limitsPath(stateDir: string, cluster: string): string {
  const key = createHash('sha256').update(cluster).digest('hex').slice(0, 32)
  return join(stateDir, 'limits', `${key}.json`)
}

/** Returns an empty object if there are no usable limits. `now`: milliseconds since the epoch. */
export async function recallLimits(path: string, now: number): Promise<KnownLimits> {
  const { written, concurrency, bodyBytes } = await recallJson(path, VERSION)
  const age = now - Date.parse(String(written))
  // A clock that was set back makes a file of tomorrow.
  if (!(Math.abs(age) <= LASTING_MS) || !isCount(concurrency)) return {}
  return { concurrency, ...(isCount(bodyBytes) ? { bodyBytes } : {}) }
}

export async function rememberLimits(path: string, learnt: KnownLimits, now: number): Promise<void> {
  await rememberJson(path, VERSION, { written: new Date(now).toISOString(), ...learnt })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
