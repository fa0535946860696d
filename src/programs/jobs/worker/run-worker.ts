/** Works on all open jobs of a queue: loads their ranges, and coordinates those that have no coordinator. */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Job, Queue, Worker } from 'bullmq'
import { coordinateJob, type Coordination } from '../control/coordinate-job.js'
import type { IngestEvent } from '../../../options/run-events.js'
import type { JobData, JobEnd, RangeData } from '../job.js'
import { inTime, unlessLeaving } from '../queue/in-time.js'
import { Budgets, type SharedPlan } from '../budget/budgets.js'
import { followLeases, Lease } from '../queue/lease.js'
import type { LoadParts } from '../range/load-parts.js'
import { RangeLoader } from '../range/load-range.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { problemInSettings } from '../plan/queued-options.js'
import { shownFromQueue } from '../queue/check-entry.js'
import { whyUntrusted } from '../queue/trust-job.js'
import { rateShare } from '../plan/rate-share.js'
import { RangeServer } from '../range/serve-ranges.js'
import { seeOwnWay } from './see-own-way.js'
import type { WorkerEvent } from '../queue/worker-event.js'
import { giveSigns } from '../queue/worker-sign.js'
import { checkFound, checkRange, lettersFolder, whyNotTaken, type WorkerLimits } from './worker-limits.js'
import { systemClock } from '../../../base/time/clock.js'

export interface Working {
  readonly engine: QueueEngine
  /** Of this process, for people. */
  readonly pid: number
  /** Ranges of a job that are loaded at the same time. */
  readonly slots: number
  readonly leaseMs: number
  /** Aborted when this worker leaves. What it has begun goes back to the queue. */
  readonly signal: AbortSignal
  /** URL of the cluster that this worker can reach, without credentials. */
  readonly url: string
  /** What this worker may do, whatever the queue says. */
  readonly limits: WorkerLimits
  optionsOf: Coordination['optionsOf']
  /** Returns the monthly plan of this worker's proxy, or the one that a job asks for. */
  planOf(data: JobData): SharedPlan | undefined
  readonly report?: Coordination['report'] | undefined
  /** How it reaches the cluster, whatever it loads. */
  access(): ReturnType<Coordination['optionsOf']>
  /** Milliseconds by which the clock of the queue is ahead of this machine's. */
  queueAheadMs(): Promise<number>
  readonly parts: LoadParts
  /** Whether `tell` receives the progress of jobs. */
  readonly isMeasured: boolean
  /** Hears what happens. */
  tell(event: WorkerEvent): void
}

/** Time between two looks at the list of jobs, in milliseconds. */
const LOOK_MS = 1000
/** Jobs that one worker coordinates at most. A coordinator only waits. */
const COORDINATED = 8
/** Jobs about which a worker says something: others may put any number there. */
const MOST_SAID = 1000
/** A job outlives any number of coordinators. */
const ENDLESS = 1_000_000
/** A job for another cluster is offered to another worker after this time: it may be taken many times before its own one comes. */
const ELSEWHERE_MS = 500

const open = ['active', 'waiting', 'delayed', 'prioritized'] as const

/** Resolves after the signal, when all has gone back to the queue. */
export async function runWorker(working: Working): Promise<void> {
  const { engine, signal } = working
  const control: Queue<JobData> = engine.queue(CONTROL)
  const worker = randomUUID()
  const budgets = new Budgets({ ...working, control })
  const { coordinator, coordinating } = await startCoordinator(working, { control, budgets }, worker)
  const servers = new Map<string, RangeServer>()
  const leftOut = new Map<string, string>()
  const signing = giveSigns({
    engine,
    signal,
    sign: {
      worker,
      host: hostname(),
      pid: working.pid,
      url: working.url,
      slots: working.slots,
      unlimited: engine.seal.hasKey ? [] : (working.limits.missing ?? []),
    },
    seeOwnWay: async () => await seeOwnWay(await working.access(), budgets.plans, signal),
    queueAheadMs: async () => await working.queueAheadMs(),
  })
  try {
    while (!signal.aborted) {
      const following = followJobs(working, { control, servers, worker, leftOut, budgets }).catch((error: unknown) =>
        working.tell({ type: 'problem', message: engine.failure(error).message }),
      )
      // A queue that is silent keeps no worker that leaves.
      await unlessLeaving(following, signal)
      await systemClock.sleep(LOOK_MS, signal).catch(() => undefined)
    }
  } finally {
    const closing = coordinator.close()
    await Promise.all([
      ...[...servers.values()].map(async server => await server[Symbol.asyncDispose]()),
      Promise.allSettled(coordinating).then(async () => await inTime(closing)),
      inTime(signing),
    ])
    await budgets.leave()
  }
}

interface Coordinators {
  readonly coordinator: Worker<JobData, JobEnd>
  /** Jobs that this process coordinates now. */
  readonly coordinating: ReadonlySet<Promise<JobEnd>>
}

