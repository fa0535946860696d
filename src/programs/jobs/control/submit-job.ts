/** Puts a job on the queue, or joins the same job that is there, and waits for its end. */
import type { Job, Queue } from 'bullmq'
import { fail, failure, isSluiceError, SluiceError } from '../../../base/failure/failure.js'
import { optionsIgnored } from './compare-jobs.js'
import { trusted, wrongSignature } from '../queue/trust-job.js'
import type { JobData, JobEnd } from '../job.js'
import { isEnd } from '../queue/check-entry.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { untilQueueDone } from '../queue/until-done.js'
import type { WorkerEvent } from '../queue/worker-event.js'
import { systemClock } from '../../../base/time/clock.js'

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
 * failed, because ranges that are loaded keep their places on the queue. Returns the options that a job that was open ignores.
 * Throws SluiceError OPTION_INVALID if the open job loads something else, JOB_MALFORMED and JOB_SIGNATURE_WRONG if it is not to be
 * trusted.
 */
export async function submitJob(engine: QueueEngine, name: string, data: JobData): Promise<readonly string[]> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const known = (await control.getJob(name)) as Job<JobData> | undefined
  if (known === undefined) await control.add('job', engine.seal.sign('job', [name], data), { jobId: name, ...TRIES })
  // Cut otherwise, all that is loaded would be loaded again.
  else await reopen(engine, known, { ...data, rangeBytes: trusted(known, engine.seal).rangeBytes })
  // Another process may have been faster.
  const open = (await control.getJob(name)) as Job<JobData> | undefined
  return open === undefined ? [] : optionsIgnored(name, trusted(open, engine.seal), data)
}

/**
 * Puts a job that has ended on the queue again, with an empty log. Does nothing to a job that is open. Of several processes, one puts
 * it there: to remove a job that somebody works on is refused, and a name that is there is not added.
 */
export async function reopen(engine: QueueEngine, job: Job<JobData>, data: JobData): Promise<void> {
  const { id = '' } = job
  const control: Queue<JobData> = engine.queue(CONTROL)
  if (!(await isOver(job))) return
  const isRemoved = await control.remove(id)
  if (isRemoved === 0) return
  const anew = engine.seal.sign('job', [id], { ...data, made: new Date().toISOString() })
  await control.add('job', anew, { jobId: id, ...TRIES })
}

async function isOver(job: Job): Promise<boolean> {
  return ['completed', 'failed'].includes(await job.getState())
}

/**
 * Resolves to what the job left. A job that was open before this command knows only the inputs of its own start. If it ends well, it is
 * planned once more. Throws SluiceError JOB_CONTINUES if the signal aborts first.
 */
export async function waitForJob(
  engine: QueueEngine,
  { name, data }: { readonly name: string; readonly data: JobData },
  { signal, tell }: Waiting,
): Promise<JobEnd> {
  const control: Queue<JobData, JobEnd> = engine.queue(CONTROL)
  let isOlder: boolean | undefined
  let joined: Pick<JobData, 'loadedUntil'> = {}
  for (;;) {
    const end = await untilQueueDone(
      async () => {
        const job = await control.getJob(name)
        // What the open job loads, this command has waited for.
        if (job?.data.loadedUntil !== undefined) joined = { loadedUntil: job.data.loadedUntil }
        isOlder ??= job !== undefined && trusted(job, engine.seal).made < data.made
        const state = await job?.getState()
        // A queue that was killed may have forgotten the last second.
        if (job === undefined) await submitJob(engine, name, data)
        if (state === 'failed') throw new SluiceError(failure('JOB_RANGE_LOST', { problem: job?.failedReason ?? '' }))
        return state === 'completed' ? endOf(await control.getJob(name), engine) : undefined
      },
      { engine, signal, tell },
    ).catch((error: unknown) => {
      // Somebody ended this process. A queue that is silent changes nothing about that.
      if (signal.aborted && isSluiceError(error) && error.code === 'QUEUE_UNREACHABLE') return undefined
      throw error
    })
    if (end !== undefined && !(isOlder === true && mayBeRepeated(end, data))) return end
    if (end !== undefined) {
      isOlder = false
      await untilQueueDone(async () => await submitJob(engine, name, { ...data, ...joined }), { engine, signal, tell })
    }
    if (signal.aborted) throw fail('JOB_CONTINUES', { reason: String(signal.reason), job: name })
    await systemClock.sleep(LOOK_MS, signal).catch(() => undefined)
  }
}

/** A guarded load fills its index once. */
function mayBeRepeated(end: JobEnd, { settings }: JobData): boolean {
  return 'receipt' in end && end.receipt.exit === 0 && settings['swapAlias'] === undefined
}

/** Throws SluiceError JOB_SIGNATURE_WRONG if somebody without the key says how the job ended. */
function endOf(job: Job<JobData, JobEnd> | undefined, { seal }: QueueEngine): JobEnd | undefined {
  if (job === undefined) return undefined
  const { id = '', returnvalue: end } = job
  const { made } = trusted(job, seal)
  if (!isEnd(end))
    throw new SluiceError(failure('JOB_RANGE_LOST', { problem: 'its end on the queue is no end of a job' }))
  if (seal.fits('end', [id, made], end)) return end
  throw new SluiceError(wrongSignature(id, 'its end on the queue is not signed with the key of this process'))
}
