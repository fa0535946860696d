/** Asks the doctor again and again, and reports what changed since the check before, also if that was in another process. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recallJson, rememberJson } from '../../../base/disk/safe-files.js'
import type { DoctorReport } from '../report.js'
import type { Clock } from '../../../base/flow.js'
import { type Change, type Known, compare, nothingKnown } from './changes.js'

const VERSION = 1

export interface Watching {
  readonly everyMs: number
  /** Folder of what was known. */
  readonly stateDir: string
  /** The watched URLs, without credentials. Two watches of the same share what they know. */
  readonly places: readonly string[]
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Ends the watch. */
  readonly signal: AbortSignal
  check(): Promise<DoctorReport>
  /** Hears of each check. */
  checked(report: DoctorReport, changes: readonly Change[]): Promise<void>
}

/** Resolves when the signal aborts. Rejects with what a check throws. */
export async function watch(watching: Watching): Promise<void> {
  const { everyMs, stateDir, places, clock, now, signal, check, checked } = watching
  const path = join(stateDir, `watch-${createHash('sha256').update(places.join('\n')).digest('hex').slice(0, 16)}.json`)
  let before = knownIn(await recallJson(path, VERSION))
  while (!signal.aborted) {
    const report = await check().catch((error: unknown) => {
      if (signal.aborted) return undefined
      throw error
    })
    if (report === undefined) return
    const { known, changes } = compare(before, report, now())
    before = known
    // First the file: if a kill comes between the two, no message is sent twice.
    await rememberJson(path, VERSION, known)
    await checked(report, changes)
    await clock.sleep(everyMs, signal).catch(() => undefined)
  }
}

/** Returns nothing for a file that somebody has changed. */
function knownIn(kept: object): Known {
  const { count, findings, addresses, values, told } = { ...nothingKnown, ...kept } as Known
  const areObjects = [findings, addresses, values, told].every(one => typeof one === 'object' && one !== null)
  return areObjects && Number.isSafeInteger(count) && count >= 0
    ? { count, findings, addresses, values, told }
    : nothingKnown
}
