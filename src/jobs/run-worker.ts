/** Works on all open jobs of a queue: loads their ranges, and coordinates those that have no coordinator. */
import type { Job, Queue, Worker } from 'bullmq'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Coordination, coordinateJob } from './coordinate-job.js'
import type { JobData, JobEnd, RangeReceipt } from './job.js'
import { budgetOf } from './job-budget.js'
import { followLeases, Lease } from './lease.js'
import type { LoadParts } from './load-parts.js'
import { RangeLoader } from './load-range.js'
import { CONTROL, type Engine } from './open-engine.js'
import { RangeServer } from './serve-ranges.js'
import type { WorkerEvent } from './worker-event.js'
import { systemClock } from '../time/system-clock.js'

export interface Working {
  readonly engine: Engine
  /** Ranges of a job that are loaded at the same time. */
  readonly slots: number
  readonly leaseMs: number
  /** Aborted when this worker leaves. What it has begun goes back to the queue. */
  readonly signal: AbortSignal
  /** URL of the cluster that this worker can reach, without credentials. */
  readonly url: string
  optionsOf: Coordination['optionsOf']
  readonly report?: Coordination['report']
  readonly parts: LoadParts
  /** Hears what happens. */
  tell(event: WorkerEvent): void
}

/** Time between two looks at the list of jobs, in milliseconds. */
const LOOK_MS = 1000
/** Jobs that one worker coordinates at most. A coordinator only waits. */
const COORDINATED = 8
/** A job outlives any number of coordinators. */
const ENDLESS = 1_000_000
/** A job for another cluster is offered to another worker after this time. */
const ELSEWHERE_MS = 5000

const open = ['active', 'waiting', 'delayed', 'prioritized'] as const

/** Resolves after the signal, when all has gone back to the queue. */
export async function runWorker(working: Working): Promise<void> {
  const { engine, signal } = working
  const control: Queue<JobData> = engine.queue(CONTROL)
  const coordinator = await startCoordinator(working, control)
  const servers = new Map<string, RangeServer>()
  const worker = randomUUID()
  try {
    while (!signal.aborted) {
      await followJobs(working, { control, servers, worker }).catch((error: unknown) =>
        working.tell({ type: 'problem', message: engine.failure(error).message }),
      )
      await systemClock.sleep(LOOK_MS, signal).catch(() => undefined)
    }
  } finally {
    for (const server of servers.values()) await server[Symbol.asyncDispose]()
    await coordinator.close()
  }
}

async function startCoordinator(working: Working, control: Queue<JobData>): Promise<Worker<JobData, JobEnd>> {
  const { engine, leaseMs, signal } = working
  const now = () => systemClock.now()
  const leases = new Map<string, Lease>()
  const worker = await engine.worker<JobData, JobEnd>(
    CONTROL,
    async (job, token = '') => {
      if (job.data.url !== working.url) {
        await job.moveToDelayed(Date.now() + ELSEWHERE_MS, token)
        throw Object.assign(new Error('the job is for another cluster'), { name: 'DelayedError' })
      }
      const askedAt = now()
      // The process may have been stopped since it took the job.
      await job.extendLock(token, leaseMs)
      const lease = new Lease(leaseMs, now, askedAt)
      const id = job.id ?? ''
      leases.set(id, lease)
      try {
        return await coordinateJob(job, token, { ...working, control, lease, now, signal })
      } finally {
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
  return worker
}

interface Following {
  readonly control: Queue<JobData>
  readonly servers: Map<string, RangeServer>
  readonly worker: string
}

async function followJobs(working: Working, { control, servers, worker }: Following): Promise<void> {
  const { engine, slots, leaseMs, optionsOf, parts, tell, url } = working
  const jobs = (await control.getJobs([...open])) as (Job<JobData> | undefined)[]
  const known = new Map(jobs.flatMap(job => (job?.data.url === url ? [[job.id ?? '', job] as const] : [])))
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
    if (servers.has(id)) continue
    const options = await optionsOf(job.data)
    const budget = budgetOf(job, { engine, control, signal: working.signal, tell })
    const { deadLetters: folder } = job.data
    const loader = new RangeLoader({ options, job: id, folder, loads: parts.openRanges(), budget })
    const ended = (receipt: RangeReceipt) => tell({ type: 'range', job: id, receipt })
    const serving = {
      engine,
      control,
      job,
      loader,
      worker,
      slots,
      leaseMs,
      now: () => systemClock.now(),
      ended,
      waitsForAccess: options.onBlock !== undefined && options.onBlock !== 'stop',
    }
    servers.set(id, await RangeServer.open(serving))
    tell({ type: 'joined', job: id, index: job.data.index })
  }
}

export type { LoadParts }
