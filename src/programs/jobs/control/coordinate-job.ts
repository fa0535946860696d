/** Runs one job to its end, as its one coordinator: plans it, keeps its state while workers load it, and finishes it once. */
import type { Job, Queue } from 'bullmq'
import { explain, isSluiceError } from '../../../base/failure/failure.js'
import type { Receipt } from '../../../pipeline/ledger/receipt.js'
import { defaults } from '../../../options/describe-option.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import type { IngestEvent } from '../../../options/run-events.js'
import { isAccessFailure, isSpent, mayWait, restRefused } from '../queue/await-access.js'
import { BudgetShare } from '../budget/budget-share.js'
import { FairShare } from './fair-share.js'
import { type Dispatching, dispatchRanges } from './dispatch-ranges.js'
import { type JobData, type JobEnd, type RangeData, rangesOf } from '../job.js'
import { giveBackRange } from '../queue/give-back.js'
import type { Budgets } from '../budget/budgets.js'
import { JobControl } from './job-control.js'
import { stateIn } from '../queue/job-state.js'
import type { Lease } from '../queue/lease.js'
import type { FoundInput } from '../../../features/ranges/range-load.js'
import type { LoadParts } from '../range/load-parts.js'
import type { QueueEngine } from '../queue/open-engine.js'
import { reportEnd, type Reporting } from './report-end.js'
import { progressOf } from './tell-progress.js'
import { untilQueueDone } from '../queue/until-done.js'
import type { WorkerEvent } from '../queue/worker-event.js'

/** The most bytes of a coordinator's requests to the cluster beside its connections: about the index, at the beginning and at the end. */
const STEPS_BYTES = 64 << 10

export interface Coordination {
  readonly engine: QueueEngine
  readonly control: Queue<JobData>
  readonly leaseMs: number
  /** Of the job itself: another worker may have taken over. */
  readonly lease: Lease
  readonly now: () => number
  /** Names this process. */
  readonly worker: string
  /** Ranges of a job that it loads at the same time. */
  readonly slots: number
  /** Returns the folder for the dead letters of a job. Absent: the one that the job names. */
  readonly letters?: (folder: string) => string
  /** Throws SluiceError if this worker may not load an input that it finds. */
  readonly check?: (name: string) => void
  /** Milliseconds by which the clock of the queue is ahead of this machine's. */
  queueAheadMs(): Promise<number>
  /** Options of the job, with the access of this worker. */
  optionsOf(data: JobData): Promise<Omit<IngestOptions, 'source'>>
  readonly parts: Pick<LoadParts, 'findInputs' | 'describeInputs' | 'loadWhole'>
  /** The bytes that this process may use. */
  readonly budgets: Budgets
  readonly report?: Reporting['report']
  tell(event: WorkerEvent): void
  /** Whether anybody counts how far the job is. */
  readonly isMeasured: boolean
  /** Aborted when this worker leaves. */
  readonly signal: AbortSignal
}

