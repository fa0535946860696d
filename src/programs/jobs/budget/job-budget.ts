/** The bytes that all workers of a job may send and receive together. */
import type { Job } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'
import type { JobData } from '../job.js'
import type { JobLog } from '../queue/job-state.js'
import { LogBudget, type Sharing } from './log-budget.js'
import type { SharedBytes } from './shared-bytes.js'

interface JobSharing extends JobLog, Pick<Sharing, 'limit' | 'patient'> {
  /** Most requests of the job at the same time. */
  readonly most: number
}

/** One process takes a part of what is left for each request that may be under way. */
const SHARE = 4

export class JobBudget extends LogBudget implements SharedBytes {
  constructor({ limit, most, patient, ...log }: JobSharing) {
    super({ log, limit, patient, ahead: left => left / (SHARE * most) })
  }

  spent(needed: number): Failure {
    const { limit, left } = this
    return failure('BYTE_BUDGET_SPENT', { budget: limit, used: limit - left, needed: Math.ceil(needed), settled: 0 })
  }
}

/** Returns the share of this process. Undefined: the job has no limit. */
export function budgetOf(
  { id = '', data: { byteBudget, concurrency, made } }: Pick<Job<JobData>, 'id' | 'data'>,
  given: Pick<JobSharing, 'control' | 'seal' | 'patient'>,
): JobBudget | undefined {
  if (byteBudget === undefined) return undefined
  return new JobBudget({ ...given, job: id, made, limit: byteBudget, most: concurrency })
}
