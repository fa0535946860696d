/**
 * A sign of each worker on the queue: where it runs, and how its requests reach the cluster. The doctor reads them. A worker whose
 * sign is old is gone.
 */
import type { Job, Queue } from 'bullmq'
import { systemClock } from '../../../base/time/clock.js'
import { inTime } from './in-time.js'
import type { QueueEngine } from './open-engine.js'
import { isListOf, isSize, isText, optional, shaped, type Test } from './shape.js'

/** How requests of a worker reach its cluster. */
export interface OwnWay {
  /** Its proxy without the login. Absent: it goes there directly. */
  readonly proxy?: string
  /** The addresses from which its requests leave, as the address check saw them. Absent: the worker made no check. */
  readonly egress?: readonly string[]
  /** Why the addresses are unknown: the failure's code and message. */
  readonly problem?: string
}

/** The facts of a worker that others may read. They hold no credentials. */
export interface WorkerSign {
  readonly version: 1
  readonly worker: string
  readonly host: string
  readonly pid: number
  /** URL of its cluster without credentials. */
  readonly url: string
  /** Ranges that it loads at the same time. */
  readonly slots: number
  /** Options that limit what the worker does for a job, and are missing. None of them is needed with a key. */
  readonly unlimited?: readonly string[]
  /** Milliseconds by which the clock of the queue is ahead of the worker's. */
  readonly queueAheadMs: number
  /** Its time of the sign, in milliseconds since the epoch. */
  readonly at: number
  /** Absent: it has not looked yet. */
  readonly way?: OwnWay
}

interface Signing {
  readonly engine: QueueEngine
  readonly sign: Omit<WorkerSign, 'at' | 'queueAheadMs' | 'way' | 'version'>
  /** Ends the signs, and removes the last one. */
  readonly signal: AbortSignal
  seeOwnWay(): Promise<OwnWay>
  queueAheadMs(): Promise<number>
}

/** The queue of signs. No worker takes a sign from it. */
const SIGNS = 'workers'

/** Time between two signs, in milliseconds. */
const EVERY_MS = 10_000
/** A worker that gave no sign for this long is gone, in milliseconds. */
const GONE_MS = 25_000
/** Characters of a name in a sign. */
const LONGEST = 2000
/** Addresses and clocks are looked at again after so many signs. */
const LOOK_AGAIN = 60

const kept = ['waiting', 'delayed', 'prioritized'] as const

/** Gives signs until the signal aborts. Never throws: a load does not need them. */
export async function giveSigns(signing: Signing): Promise<void> {
  const { engine, sign, signal } = signing
  const signs: Queue<WorkerSign> = engine.queue(SIGNS)
  let known: Partial<Pick<WorkerSign, 'way'>> & Pick<WorkerSign, 'queueAheadMs'> = { queueAheadMs: 0 }
  let job: Job<WorkerSign> | undefined
  const give = async () => {
    const data = { version: 1, ...sign, ...known, at: Date.now() } as const
    // A queue that was restarted may have forgotten it.
    const isThere = await job?.updateData(data).then(
      () => true,
      () => false,
    )
    if (isThere !== true) job = await signs.add('worker', data, { jobId: sign.worker })
  }
  await forgetGone(signs, Date.now()).catch(() => undefined)
  for (let turn = 0; !signal.aborted; turn += 1) {
    if (turn % LOOK_AGAIN === 0) {
      const queueAheadMs = await signing.queueAheadMs().catch(() => known.queueAheadMs)
      known = { ...known, queueAheadMs }
      await give().catch(() => undefined)
      const way = await signing.seeOwnWay().catch(() => known.way)
      known = { ...known, ...(way === undefined ? {} : { way }) }
    }
    await give().catch(() => undefined)
    await systemClock.sleep(EVERY_MS, signal).catch(() => undefined)
  }
  if (job !== undefined) await inTime(job.remove())
}

/** Returns the signs of workers that are not gone. `queueAheadMs`: of this machine, so that wrong clocks hide no worker. */
export async function readSigns(engine: QueueEngine, queueAheadMs: number): Promise<readonly WorkerSign[]> {
  const signs: Queue<WorkerSign> = engine.queue(SIGNS)
  const jobs = (await signs.getJobs([...kept])) as (Job<WorkerSign> | undefined)[]
  const now = Date.now() + queueAheadMs
  const here = jobs.flatMap(job => (job !== undefined && isSign(job.data) && !isGone(job.data, now) ? [job.data] : []))
  return here.toSorted((one, other) => one.host.localeCompare(other.host) || one.pid - other.pid)
}

/** A worker has at most this many slots, as its option says. */
const MOST_SLOTS = 256

const isName: Test = value => typeof value === 'string' && value.length <= LONGEST
const isWhole: Test = value => Number.isSafeInteger(value)
const areTexts: Test = value => isListOf(value, isText)

const isSignShape = shaped({
  worker: isName,
  host: isName,
  url: isName,
  pid: isWhole,
  queueAheadMs: isWhole,
  at: isWhole,
  slots: value => isSize(value) && Number(value) <= MOST_SLOTS,
  way: optional(shaped({ proxy: optional(isText), problem: optional(isText), egress: optional(areTexts) })),
  unlimited: optional(areTexts),
})

/** Others may have written it. A sign is not signed: it only says who shares a limit. */
function isSign(data: unknown): data is WorkerSign {
  return isSignShape(data)
}

/** `now`: by the clock of the queue. */
function isGone({ at, queueAheadMs }: WorkerSign, now: number): boolean {
  return now - at - queueAheadMs > GONE_MS
}

/** Workers that were killed leave their signs behind. Those are removed much later, because the clock of this machine may be wrong. */
async function forgetGone(signs: Queue<WorkerSign>, now: number): Promise<void> {
  const HOUR_MS = 3_600_000
  const jobs = (await signs.getJobs([...kept])) as (Job<WorkerSign> | undefined)[]
  for (const job of jobs)
    if (job !== undefined && isSign(job.data) && isGone(job.data, now - HOUR_MS)) await job.remove()
}
