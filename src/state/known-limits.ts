/**
 * What runs have learnt of a cluster's limits, kept for the next one. Never in the way of a load: what cannot be read is as if it
 * were not there, and what cannot be written is left.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LearntLimits } from '../flow.js'
import { makeFolder } from '../disk/make-folder.js'
import { replaceFile } from '../disk/replace-file.js'

const VERSION = 1
/** A cluster may have been resized since. */
const LASTING_MS = 7 * 86_400_000

/** `cluster`: its uuid, or where that may not be read its URL. */
export function limitsPath(stateDir: string, cluster: string): string {
  const key = createHash('sha256').update(cluster).digest('hex').slice(0, 32)
  return join(stateDir, 'limits', `${key}.json`)
}

/** Nothing where there is nothing, or nothing that can be used. `now`: milliseconds since the epoch. */
export async function recallLimits(path: string, now: number): Promise<LearntLimits> {
  try {
    const kept = JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, unknown>>
    const { version, written, concurrency, bodyBytes } = kept
    const age = now - Date.parse(String(written))
    // A clock that was set back makes a file of tomorrow.
    if (version !== VERSION || !(Math.abs(age) <= LASTING_MS) || !isCount(concurrency)) return {}
    return { concurrency, ...(isCount(bodyBytes) ? { bodyBytes } : {}) }
  } catch {
    return {}
  }
}

export async function rememberLimits(path: string, learnt: LearntLimits, now: number): Promise<void> {
  const kept = { version: VERSION, written: new Date(now).toISOString(), ...learnt }
  try {
    await makeFolder(dirname(path))
    await replaceFile(path, `${JSON.stringify(kept)}\n`)
  } catch {
    // The next run finds out for itself.
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
