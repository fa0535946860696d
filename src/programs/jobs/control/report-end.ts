/** Has the end of a job reported once, by its coordinator, or by a process that waits for it. */
import type { Queue } from 'bullmq'
import { randomUUID } from 'node:crypto'
import type { JobAlarm, JobData, JobEnd } from '../job.js'
import { rowsFrom, tellJob } from '../queue/job-state.js'

export interface Reporting {
  readonly control: Queue
  /** Name of the job. */
  readonly job: string
  readonly alarm: JobData['alarm']
  /** Reports it. Resolves to false if this process has no access to the platform. */
  readonly report?: ((end: JobEnd, alarm: JobAlarm) => Promise<boolean>) | undefined
}

/** Only the holder of the job's lock calls this. One that takes over after the report does not repeat it. */
export async function reportEnd(end: JobEnd, { control, job, alarm, report }: Reporting): Promise<JobEnd> {
  if (alarm === undefined || report === undefined) return end
  if ((await firstReporter(control, job)) !== undefined) return { ...end, isReported: true }
  if (!(await report(end, alarm))) return end
  await tellJob(control, job, { type: 'report', by: randomUUID() })
  return { ...end, isReported: true }
}

/** Returns whether this process, of all that wait for the job, is the one that reports it. */
export async function claimReport(control: Queue, job: string): Promise<boolean> {
  const by = randomUUID()
  await tellJob(control, job, { type: 'report', by })
  return (await firstReporter(control, job)) === by
}

async function firstReporter(control: Queue, job: string): Promise<string | undefined> {
  for await (const rows of rowsFrom(control, job, 0)) for (const row of rows) if (row.type === 'report') return row.by
  return undefined
}
