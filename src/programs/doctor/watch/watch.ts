/** Asks the doctor again and again, and reports what changed since the check before, also if that was in another process. Shows the present state as metrics. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recallJson, rememberJson } from '../../../base/disk/safe-files.js'
import type { DoctorReport } from '../report.js'
import type { Clock } from '../../../base/flow.js'
import { type Change, compare, endsIn, type Known, nothingKnown } from './changes.js'
import { MetricSet } from '../../../features/metrics/run-metrics.js'

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

/** Only gauges: what the path is like now. */
export class WatchMetrics extends MetricSet {
  readonly #ok = this.gauge('doctor_ok', '1 if the last check of the doctor found no error, otherwise 0.')
  readonly #checked = this.gauge('doctor_last_check_timestamp_seconds', 'When the doctor last checked.')
  readonly #findings = this.gauge('doctor_finding', '1 for each finding of the last check.', ['code', 'severity'])
  readonly #connections = this.gauge('doctor_connections', 'Connections of the last check by what the IP filter did.', [
    'verdict',
  ])
  readonly #ends = this.gauge('doctor_expiry_timestamp_seconds', 'When a certificate or the API key expires.', ['of'])

  /** Takes what a check found. `now`: milliseconds since the epoch. */
  checked(report: DoctorReport, now: number): void {
    this.#ok.set(report.ok ? 1 : 0)
    this.#checked.set(now / 1000)
    this.#findings.reset()
    for (const { code, severity } of report.findings) this.#findings.set({ code, severity }, 1)
    const { allowed = 0, refused = 0, broken = 0 } = report.facts.filter ?? {}
    for (const [verdict, count] of Object.entries({ allowed, refused, broken }))
      this.#connections.set({ verdict }, count)
    this.#ends.reset()
    for (const [what, end] of Object.entries(endsIn(report))) this.#ends.set({ of: what }, Date.parse(end) / 1000)
  }
}