/** Throws WaitingError if this worker leaves: another one continues. */
export async function coordinateJob(job: Job<JobData, JobEnd>, token: string, given: Coordination): Promise<JobEnd> {
  const { engine, control, leaseMs, lease, now, optionsOf, parts, signal } = given
  const id = job.id ?? ''
  const ranges: Queue<RangeData> = engine.queue(rangesOf(id))
  const fair = new FairShare({ ...given, own: given, url: job.data.url })
  const log = { control, job: id, made: job.data.made, seal: engine.seal }
  const keeping = new JobControl({
    ...log,
    ranges,
    most: job.data.concurrency,
    fair,
    before: stateIn(job, engine.seal),
    leaseMs,
    now,
  })
  const options = await optionsOf(job.data)
  const { bytes, plan } = given.budgets.of(job, options.proxy)
  const { check = () => undefined } = given
  const progress = progressOf({ job: id, ranges, most: job.data.concurrency, tell: given.tell })
  const patient = async <T>(work: () => Promise<T>) => await untilQueueDone(work, { engine, signal, tell: given.tell })
  const dispatching = {
    data: { ...job.data, deadLetters: given.letters?.(job.data.deadLetters) ?? job.data.deadLetters },
    find: (source, cutFrom, warn) => {
      const onEvent = (event: IngestEvent) => {
        if (event.type === 'warning') warn(event.message)
      }
      return checked(parts.findInputs({ ...options, source, stateDir: undefined, signal, onEvent }, cutFrom), check)
    },
    describe:
      job.data.from === undefined
        ? undefined
        : async () => await parts.describeInputs({ ...options, source: job.data.sources, stateDir: undefined, signal }),
    ...log,
    ranges,
    planned: async planned => {
      const { retries: _, ...data } = job.data
      await job.updateData(engine.seal.sign('job', [id], { ...data, planned }))
    },
    began: async loadedUntil => {
      await job.updateData(engine.seal.sign('job', [id], { ...job.data, loadedUntil }))
    },
    look: async () => {
      const why = await keeping.look()
      if (given.isMeasured) await progress.tellNow(keeping.state)
      return why
    },
    lost: () => lease.lost,
    stop: async why => await patient(async () => await keeping.stop(why)),
    patient,
  } satisfies Dispatching
  const whole = {
    ...options,
    source: job.data.sources,
    // Nothing is promised for ids of the cluster, so a run of its own name has none.
    ...(options.ids === 'cluster' ? {} : { runId: id }),
    stateDir: undefined,
    deadLetters: false as const,
    signal,
    onEvent: (event: IngestEvent) => progress.hear(event),
  }
  const load = async () => {
    // Before the first range, so that no worker takes all of a small limit.
    await patient(async () => await keeping.share())
    const { preflightConnections = defaults.preflightConnections } = options
    const share = bytes && (await BudgetShare.open(bytes, preflightConnections, STEPS_BYTES))
    try {
      return await parts.loadWhole(
        whole,
        dispatchRanges({ ...dispatching, share, plan }),
        job.data.planned !== undefined,
      )
    } finally {
      share?.close()
      // The next coordinator takes its own.
      if (lease.lost === undefined) await bytes?.leave()
    }
  }
  try {
    let ended = await ran(load())
    if ('failure' in ended && isAccessFailure(ended.failure) && lease.lost === undefined) {
      // Somebody may have cancelled the job meanwhile.
      const why = await patient(async () => await keeping.look())
      if (why === undefined && mayWait(options.onBlock, keeping.state)) {
        await restRefused(signal)
        return await giveBackRange(job, token, ended.failure.message)
      }
      if (why !== undefined) ended = { failure: why }
    }
    if (given.isMeasured && lease.lost === undefined) await progress.tellNow(keeping.state).catch(() => undefined)
    if (mayTryAgain(job, ended)) throw new Error(JSON.stringify(ended))
    // Without its lease, another worker may have taken over, and finishes the job.
    if (!signal.aborted && lease.lost === undefined)
      return engine.seal.sign(
        'end',
        [id, log.made],
        await reportEnd(ended, { ...log, alarm: job.data.alarm, report: given.report }),
      )
  } catch (error) {
    if (!signal.aborted && lease.lost === undefined) throw error
  }
  return await giveBackRange(job, token, lease.lost?.message ?? 'the worker leaves')
}

/** A pattern may find inputs that its text does not show. */
async function* checked(found: AsyncIterable<FoundInput>, check: (name: string) => void): AsyncGenerator<FoundInput> {
  for await (const input of found) {
    check(input.name)
    yield input
  }
}

/** Returns whether the failure may go away. The job is retried after a while, perhaps by another worker. Its ranges stay on the queue. */
function mayTryAgain({ attemptsMade, opts: { attempts = 1 } }: Job, end: JobEnd): boolean {
  const why = 'receipt' in end ? end.receipt.failure : end.failure
  if (why === undefined || why.retry === 'no' || isSpent(why) || attemptsMade + 1 >= attempts) return false
  return explain(why.code).exit === 4
}

async function ran(loading: Promise<Receipt>): Promise<JobEnd> {
  try {
    return { receipt: await loading }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    if (error.receipt !== undefined) return { receipt: error.receipt as Receipt }
    return { failure: error.failure }
  }
}
