/** Puts a job on the queue, or joins the same job that is there, and waits for its end. */
import type { Job, Queue } from 'bullmq'
import { fail, failure, SluiceError } from '../failure/failure.js'
import type { JobData, JobEnd, RangeData } from './job.js'
import { forgetReplaced } from './forget-replaced.js'
import { rangesOf } from './job.js'
import { CONTROL, type Engine } from './open-engine.js'
import { untilDone } from './until-done.js'
import type { WorkerEvent } from './worker-event.js'
import { systemClock } from '../time/system-clock.js'

interface Waiting {
  readonly signal: AbortSignal
  tell(event: WorkerEvent): void
}

/** A coordinator that cannot reach the cluster tries again, or another one does. */
const TRIES = { attempts: 6, backoff: { type: 'exponential', delay: 2000 } }

/** Time between two looks at the job, in milliseconds. */
const LOOK_MS = 300

/**
 * The same command is the same job: one that is open is joined. One that has ended is planned again, and loads what is new or has
 * failed, because ranges that are loaded keep their places on the queue.
 */
export async function submitJob(engine: Engine, name: string, data: JobData): Promise<void> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const known = (await control.getJob(name)) as Job<JobData> | undefined
  if (known === undefined) {
    await control.add('job', data, { jobId: name, ...TRIES })
    return
  }
  // Cut otherwise, all that is loaded would be loaded again.
  const { rangeBytes } = known.data
  await reopen(engine, known, { ...data, rangeBytes })
}

/** Opens a job that has ended again. Does nothing to a job that is open. */
export async function reopen(engine: Engine, job: Job<JobData>, data: JobData): Promise<void> {
  const state = await job.getState()
  if (state !== 'completed' && state !== 'failed') return
  await job.updateData(data)
  await job.clearLogs()
  await job.updateProgress({})
  // A job that is planned again also plans again what has failed.
  if (data.planned !== undefined) await retryRanges(engine.queue(rangesOf(job.id ?? '')))
  // Another process may have opened it meanwhile.
  await job.retry(state, { resetAttemptsMade: true, resetAttemptsStarted: true }).catch(async (error: unknown) => {
    const now = await job.getState()
    if (now === state) throw error
  })
}

async function retryRanges(ranges: Queue<RangeData>): Promise<void> {
  await forgetReplaced(ranges)
  await ranges.retryJobs({ state: 'failed' })
  await ranges.resume()
}

/** Resolves to what the job left. Throws SluiceError JOB_CONTINUES if the signal aborts first. */
export async function waitForJob(
  engine: Engine,
  { name, data }: { readonly name: string; readonly data: JobData },
  { signal, tell }: Waiting,
): Promise<JobEnd> {
  const control: Queue<JobData, JobEnd> = engine.queue(CONTROL)
  for (;;) {
    const end = await untilDone(
      async () => {
        const job = await control.getJob(name)
        const state = await job?.getState()
        // A queue that was killed may have forgotten the last second.
        if (job === undefined) await submitJob(engine, name, data)
        if (state === 'failed') throw new SluiceError(failure('JOB_RANGE_LOST', { problem: job?.failedReason ?? '' }))
        return state === 'completed' ? (await control.getJob(name))?.returnvalue : undefined
      },
      { engine, signal, tell },
    )
    if (end !== undefined) return end
    if (signal.aborted) throw fail('JOB_CONTINUES', { reason: String(signal.reason), job: name })
    await systemClock.sleep(LOOK_MS, signal).catch(() => undefined)
  }
}
