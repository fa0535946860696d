/** Adds to the doctor's report what it sees of the queue, if one is set. */
import { type DoctorReport, finding, type Finding } from '../../programs/doctor/report.js'
import type { Step } from '../../route/examine/facts.js'
import { failure, isSluiceError } from '../../base/failure/failure.js'
import { withoutCredentials } from '../../base/secrets.js'
import type { Effective } from '../settings/resolve.js'
import { CLOCK_MS, judgeWorkers } from './judge-workers.js'
import { openQueue } from './open-queue.js'
import type { Terminal } from '../terminal/terminal.js'

export async function diagnoseQueue(
  report: DoctorReport,
  effective: Effective,
  terminal: Terminal,
): Promise<DoctorReport> {
  const { queue } = effective.values
  if (queue === undefined) return report
  const began = performance.now()
  const { queue: step, workers, findings } = await lookAt(effective, terminal, report.facts.proxy !== undefined)
  const ms = Math.round(performance.now() - began)
  const all = [...findings, ...report.findings]
  return {
    ...report,
    ok: all.every(({ severity }) => severity !== 'error'),
    findings: [...all.filter(one => one.severity === 'error'), ...all.filter(one => one.severity !== 'error')],
    steps: [
      ...report.steps,
      { name: 'queue', ms, ...step },
      ...(workers === undefined ? [] : [{ name: 'workers', ...workers }]),
    ],
  }
}

type Told = Pick<Step, 'ok' | 'detail'>

interface Seen {
  readonly queue: Told
  readonly workers?: Told
  readonly findings: readonly Finding[]
}

async function lookAt(effective: Effective, terminal: Terminal, hasProxy: boolean): Promise<Seen> {
  try {
    await using jobs = await openQueue(effective, terminal)
    const { server, unsafe, evicts, clockAheadMs } = await jobs.check()
    const ofQueue = unsafe.map((problem, at) =>
      finding(
        evicts && at === 0 ? 'error' : 'warning',
        failure('QUEUE_UNSAFE', { queue: jobs.engine.display, problem }),
      ),
    )
    const { step: workers, findings: ofWorkers } = judgeWorkers(await jobs.signs(clockAheadMs), {
      url: withoutCredentials(effective.values.url ?? ''),
      hasProxy,
      staticIps: effective.values.staticIps,
    })
    const clock =
      Math.abs(clockAheadMs) < CLOCK_MS ? '' : `, and its clock differs by ${Math.round(clockAheadMs / 1000)} s`
    const queue = {
      ok: ofQueue.length === 0 && clock === '',
      detail: `${server} at ${jobs.engine.display}${clock}`,
    }
    return { queue, workers, findings: [...ofQueue, ...judgeClock(clockAheadMs), ...ofWorkers] }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { queue: { ok: false, detail: error.message }, findings: [finding('error', error.failure)] }
  }
}

function judgeClock(clockAheadMs: number): Finding[] {
  if (Math.abs(clockAheadMs) < CLOCK_MS) return []
  const seconds = Math.round(Math.abs(clockAheadMs) / 1000)
  const direction = clockAheadMs > 0 ? 'behind' : 'ahead of'
  return [finding('warning', failure('CLOCK_SKEW', { seconds, direction, comparedWith: 'the queue' }))]
}
