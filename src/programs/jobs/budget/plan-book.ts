/**
 * The monthly plan of one proxy account, which all workers of a queue share. The queue keeps one log for each account and month. A process
 * takes bytes before it sends them, and those that a killed one has taken count as used.
 */
import { createHash } from 'node:crypto'
import type { Job, Queue } from 'bullmq'
import type { Failure } from '../../../base/failure/failure.js'
import { PlanUse } from '../../../features/limits/traffic-plan/plan-use.js'
import type { JobLog } from '../queue/job-state.js'
import type { QueueEngine } from '../queue/open-engine.js'
import { LogBudget, type Sharing } from './log-budget.js'
import type { SharedBytes } from './shared-bytes.js'

interface Keeping extends Pick<Sharing, 'patient'> {
  readonly engine: Pick<QueueEngine, 'queue' | 'seal'>
  /** Who pays for the traffic. */
  readonly account: string
  readonly traffic: ConstructorParameters<typeof PlanUse>[0]['traffic']
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The queue of logs. No worker takes an entry from it. */
const PLANS = 'plans'
/** The largest share of the plan that a process takes at once, and the largest share of what is left. A kill may waste as much. */
const AHEAD = 1 / 10_000
const AHEAD_OF_LEFT = 1 / 64
const DAY_MS = 86_400_000
/** Nobody needs a log this long after its month began. */
const KEPT_MS = 100 * DAY_MS

/** An entry of the queue. Its log holds the rows. */
interface Entry {
  readonly version: 1
  /** When the month of the plan began, in milliseconds since the epoch. */
  readonly from: number
}

export class PlanBook implements SharedBytes {
  readonly use: PlanUse
  readonly #given: Keeping
  #month: { readonly from: number; readonly budget: LogBudget } | undefined

  constructor(given: Keeping) {
    const { traffic, now } = given
    this.#given = given
    const budget = () => this.#budget
    const used: PlanUse['usedIn'] = ({ from, until }) => {
      const { rows, free } = budget()
      const isNow = from <= now() && now() < until
      return rows.takenIn({ from, until }) - (isNow ? free : 0)
    }
    const journal = {
      used,
      get since() {
        return budget().rows.since
      },
    }
    this.use = new PlanUse({ traffic, now, journal })
  }

  get left(): number {
    return this.#budget.left
  }

  async take(bytes: number, least: number): Promise<number> {
    return await this.#budget.take(bytes, least)
  }

  get term(): number {
    return this.use.period.from
  }

  /** Gives bytes back to the month that they were taken from. The new month never counted them. */
  give(bytes: number, term?: number): void {
    if (term === undefined || term === this.term) this.#budget.give(bytes)
  }

  async leave(): Promise<void> {
    await this.#budget.leave()
  }

  /** Learns what all processes have used. */
  async look(): Promise<void> {
    await this.#budget.look()
  }

  spent(needed: number, isBefore: boolean): Failure {
    return isBefore ? this.use.spent() : this.use.reached(Math.ceil(needed), 0)
  }

  /** Each month has a log of its own. */
  get #budget(): LogBudget {
    const { from } = this.use.period
    if (this.#month?.from !== from) {
      void this.#month?.budget.leave()
      this.#month = { from, budget: this.#openMonth(from) }
    }
    return this.#month.budget
  }

  #openMonth(from: number): LogBudget {
    const { engine, account, traffic, patient, now } = this.#given
    const control: Queue<Entry> = engine.queue(PLANS)
    const made = new Date(from).toISOString()
    const key = createHash('sha256').update(account).digest('hex').slice(0, 32)
    const log: JobLog = { control, job: `${key}-${made.slice(0, 10)}`, made, seal: engine.seal }
    const limit = Math.min(this.use.limit, Number.MAX_SAFE_INTEGER)
    return new LogBudget({
      log,
      limit,
      patient,
      isLasting: true,
      ahead: left => Math.min(traffic.plan * AHEAD, left * AHEAD_OF_LEFT),
      // Another process may have another limit, and must come to the same result.
      stamp: () => ({ limit, at: Math.floor(now() / DAY_MS) * DAY_MS }),
      open: async () => {
        await control.add('plan', { version: 1, from }, { jobId: log.job })
        await forgetOld(control, from)
      },
    })
  }
}

async function forgetOld(control: Queue<Entry>, month: number): Promise<void> {
  const entries = (await control.getJobs(['waiting', 'delayed', 'prioritized'])) as (Job<Entry> | undefined)[]
  for (const entry of entries) {
    // Others may have written it.
    const from = Number((entry?.data as Partial<Entry> | null)?.from)
    if (entry !== undefined && from < month - KEPT_MS) await entry.remove()
  }
}