async function startCoordinator(
  working: Working,
  { control, budgets }: Pick<Following, 'control' | 'budgets'>,
  self: string,
): Promise<Coordinators> {
  const { engine, leaseMs } = working
  const now = () => systemClock.now()
  const leases = new Map<string, Lease>()
  const coordinating = new Set<Promise<JobEnd>>()
  const worker = await engine.worker<JobData, JobEnd>(
    CONTROL,
    async (job, token = '') => {
      if (!isMine(working, job) || whyLeft(working, job) !== undefined) {
        await job.moveToDelayed(Date.now() + ELSEWHERE_MS, token)
        throw Object.assign(new Error('the job is for another worker'), { name: 'DelayedError' })
      }
      const askedAt = now()
      // The process may have been stopped since it took the job.
      const isHeld = (await job.extendLock(token, leaseMs)) > 0
      const lease = new Lease(leaseMs, now, askedAt)
      if (!isHeld) lease.revoke()
      const id = job.id ?? ''
      leases.set(id, lease)
      const letters = (folder: string) => lettersFolder(working.limits, folder)
      const check = (name: string) => checkFound(working.limits, name)
      const ended = coordinateJob(job, token, {
        ...working,
        control,
        budgets,
        lease,
        now,
        worker: self,
        letters,
        check,
      })
      coordinating.add(ended)
      try {
        return await ended
      } finally {
        coordinating.delete(ended)
        leases.delete(id)
      }
    },
    {
      name: hostname(),
      concurrency: COORDINATED,
      lockDuration: leaseMs,
      stalledInterval: Math.ceil(leaseMs / 2),
      maxStalledCount: ENDLESS,
      runRetryDelay: 1000,
      drainDelay: 1,
    },
  )
  followLeases(worker, leases, now)
  return { coordinator: worker, coordinating }
}

interface Following {
  readonly control: Queue<JobData>
  /** The bytes that this process may use. */
  readonly budgets: Budgets
  readonly servers: Map<string, RangeServer>
  readonly worker: string
  /** Jobs that this worker may not work on or cannot join, and why, as it has said. */
  readonly leftOut: Map<string, string>
}

async function followJobs(working: Working, following: Following): Promise<void> {
  const { engine, tell } = working
  const { control, servers } = following
  const jobs = (await control.getJobs([...open])) as (Job<JobData> | undefined)[]
  const known = new Map<string, Job<JobData>>()
  for (const job of jobs) {
    const id = job?.id ?? ''
    if (job === undefined || !isMine(working, job)) continue
    const why = whyLeft(working, job)
    if (why === undefined) known.set(id, job)
    else sayOnce(id, `job ${shownFromQueue(id)} is left to other workers: ${why}`, working, following)
  }
  for (const id of following.leftOut.keys()) if (!jobs.some(job => job?.id === id)) following.leftOut.delete(id)
  for (const [id, server] of servers) {
    const job = known.get(id)
    // One that was opened again meanwhile has another budget.
    if (job !== undefined && job.data.made === server.made) server.update(job)
    else {
      servers.delete(id)
      await server[Symbol.asyncDispose]()
      tell({ type: 'left', job: id })
    }
  }
  for (const [id, job] of known) {
    if (servers.has(id) || working.signal.aborted) continue
    // One job that cannot be joined keeps this worker from no other.
    await joinJob(working, following, job).catch((error: unknown) =>
      sayOnce(id, `job ${id}: ${engine.failure(error).message}`, working, following),
    )
  }
}

/** Says why a job is not worked on, but not at each look. A queue may hold very many of them. */
function sayOnce(id: string, message: string, { tell }: Working, { leftOut }: Following): void {
  if (leftOut.get(id) === message) return
  if (leftOut.size < MOST_SAID || leftOut.has(id)) tell({ type: 'problem', message })
  if (leftOut.size < MOST_SAID) leftOut.set(id, message)
}

/** Returns whether a job is for this worker at all: others are none of its business. */
function isMine({ url, limits }: Working, { id, data }: Job<JobData>): boolean {
  if (limits.job !== undefined) return id === limits.job
  const wanted = (data as Partial<JobData> | null)?.url
  // One without a cluster is for nobody, and this worker says so.
  return typeof wanted !== 'string' || wanted === url
}

/** Returns why this worker leaves a job to others. Undefined if it may work on it. */
function whyLeft({ engine, limits }: Working, job: Job<JobData>): string | undefined {
  const untrusted = whyUntrusted(job, engine.seal)
  if (untrusted !== undefined) return `${untrusted.code}: ${untrusted.message}`
  return whyNotTaken(limits, job.data) ?? problemInSettings(job.data.settings)
}

/** Begins to load ranges of a job. */
async function joinJob(working: Working, following: Following, job: Job<JobData>): Promise<void> {
  const { engine, slots, leaseMs, optionsOf, parts, tell, limits } = working
  const { control, servers, worker, budgets } = following
  const id = job.id ?? ''
  const { maxRate, ...rest } = await optionsOf(job.data)
  const rate = maxRate === undefined ? {} : { maxRate: rateShare(maxRate, job.data.concurrency) }
  const options = { ...rest, ...rate }
  const { concurrency: sharing } = job.data
  const heard = (range: string, event: IngestEvent) => tell({ type: 'heard', job: id, range, event })
  const folder = lettersFolder(limits, job.data.deadLetters)
  const check = (range: RangeData) => checkRange(limits, range)
  const bytes = budgets.of(job, options.proxy)
  const loads = parts.openRanges()
  const loader = new RangeLoader({ options, job: id, folder, loads, limits: bytes, sharing, heard, check })
  const serving = {
    engine,
    control,
    job,
    loader,
    worker,
    slots,
    leaseMs,
    now: () => systemClock.now(),
    tell,
    waitsForAccess: options.onBlock !== undefined && options.onBlock !== 'stop',
  }
  servers.set(id, await RangeServer.open(serving))
  tell({ type: 'joined', job: id, index: job.data.index })
}

export type { LoadParts }
