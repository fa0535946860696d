/** Loads ranges of one job, some at a time, for as long as the job is open. */
import type { Job, Queue, Worker } from 'bullmq'
import { hostname } from 'node:os'
import { type Failure, fail, isSluiceError } from '../../../base/failure/failure.js'
import { nothing } from '../../../pipeline/ledger/account.js'
import { isAccessFailure, isSpent, restRefused } from '../queue/await-access.js'
import type { JobData, RangeData, RangeReceipt } from '../job.js'
import { rangesOf } from '../job.js'
import { type JobLog, type JobState, stateIn, tellJob } from '../queue/job-state.js'
import { giveBackRange } from '../queue/give-back.js'
import { followLeases, Lease } from '../queue/lease.js'
import { inTime } from '../queue/in-time.js'
import type { QueueEngine } from '../queue/open-engine.js'
import { asError, asReceipt, CHANGED, isOurs, type OfJob } from './range-end.js'
import type { LoadedRange, RangeLoader } from './load-range.js'
import { RangePermit } from './range-permit.js'
import { Trouble } from './tell-trouble.js'
import type { WorkerEvent } from '../queue/worker-event.js'

export interface RangeServing {
  readonly engine: QueueEngine
  readonly control: Queue<JobData>
  readonly job: Job<JobData>
  readonly loader: RangeLoader
  /** Names this process. */
  readonly worker: string
  readonly slots: number
  readonly leaseMs: number
  /** Milliseconds of a clock that a stopped process cannot stop. */
  readonly now: () => number
  tell(event: WorkerEvent): void
  /** Whether the job waits if access is lost. */
  readonly waitsForAccess: boolean
}

/** Workers that may be killed while they load a range, before the range counts as the reason. */
const MOST_STALLS = 25

export class RangeServer implements AsyncDisposable {
  readonly #given: RangeServing
  #worker: Worker<RangeData, RangeReceipt> | undefined
  readonly #leases = new Map<string, Lease>()
  readonly #over = new AbortController()
  #state: JobState
  #isLeaving = false
  readonly #trouble: Trouble
  /** Loads under way, without what the queue does before and after. */
  readonly #loading = new Set<Promise<LoadedRange>>()

  constructor(given: RangeServing) {
    this.#given = given
    this.#state = stateIn(given.job, given.engine.seal)
    this.#trouble = new Trouble({ ...given, ...this.#log })
  }

  static async open(given: RangeServing): Promise<RangeServer> {
    const server = new RangeServer(given)
    await server.#start()
    return server
  }

  get made(): string {
    return this.#given.job.data.made
  }

