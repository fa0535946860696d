/** Has the end of a job reported once, by its coordinator, or by a process that waits for it. */
import type { Job, Queue } from 'bullmq'
import { randomUUID } from 'node:crypto'
import type { JobAlarm, JobData, JobEnd } from '../job.js'
import { CONTROL, type QueueEngine } from '../queue/open-engine.js'
import { type JobLog, rowsFrom, tellJob } from '../queue/job-state.js'

export interface Reporting extends JobLog {
  readonly alarm: JobData['alarm']
  /** Reports it. Resolves to false if this process has no access to the platform. */
  readonly report?: ((end: JobEnd, alarm: JobAlarm) => Promise<boolean>) | undefined
}

/** Only the holder of the job's lock calls this. One that takes over after the report does not repeat it. */
export async function reportEnd(end: JobEnd, reporting: Reporting): Promise<JobEnd> {
  const { alarm, report } = reporting
  if (alarm === undefined || report === undefined) return end
  if ((await firstReporter(reporting)) !== undefined) return { ...end, isReported: true }
  if (!(await report(end, alarm))) return end
  await tellJob(reporting, { type: 'report', by: randomUUID() })
  return { ...end, isReported: true }
}

/** Returns whether this process, of all that wait for the job, is the one that reports it. */
export async function claimReport(log: JobLog): Promise<boolean> {
  const by = randomUUID()
  await tellJob(log, { type: 'report', by })
  return (await firstReporter(log)) === by
}

/** Returns the log of a job. One that was joined is on the queue since another time than the command that joins it. */
export async function logOf({ queue, seal }: QueueEngine, job: string): Promise<JobLog> {
  const control: Queue<JobData> = queue(CONTROL)
  const found = (await control.getJob(job)) as Job<JobData> | undefined
  return { control, job, seal, made: found?.data.made ?? '' }
}

async function firstReporter(log: JobLog): Promise<string | undefined> {
  for await (const rows of rowsFrom(log, 0)) for (const row of rows) if (row.type === 'report') return row.by
  return undefined
}
