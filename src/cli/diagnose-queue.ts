/** Adds to the doctor's report what it sees of the queue, if one is set. */
import { finding, type DoctorReport, type Finding, type Step } from '../doctor/report.js'
import { failure, isSluiceError } from '../failure/failure.js'
import type { Effective } from '../options/resolve.js'
import { openQueue } from './open-queue.js'
import type { Terminal } from './terminal/terminal.js'

/** A clock that is as wrong as this makes times in lists of jobs wrong. */
const CLOCK_MS = 5000

export async function diagnoseQueue(
  report: DoctorReport,
  effective: Effective,
  terminal: Terminal,
): Promise<DoctorReport> {
  const { queue } = effective.values
  if (queue === undefined) return report
  const began = performance.now()
  const { step, findings } = await lookAt(effective, queue, terminal)
  const ms = Math.round(performance.now() - began)
  const all = [...findings, ...report.findings]
  return {
    ...report,
    ok: all.every(({ severity }) => severity !== 'error'),
    findings: [...all.filter(one => one.severity === 'error'), ...all.filter(one => one.severity !== 'error')],
    steps: [...report.steps, { name: 'queue', ms, ...step }],
  }
}

interface Seen {
  readonly step: Pick<Step, 'ok' | 'detail'>
  readonly findings: readonly Finding[]
}

async function lookAt(effective: Effective, url: string, terminal: Terminal): Promise<Seen> {
  try {
    await using engine = await openQueue(effective, terminal)
    const { checkQueue } = await import('../jobs/check-queue.js')
    const { server, unsafe, evicts, clockAheadMs } = await checkQueue(engine, url)
    const findings = unsafe.map((problem, at) =>
      finding(evicts && at === 0 ? 'error' : 'warning', failure('QUEUE_UNSAFE', { queue: engine.display, problem })),
    )
    const clock =
      Math.abs(clockAheadMs) < CLOCK_MS ? '' : `, and its clock differs by ${Math.round(clockAheadMs / 1000)} s`
    return { step: { ok: findings.length === 0, detail: `${server} at ${engine.display}${clock}` }, findings }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { step: { ok: false, detail: error.message }, findings: [finding('error', error.failure)] }
  }
}
