/** Gives a job or a range back to the queue, for another worker. Neither its attempts nor its state change. */
import type { Job } from 'bullmq'
import { inTime } from './in-time.js'

/** Always throws: what the queue takes for this. A worker that has lost its lease may find that another one has the job already. */
export async function giveBackRange(job: Pick<Job, 'moveToWait'>, token: string, why: string): Promise<never> {
  // A queue that is silent finds out by itself, when the lease is over.
  await inTime(job.moveToWait(token))
  // The queue knows this error by its name, and does not touch the job.
  throw Object.assign(new Error(why), { name: 'WaitingError' })
}
