/** The limits of bytes that this process shares with others: the budget of each job, and the monthly plan of its proxy. */
import type { Job, Queue } from 'bullmq'
import { payerOf } from '../../../features/limits/traffic-plan/plan-use.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import type { TrafficSection } from '../../../options/load.js'
import { proxySection } from '../../../options/read-options.js'
import type { JobData } from '../job.js'
import { type QueuePatience, untilQueueDone } from '../queue/until-done.js'
import { budgetOf } from './job-budget.js'
import { PlanBook } from './plan-book.js'
import { type SharedBytes, withinBoth } from './shared-bytes.js'

/** A monthly plan, and what loads do near its end. */
export type SharedPlan = Pick<TrafficSection, 'planDay' | 'planLimit'> & { readonly plan: number }

interface Budgeting extends QueuePatience {
  readonly control: Queue<JobData>
  /** Returns the plan that a process keeps to while it works on a job. Undefined: there is none. */
  planOf(data: JobData): SharedPlan | undefined
}

export interface JobLimits {
  /** What the process may send and receive for the job. Undefined: as much as it likes. */
  readonly bytes: SharedBytes | undefined
  /** Undefined: the process has no plan, or no proxy. */
  readonly plan: PlanBook | undefined
}

export class Budgets {
  readonly #given: Budgeting
  /** All jobs of the process share them. */
  readonly #plans = new Map<string, PlanBook>()

  constructor(given: Budgeting) {
    this.#given = given
  }

  /** `proxy`: that of this process. */
  of(job: Pick<Job<JobData>, 'id' | 'data'>, proxy: IngestOptions['proxy']): JobLimits {
    const { control, engine } = this.#given
    const plan = this.#planOf(job.data, proxy)
    const budget = budgetOf(job, { control, seal: engine.seal, patient: this.#patient })
    return { bytes: withinBoth(plan, budget), plan }
  }

  /** What the process may send beside its jobs. Undefined: no job has a plan so far. */
  get plans(): SharedBytes | undefined {
    return [...this.#plans.values()].reduce<SharedBytes | undefined>(withinBoth, undefined)
  }

  /** Leaves what is not used to other processes. */
  async leave(): Promise<void> {
    await Promise.all([...this.#plans.values()].map(async plan => await plan.leave()))
  }

  readonly #patient = async <T>(work: () => Promise<T>): Promise<T> => await untilQueueDone(work, this.#given)

  #planOf(data: JobData, proxy: IngestOptions['proxy']): PlanBook | undefined {
    const traffic = this.#given.planOf(data)
    const account = payerOf(proxySection(proxy))
    if (traffic === undefined || account === undefined) return undefined
    const key = JSON.stringify([account, traffic])
    const known = this.#plans.get(key)
    const { engine } = this.#given
    const plan = known ?? new PlanBook({ engine, account, traffic, patient: this.#patient, now: Date.now })
    this.#plans.set(key, plan)
    return plan
  }
}