  get #log(): JobLog & OfJob {
    const { control, engine, job } = this.#given
    return { control, job: job.id ?? '', made: job.data.made, seal: engine.seal }
  }

  /** Takes the state of the job as it is on the queue now. */
  update(job: Job<JobData>): void {
    this.#state = stateIn(job, this.#given.engine.seal)
    if (this.#state.stopping !== undefined && !this.#over.signal.aborted) this.#over.abort(this.#state.stopping.message)
    if (this.#worker !== undefined) this.#worker.concurrency = this.#slots
    this.#trouble.renew()
  }

  /** Ranges that this worker may load at the same time now. Those that are under way end. */
  get #slots(): number {
    const { slots } = this.#given
    return Math.min(slots, this.#state.share ?? slots)
  }

  /** Ranges under way go back to the queue, and other workers load them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isLeaving = true
    this.#over.abort('the worker leaves')
    const closing = this.#worker?.close()
    await Promise.allSettled(this.#loading)
    if (closing !== undefined) await inTime(closing)
    await this.#given.loader.close()
  }

  async #start(): Promise<void> {
    const { engine, job, leaseMs, now } = this.#given
    const worker = await engine.worker<RangeData, RangeReceipt>(
      rangesOf(job.id ?? ''),
      async (range, token = '') => await this.#serve(range, token),
      {
        name: hostname(),
        concurrency: this.#slots,
        lockDuration: leaseMs,
        stalledInterval: Math.ceil(leaseMs / 2),
        maxStalledCount: MOST_STALLS,
        runRetryDelay: 1000,
        drainDelay: 1,
      },
    )
    followLeases(worker, this.#leases, now)
    this.#worker = worker
  }

  async #serve(range: Job<RangeData, RangeReceipt>, token: string): Promise<RangeReceipt> {
    const { leaseMs, now, loader, tell } = this.#given
    const job = this.#given.job.id ?? ''
    const id = range.id ?? ''
    const askedAt = now()
    // The process may have been stopped since it took the range.
    const isHeld = (await range.extendLock(token, leaseMs)) > 0
    const lease = new Lease(leaseMs, now, askedAt)
    if (!isHeld) lease.revoke()
    this.#leases.set(id, lease)
    const stop = new AbortController()
    const onOver = () => stop.abort(this.#over.signal.reason)
    this.#over.signal.addEventListener('abort', onOver)
    if (this.#over.signal.aborted) onOver()
    let how: WorkerEvent = { type: 'returned', job, range: id }
    tell({ type: 'took', job, range: id })
    const permit = new RangePermit({
      lease,
      state: () => this.#state,
      now,
      stop,
      most: this.#given.job.data.concurrency,
    })
    try {
      if (!isOurs(range, this.#log)) throw fail('JOB_RANGE_LOST', { problem: CHANGED })
      const loading = loader.load(id, range.data, {
        permit: async halted => await permit.ask(halted),
        signal: stop.signal,
        ...this.#trouble.watch(),
      })
      const { receipt, failure } = await this.#watched(loading)
      if (lease.lost !== undefined) return await giveBackRange(range, token, lease.lost.message)
      if (failure === undefined) {
        how = { type: 'range', job, range: id, receipt }
        return asReceipt(range, this.#log, receipt)
      }
      how = { type: 'failed', job, range: id, receipt, failure }
      return await this.#fail(range, token, { receipt, failure })
    } catch (error) {
      if (isFromQueue(error)) throw error
      if (this.#isLeaving || lease.lost !== undefined)
        return await giveBackRange(range, token, lease.lost?.message ?? 'the worker leaves')
      if (!isSluiceError(error)) throw error
      // Nothing of the range was read. A job that waits for access does so before its first request, too.
      if (this.#given.waitsForAccess && isAccessFailure(error.failure)) {
        await restRefused(this.#over.signal)
        return await giveBackRange(range, token, error.message)
      }
      how = { type: 'failed', job, range: id, receipt: emptyReceipt(), failure: error.failure }
      return await this.#fail(range, token, how)
    } finally {
      tell(this.#isLeaving && how.type === 'failed' ? { type: 'returned', job, range: id } : how)
      this.#leases.delete(id)
      this.#over.signal.removeEventListener('abort', onOver)
    }
  }

  async #watched(loading: Promise<LoadedRange>): Promise<LoadedRange> {
    this.#loading.add(loading)
    try {
      return await loading
    } finally {
      this.#loading.delete(loading)
    }
  }

  /** Always throws: what the queue understands. */
  async #fail(range: Job<RangeData>, token: string, { receipt, failure }: Required<LoadedRange>): Promise<never> {
    const { worker } = this.#given
    if (this.#isLeaving && this.#state.stopping === undefined)
      return await giveBackRange(range, token, 'the worker leaves')
    const text = asError(range, this.#log, { ...receipt, failure: this.#state.stopping ?? failure })
    const isOver = this.#state.stopping !== undefined
    if (!isOver && failure.retry === 'later' && !isSpent(failure)) throw new Error(text)
    if (!isOver && stopsJob(failure)) await tellJob(this.#log, { type: 'stop', worker, failure })
    // The queue knows this error by its name, and tries the range no more.
    throw Object.assign(new Error(text), { name: 'UnrecoverableError' })
  }
}

function isFromQueue(error: unknown): boolean {
  return error instanceof Error && (error.name === 'WaitingError' || error.name === 'UnrecoverableError')
}

function emptyReceipt(): RangeReceipt {
  const bytes = { read: 0, sent: 0, received: 0 }
  return { counts: nothing, rejections: [], bytes, requests: 0, retries: 0, elapsedMs: 0, host: hostname() }
}

/** Returns whether a failure stops the job. A fault of one object does not stop the others. */
function stopsJob({ code }: Failure): boolean {
  return code !== 'JOB_RANGE_LOST' && !/^(INPUT|SOURCE|DOCUMENT)_/.test(code)
}
