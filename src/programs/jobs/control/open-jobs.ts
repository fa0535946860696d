/** The jobs on a queue, as a command sees them: what it puts there and waits for, what it lists and changes, and who works. */
import type { FoundInput } from '../../../features/ranges/range-load.js'
import type { JobData, JobEnd, Planned } from '../job.js'
import { planRanges } from '../plan/plan-ranges.js'
import { checkQueue, type QueueFacts } from '../queue/check-queue.js'
import { openEngine, type QueueEngine } from '../queue/open-engine.js'
import { noSeal, sealWith } from '../queue/seal.js'
import { type QueuePatience, untilQueueDone } from '../queue/until-done.js'
import { readSigns, type WorkerSign } from '../queue/worker-sign.js'
import { agreeOnName } from './agree-on-name.js'
import { cancelJob, findJob, type ListedJob, listJobs, removeJob, retryJob } from './list-jobs.js'
import { claimReport, logOf } from './report-end.js'
import { submitJob, waitForJob } from './submit-job.js'

interface NamedJob {
  readonly name: string
  readonly data: JobData
}

export interface Jobs extends AsyncDisposable {
  /** For workers of this process. */
  readonly engine: QueueEngine
  check(): Promise<QueueFacts>
  /** The signs of all workers. `queueAheadMs`: how far the clock of the queue is ahead. */
  signs(queueAheadMs: number): Promise<readonly WorkerSign[]>
  /** Names the job of a command that begins a new load each time. */
  agreeOnName(wanted: NamedJob): Promise<NamedJob>
  /** Puts a job on the queue, or joins the same one. Returns the options that an open job ignores. See `submitJob` for what it throws. */
  submit(job: NamedJob): Promise<readonly string[]>
  /** Resolves to what the job left. Throws SluiceError JOB_CONTINUES if the signal aborts first. */
  wait(job: NamedJob, waiting: Omit<QueuePatience, 'engine'>): Promise<JobEnd>
  /** Returns whether this process, of all that wait for the job, is the one that reports its end. */
  claimReport(name: string): Promise<boolean>
  list(): Promise<readonly ListedJob[]>
  find(name: string): Promise<ListedJob | undefined>
  cancel(name: string): Promise<void>
  retry(name: string): Promise<void>
  remove(name: string): Promise<void>
  /** Repeats work on the queue until it succeeds. */
  untilDone<T>(work: () => Promise<T>, patience: Omit<QueuePatience, 'engine'>): Promise<T>
}

/**
 * `key`: signs what this process writes, and checks what it reads. `problem`: hears of each error of an open connection. Throws SluiceError
 * QUEUE_NEEDS_PACKAGE, QUEUE_UNREACHABLE, QUEUE_REFUSED.
 */
export async function openJobs(
  url: string,
  key: string | undefined,
  problem: (message: string) => void,
): Promise<Jobs> {
  const engine = await openEngine(url, problem, key === undefined ? noSeal : sealWith(key))
  return {
    engine,
    check: async () => await checkQueue(engine, url),
    signs: async queueAheadMs => await readSigns(engine, queueAheadMs),
    agreeOnName: async ({ name, data }) => await agreeOnName(engine, name, data),
    submit: async ({ name, data }) => await submitJob(engine, name, data),
    wait: async (job, waiting) => await waitForJob(engine, job, waiting),
    claimReport: async name => await claimReport(await logOf(engine, name)),
    list: async () => await listJobs(engine),
    find: async name => await findJob(engine, name),
    cancel: async name => await cancelJob(engine, name),
    retry: async name => await retryJob(engine, name),
    remove: async name => await removeJob(engine, name),
    untilDone: async (work, patience) => await untilQueueDone(work, { ...patience, engine }),
    [Symbol.asyncDispose]: async () => await engine[Symbol.asyncDispose](),
  }
}

export interface CountedPlan extends Planned {
  /** Ranges that hold small inputs, or one that cannot be cut. */
  readonly groups: number
}

/** Plans a job without a queue, to show what it would hold. `find`: finds the inputs behind a name. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, SOURCE_*. */
export async function countPlan(
  data: JobData,
  find: (name: string, cutFrom: number) => AsyncIterable<FoundInput>,
): Promise<CountedPlan> {
  let plan: CountedPlan = { objects: 0, ranges: 0, groups: 0, bytes: 0 }
  for await (const { begins, bytes, inputs } of planRanges(data, find))
    plan = {
      objects: plan.objects + begins,
      ranges: plan.ranges + 1,
      groups: plan.groups + (inputs.every(({ from }) => from === undefined) ? 1 : 0),
      bytes: plan.bytes + bytes,
    }
  return plan
}
