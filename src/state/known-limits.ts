/**
 * What runs have learnt of a cluster's limits, kept for the next one. Never in the way of a load: what cannot be read is as if it
 * were not there, and what cannot be written is left.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recallJson, rememberJson } from '../disk/json-file.js'

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

/** `cluster`: its uuid, or where that may not be read its URL. */
export function limitsPath(stateDir: string, cluster: string): string {
  const key = createHash('sha256').update(cluster).digest('hex').slice(0, 32)
  return join(stateDir, 'limits', `${key}.json`)
}

/** Nothing where there is nothing, or nothing that can be used. `now`: milliseconds since the epoch. */
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
