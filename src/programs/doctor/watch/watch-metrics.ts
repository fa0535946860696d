/** The metrics of a watch. */
import { MetricSet } from '../../../features/metrics/run-metrics.js'
import type { DoctorReport } from '../report.js'
import { endsIn } from './changes.js'

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
