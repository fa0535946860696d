/** Works on all open jobs of a queue: loads their ranges, and coordinates those that have no coordinator. */
import type { Job, Queue, Worker } from 'bullmq'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Coordination, coordinateJob } from '../control/coordinate-job.js'
import type { IngestEvent } from '../../../options/run-events.js'
import type { JobData, JobEnd, RangeData } from '../job.js'
import { inTime, unlessLeaving } from '../queue/in-time.js'
import { budgetOf } from '../budget/job-budget.js'
import { followLeases, Lease } from '../queue/lease.js'
import type { LoadParts } from '../range/load-parts.js'
import { RangeLoader } from '../range/load-range.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { rateShare } from '../plan/rate-share.js'
import { RangeServer } from '../range/serve-ranges.js'
import { seeOwnWay } from './see-own-way.js'
import type { WorkerEvent } from '../queue/worker-event.js'
import { giveSigns } from '../queue/worker-sign.js'
import { checkRange, lettersFolder, whyNotTaken, type WorkerLimits } from './worker-limits.js'
import { systemClock } from '../../../base/time/system-clock.js'

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
  readonly report?: Coordination['report']
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
  const { coordinator, coordinating } = await startCoordinator(working, control, worker)
  const servers = new Map<string, RangeServer>()
  const leftOut = new Set<string>()
  const signing = giveSigns({
    engine,
    signal,
    sign: { worker, host: hostname(), pid: working.pid, url: working.url, slots: working.slots },
    seeOwnWay: async () => await seeOwnWay(await working.access(), signal),
    queueAheadMs: async () => await working.queueAheadMs(),
  })
  try {
    while (!signal.aborted) {
      const following = followJobs(working, { control, servers, worker, leftOut }).catch((error: unknown) =>
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
  }
}

interface Coordinators {
  readonly coordinator: Worker<JobData, JobEnd>
  /** Jobs that this process coordinates now. */
  readonly coordinating: ReadonlySet<Promise<JobEnd>>
}

async function startCoordinator(working: Working, control: Queue<JobData>, self: string): Promise<Coordinators> {
  const { engine, leaseMs } = working
  const now = () => systemClock.now()
  const leases = new Map<string, Lease>()
  const coordinating = new Set<Promise<JobEnd>>()
  const worker = await engine.worker<JobData, JobEnd>(
    CONTROL,
    async (job, token = '') => {
      if (job.data.url !== working.url || whyNotTaken(working.limits, job.data) !== undefined) {
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
      const ended = coordinateJob(job, token, { ...working, control, lease, now, worker: self, letters })
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
  readonly servers: Map<string, RangeServer>
  readonly worker: string
  /** Jobs that this worker may not work on, and has named. */
  readonly leftOut: Set<string>
}

async function followJobs(working: Working, following: Following): Promise<void> {
  const { engine, tell, url, limits } = working
  const { control, servers } = following
  const jobs = (await control.getJobs([...open])) as (Job<JobData> | undefined)[]
  const known = new Map<string, Job<JobData>>()
  for (const job of jobs) {
    const id = job?.id ?? ''
    const why = job?.data.url === url ? whyNotTaken(limits, job.data) : undefined
    if (job?.data.url === url && why === undefined) known.set(id, job)
    if (why === undefined || following.leftOut.has(id)) continue
    following.leftOut.add(id)
    tell({ type: 'problem', message: `job ${id} is left to other workers: ${why}` })
  }
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
      tell({ type: 'problem', message: `job ${id}: ${engine.failure(error).message}` }),
    )
  }
}

/** Begins to load ranges of a job. */
async function joinJob(working: Working, following: Following, job: Job<JobData>): Promise<void> {
  const { engine, slots, leaseMs, optionsOf, parts, tell, limits } = working
  const { control, servers, worker } = following
  const id = job.id ?? ''
  const { maxRate, ...rest } = await optionsOf(job.data)
  const rate = maxRate === undefined ? {} : { maxRate: rateShare(maxRate, job.data.concurrency) }
  const options = { ...rest, ...rate }
  const budget = budgetOf(job, { engine, control, signal: working.signal, tell })
  const heard = (range: string, event: IngestEvent) => tell({ type: 'heard', job: id, range, event })
  const folder = lettersFolder(limits, job.data.deadLetters)
  const check = (range: RangeData) => checkRange(limits, range)
  const loader = new RangeLoader({ options, job: id, folder, loads: parts.openRanges(), budget, heard, check })
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
