/** Gives a job or a range back to the queue, for another worker. Neither its attempts nor its state change. */
import type { Job } from 'bullmq'

/** Always throws: what the queue takes for this. A worker that has lost its lease may find that another one has the job already. */
export async function giveBack(job: Pick<Job, 'moveToWait'>, token: string, why: string): Promise<never> {
  await job.moveToWait(token).catch(() => undefined)
  // The queue knows this error by its name, and leaves the job alone.
  throw Object.assign(new Error(why), { name: 'WaitingError' })
}
