/** Looks at the jobs of a queue, and changes one of them. */
import type { Job, Queue } from 'bullmq'
import type { Failure } from '../../../base/failure/failure.js'
import { addCounts, nothing } from '../../../pipeline/ledger/account.js'
import type { Counts, Receipt } from '../../../pipeline/ledger/receipt.js'
import { runId } from '../../../options/option-checks.js'
import { useUpName } from './agree-on-name.js'
import { endedRanges } from '../plan/ended-ranges.js'
import type { JobData, JobEnd, RangeData } from '../job.js'
import { rangesOf } from '../job.js'
import { stateIn, tellJob } from '../queue/job-state.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { endOfRange, type OfJob } from '../range/range-end.js'
import { faultOfJob, isEnd, malformed } from '../queue/check-entry.js'
import { trusted, whyUntrusted } from '../queue/trust-job.js'
import { reopen } from './submit-job.js'

export interface ListedJob {
  readonly job: string
  readonly state: 'waiting' | 'planning' | 'loading' | 'parked' | 'stopping' | 'finished' | 'failed'
  readonly index: string
  readonly url: string
  readonly made: string
  /** Machine that made it. */
  readonly host: string
  readonly ranges: { readonly done: number; readonly active: number; readonly waiting: number; readonly failed: number }
  /** Most requests at the same time, as `--concurrency` set it, and as it is now: less while the cluster is busy. */
  readonly concurrency: number
  readonly limit: number
  /** Number of ranges that each machine loads now. */
  readonly workers: Readonly<Record<string, number>>
  readonly counts: Counts
  /** From the first range to now, or to the end. */
  readonly elapsedMs: number
  readonly docsPerSecond: number
  /** The reason why the job waits or failed. */
  readonly failure?: Failure
  /** Only of a job that is over. */
  readonly receipt?: Receipt
}

const every = ['active', 'waiting', 'delayed', 'prioritized', 'completed', 'failed'] as const

/** Returns all jobs, the newest first. */
export async function listJobs(engine: QueueEngine): Promise<readonly ListedJob[]> {
  const control: Queue<JobData, JobEnd> = engine.queue(CONTROL)
  const jobs = await control.getJobs([...every])
  const listed = await Promise.all(jobs.map(async job => await describe(engine, job)))
  return listed.toSorted((one, other) => other.made.localeCompare(one.made))
}

/** Returns undefined if there is no such job. */
export async function findJob(engine: QueueEngine, name: string): Promise<ListedJob | undefined> {
  const control: Queue<JobData, JobEnd> = engine.queue(CONTROL)
  const job = await control.getJob(name)
  return job === undefined ? undefined : await describe(engine, job)
}

/**
 * The coordinator stops the workers, and writes the receipt. A job without a coordinator stops when it gets one. Throws SluiceError
 * JOB_MALFORMED, JOB_SIGNATURE_WRONG: its workers would not listen.
 */
export async function cancelJob(engine: QueueEngine, name: string): Promise<void> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const { seal } = engine
  const job = (await control.getJob(name)) as Job<JobData> | undefined
  if (job === undefined) return
  await tellJob({ control, job: name, made: trusted(job, seal).made, seal }, { type: 'cancel' })
}

/** Loads the ranges that have failed again, and those that a job had not begun when it stopped. */
export async function retryJob(engine: QueueEngine, name: string): Promise<void> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const job = await control.getJob(name)
  if (job === undefined) return
  const { loadedUntil: _, ...data } = trusted(job, engine.seal)
  await reopen(engine, job, { ...data, retries: true })
}

/** Removes a job that is over, with its ranges and their receipts. The caller knows that it is. */
export async function removeJob(engine: QueueEngine, name: string): Promise<void> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const job = await control.getJob(name)
  // A job that nobody can read has no name of a load.
  if (job !== undefined && faultOfJob(job.id, job.data) === undefined) await useUpName(engine, name, job.data)
  // Nobody has loaded a job whose name is none.
  if (runId(name) === undefined) await engine.queue(rangesOf(name)).obliterate({ force: true })
  await control.remove(name)
}

