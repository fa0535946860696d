/**
 * The messages between the workers of a job. Workers add rows to the log of the job. Its one coordinator reads them, and writes the
 * state that all workers read: a single writer needs no lock.
 */
import type { Job, Queue } from 'bullmq'
import type { Failure } from '../../../base/failure/failure.js'
import { isObject, parseObject } from '../../../base/json/parse-json.js'
import type { JobData } from '../job.js'
import { isFailure } from './check-entry.js'
import type { Seal } from './seal.js'
import { isCount, isSize, isText, optional, shaped, type Test } from './shape.js'

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
  /** Takes bytes that processes share, or fewer but at least `least`: see `BudgetRows`. */
  | ({ readonly type: 'take'; readonly id: string; readonly bytes: number; readonly least: number } & OfPlan)
  | ({ readonly type: 'unused'; readonly id: string; readonly bytes: number } & OfPlan)
  /** The end of the job is reported by this process. The first row counts. */
  | { readonly type: 'report'; readonly by: string }

/** Fields of rows that count for a monthly plan: its limit as the writer knows it, and the day in milliseconds since the epoch. */
interface OfPlan {
  readonly limit?: number
  readonly at?: number
}

/** The log of a job: its rows belong to the job since it was put on the queue. One that is opened again has another log. */
export interface JobLog {
  readonly control: Queue
  /** Name of the job. */
  readonly job: string
  /** When it was put on the queue. */
  readonly made: string
  readonly seal: Seal
}

export async function tellJob({ control, job, made, seal }: JobLog, row: JobRow): Promise<void> {
  await control.addJobLog(job, JSON.stringify(seal.sign('row', [job, made], row)))
}

/** Rows that are read in one request. A new coordinator reads all that were ever written. */
const ROWS = 1000

/** Stands for a row that is no message: rows keep their numbers. */
const ignored: JobRow = { type: 'unused', id: '', bytes: 0 }

/** Yields the rows from a number on, in pages. Each row of the log is one of them. */
export async function* rowsFrom(log: JobLog, from: number): AsyncGenerator<readonly JobRow[]> {
  const { control, job } = log
  for (let at = from; ; at += ROWS) {
    const { logs } = await control.getJobLogs(job, at, at + ROWS - 1, true)
    if (logs.length > 0) yield logs.map(text => rowIn(text, log) ?? ignored)
    if (logs.length < ROWS) return
  }
}

const rows: Readonly<Record<JobRow['type'], Test>> = {
  busy: shaped({ worker: isText }),
  blocked: shaped({ worker: isText, host: isText, failure: isFailure }),
  unblocked: shaped({ worker: isText }),
  stop: shaped({ worker: isText, failure: isFailure }),
  cancel: () => true,
  take: shaped({ id: isText, bytes: isCount, least: isCount, limit: optional(isCount), at: optional(isCount) }),
  unused: shaped({ id: isText, bytes: isCount, limit: optional(isCount), at: optional(isCount) }),
  report: shaped({ by: isText }),
}

function rowIn(text: string, { job, made, seal }: JobLog): JobRow | undefined {
  const row = parseObject(text)
  if (row === undefined || !seal.fits('row', [job, made], row)) return undefined
  const { type } = row
  const isRow = typeof type === 'string' && Object.hasOwn(rows, type) && rows[type as JobRow['type']](row)
  return isRow ? (row as unknown as JobRow) : undefined
}

type Stated = Pick<Job<JobData>, 'id' | 'data' | 'progress'>

/** Returns the state of a job that its coordinator wrote. Fields that are none are left out. */
export function stateIn({ id = '', data, progress }: Stated, seal: Seal): JobState {
  if (!isObject(progress) || !seal.fits('state', [id, data.made], progress)) return {}
  const { parked, slowedTo, share, stopping } = progress
  return {
    ...(isParked(parked) ? { parked } : {}),
    ...(isSize(slowedTo) ? { slowedTo: Number(slowedTo) } : {}),
    ...(isSize(share) ? { share: Number(share) } : {}),
    ...(isFailure(stopping) ? { stopping } : {}),
  }
}

const isParkedShape = shaped({ host: isText, since: isText, failure: isFailure })

function isParked(value: unknown): value is NonNullable<JobState['parked']> {
  return isParkedShape(value)
}
