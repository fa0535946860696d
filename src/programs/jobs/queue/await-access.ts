/** Decides whether a job waits if its cluster refuses a connection, or ends if it may send nothing more. */
import { explain, type Failure } from '../../../base/failure/failure.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import { blockWaitOf } from '../../../options/read-options.js'
import { systemClock } from '../../../base/time/clock.js'
import type { JobState } from './job-state.js'

/** How long a job or a range stays with a worker that is refused, in milliseconds. */
const REFUSED_MS = 2000

export function isAccessFailure({ code }: Failure): boolean {
  const { stage } = explain(code)
  return stage === 'proxy' || stage === 'egress' || code === 'CLUSTER_AUTH_REJECTED'
}

/** Returns whether the job has used all bytes that it may send for now. The same command continues it later. */
export function isSpent({ code }: Failure): boolean {
  return code === 'BYTE_BUDGET_SPENT' || code === 'PLAN_SPENT' || code === 'PLAN_LIMIT_REACHED'
}

/** Only a job that had access waits. A new job ends at once if its access is refused. */
export function mayWait(onBlock: IngestOptions['onBlock'], { parked }: JobState): boolean {
  return parked !== undefined && Date.now() - Date.parse(parked.since) < blockWaitOf(onBlock)
}

/** Keeps what was refused from the next worker for a while. Ends sooner if the signal aborts. */
export async function restRefused(signal: AbortSignal): Promise<void> {
  await systemClock.sleep(REFUSED_MS, signal).catch(() => undefined)
}