async function describe(engine: QueueEngine, job: Job<JobData, JobEnd>): Promise<ListedJob> {
  const { id = '', data } = job
  if (faultOfJob(id, data) !== undefined) return unreadable(job)
  const ranges: Queue<RangeData> = engine.queue(rangesOf(id))
  const counted = await ranges.getJobCounts('completed', 'failed', 'active', 'waiting', 'delayed', 'prioritized')
  const { completed = 0, failed = 0, active = 0, ...open } = counted
  const waiting = Object.values(open).reduce((sum, count) => sum + count, 0)
  const state = await job.getState()
  const { seal } = engine
  const left = state === 'completed' ? job.returnvalue : undefined
  const end = isEnd(left) && seal.fits('end', [id, data.made], left) ? left : undefined
  const receipt = end !== undefined && 'receipt' in end ? end.receipt : undefined
  const { counts, since } = await countsOf(ranges, { job: id, seal })
  const workers: Record<string, number> = {}
  for (const { processedBy = 'unknown' } of await ranges.getJobs(['active']))
    workers[processedBy] = (workers[processedBy] ?? 0) + 1
  const now = stateIn(job, seal)
  const { parked, stopping } = now
  const ended = end === undefined ? undefined : 'failure' in end ? end.failure : end.receipt.failure
  // Anyone may look at a signed job.
  const untrusted = seal.hasKey ? whyUntrusted(job, seal) : undefined
  const why = untrusted ?? (end === undefined ? (parked?.failure ?? stopping) : ended)
  const elapsedMs = since === undefined ? 0 : Math.max(1, (job.finishedOn ?? Date.now()) - since)
  return {
    job: id,
    state: stateOf(state, data, end, now),
    index: data.index,
    url: data.url,
    made: data.made,
    host: data.host,
    ranges: { done: completed, active, waiting, failed },
    concurrency: data.concurrency,
    limit: now.slowedTo ?? data.concurrency,
    workers,
    counts,
    elapsedMs,
    docsPerSecond: elapsedMs === 0 ? 0 : Math.round((counts.read / elapsedMs) * 1000),
    ...(why === undefined ? {} : { failure: why }),
    ...(receipt === undefined ? {} : { receipt }),
  }
}

/** Stands in the list for an entry that is no job, so that people can remove it. */
function unreadable({ id = '', data }: Job<JobData>): ListedJob {
  return {
    job: id,
    state: 'failed',
    index: '',
    url: '',
    made: new Date(0).toISOString(),
    host: '',
    ranges: { done: 0, active: 0, waiting: 0, failed: 0 },
    concurrency: 0,
    limit: 0,
    workers: {},
    counts: nothing,
    elapsedMs: 0,
    docsPerSecond: 0,
    failure: malformed(id, faultOfJob(id, data) ?? ''),
  }
}

function stateOf(
  state: string,
  { planned }: JobData,
  end: JobEnd | undefined,
  { parked, stopping }: ReturnType<typeof stateIn>,
): ListedJob['state'] {
  if (end !== undefined) return 'receipt' in end && end.receipt.failure === undefined ? 'finished' : 'failed'
  if (state === 'failed') return 'failed'
  if (stopping !== undefined) return 'stopping'
  if (parked !== undefined) return 'parked'
  if (state !== 'active') return 'waiting'
  return planned === undefined ? 'planning' : 'loading'
}

/** Adds up what ended ranges have loaded. `since`: when the first one began, in milliseconds since the epoch. */
async function countsOf(ranges: Queue<RangeData>, of: OfJob): Promise<{ counts: Counts; since: number | undefined }> {
  let counts = nothing
  let since: number | undefined
  const patient = async <T>(work: () => Promise<T>) => await work()
  for (const state of ['completed', 'failed'] as const)
    for await (const page of endedRanges({ ranges, state, patient }))
      for (const one of page) {
        counts = addCounts(counts, endOfRange(one, of).counts)
        const { processedOn } = one
        if (processedOn !== undefined) since = Math.min(since ?? processedOn, processedOn)
      }
  return { counts, since }
}
