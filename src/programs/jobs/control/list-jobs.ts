/** Looks at the jobs of a queue, and changes one of them. */
import type { Job, Queue } from 'bullmq'
import type { Failure } from '../../../base/failure/failure.js'
import { addCounts, nothing } from '../../../pipeline/ledger/account.js'
import type { Counts, Receipt } from '../../../pipeline/ledger/receipt.js'
import { useUpName } from './agree-on-name.js'
import { endedRanges } from '../plan/ended-ranges.js'
import type { JobData, JobEnd, RangeData } from '../job.js'
import { rangesOf } from '../job.js'
import { stateIn, tellJob } from '../queue/job-state.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { endOfRange } from '../range/range-end.js'
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

/** The coordinator stops the workers, and writes the receipt. A job without a coordinator stops when it gets one. */
export async function cancelJob(engine: QueueEngine, name: string): Promise<void> {
  await tellJob(engine.queue(CONTROL), name, { type: 'cancel' })
}

/** Loads the ranges that have failed again, and those that a job had not begun when it stopped. */
export async function retryJob(engine: QueueEngine, name: string): Promise<void> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const job = await control.getJob(name)
  if (job !== undefined) await reopen(engine, job, { ...job.data, retries: true })
}

/** Removes a job that is over, with its ranges and their receipts. The caller knows that it is. */
export async function removeJob(engine: QueueEngine, name: string): Promise<void> {
  const control: Queue<JobData> = engine.queue(CONTROL)
  const job = await control.getJob(name)
  if (job !== undefined) await useUpName(engine, name, job.data)
  await engine.queue(rangesOf(name)).obliterate({ force: true })
  await control.remove(name)
}

async function describe(engine: QueueEngine, job: Job<JobData, JobEnd>): Promise<ListedJob> {
  const { id = '', data } = job
  const ranges: Queue<RangeData> = engine.queue(rangesOf(id))
  const counted = await ranges.getJobCounts('completed', 'failed', 'active', 'waiting', 'delayed', 'prioritized')
  const { completed = 0, failed = 0, active = 0, ...open } = counted
  const waiting = Object.values(open).reduce((sum, count) => sum + count, 0)
  const state = await job.getState()
  const end = state === 'completed' ? job.returnvalue : undefined
  const receipt = end !== undefined && 'receipt' in end ? end.receipt : undefined
  const { counts, since } = await countsOf(ranges)
  const workers: Record<string, number> = {}
  for (const { processedBy = 'unknown' } of await ranges.getJobs(['active']))
    workers[processedBy] = (workers[processedBy] ?? 0) + 1
  const { parked, stopping } = stateIn(job)
  const why = end === undefined ? (parked?.failure ?? stopping) : 'failure' in end ? end.failure : end.receipt.failure
  const elapsedMs = since === undefined ? 0 : Math.max(1, (job.finishedOn ?? Date.now()) - since)
  return {
    job: id,
    state: stateOf(state, data, end, stateIn(job)),
    index: data.index,
    url: data.url,
    made: data.made,
    host: data.host,
    ranges: { done: completed, active, waiting, failed },
    concurrency: data.concurrency,
    limit: stateIn(job).slowedTo ?? data.concurrency,
    workers,
    counts,
    elapsedMs,
    docsPerSecond: elapsedMs === 0 ? 0 : Math.round((counts.read / elapsedMs) * 1000),
    ...(why === undefined ? {} : { failure: why }),
    ...(receipt === undefined ? {} : { receipt }),
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
async function countsOf(ranges: Queue<RangeData>): Promise<{ counts: Counts; since: number | undefined }> {
  let counts = nothing
  let since: number | undefined
  const patient = async <T>(work: () => Promise<T>) => await work()
  for (const state of ['completed', 'failed'] as const)
    for await (const page of endedRanges({ ranges, state, patient }))
      for (const one of page) {
        counts = addCounts(counts, endOfRange(one).counts)
        const { processedOn } = one
        if (processedOn !== undefined) since = Math.min(since ?? processedOn, processedOn)
      }
  return { counts, since }
}
