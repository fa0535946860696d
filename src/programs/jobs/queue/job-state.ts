/**
 * The messages between the workers of a job. Workers add rows to the log of the job. Its one coordinator reads them, and writes the
 * state that all workers read: a single writer needs no lock.
 */
import type { Job, Queue } from 'bullmq'
import type { Failure } from '../../../base/failure/failure.js'
import { parseObject } from '../../../base/json/parse-json.js'
import type { JobData } from '../job.js'

/** Read by workers. */
export interface JobState {
  /** Set while a worker has no access. Then no worker sends anything. */
  readonly parked?: { readonly host: string; readonly failure: Failure; readonly since: string }
  /** Set while the cluster is busy: most ranges that are loaded at the same time. */
  readonly slowedTo?: number
  /** Set while workers have more slots than the limit is enough for: most ranges that one of them loads at the same time. */
  readonly share?: number
  /** Set when the job ends before all ranges are loaded. Workers stop, and leave receipts. */
  readonly stopping?: Failure
}

/** Written by workers, and by people. `worker` names one process. */
export type JobRow =
  | { readonly type: 'busy'; readonly worker: string }
  | {
      readonly type: 'blocked'
      readonly worker: string
      readonly host: string
      readonly failure: Failure
      /** Absent: the worker still waits. */
      readonly isNew?: true
    }
  | { readonly type: 'unblocked'; readonly worker: string }
  | { readonly type: 'stop'; readonly worker: string; readonly failure: Failure }
  | { readonly type: 'cancel' }
  /** Takes bytes from the budget of the job, or fewer but at least `least`: see `BudgetRows`. */
  | { readonly type: 'take'; readonly id: string; readonly bytes: number; readonly least: number }
  | { readonly type: 'unused'; readonly bytes: number }
  /** The end of the job is reported by this process. The first row counts. */
  | { readonly type: 'report'; readonly by: string }

export async function tellJob(control: Queue, job: string, row: JobRow): Promise<void> {
  await control.addJobLog(job, JSON.stringify(row))
}

/** Rows that are read in one request. A new coordinator reads all that were ever written. */
const ROWS = 1000

/** Yields the rows from a number on, in pages. */
export async function* rowsFrom(control: Queue, job: string, from: number): AsyncGenerator<readonly JobRow[]> {
  for (let at = from; ; at += ROWS) {
    const { logs } = await control.getJobLogs(job, at, at + ROWS - 1, true)
    if (logs.length > 0) yield logs.flatMap(text => (parseObject(text) as JobRow | undefined) ?? [])
    if (logs.length < ROWS) return
  }
}

export function stateIn({ progress }: Pick<Job<JobData>, 'progress'>): JobState {
  return typeof progress === 'object' ? progress : {}
}
