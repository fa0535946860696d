/** Decides whether this process trusts a job that it finds on the queue: by its shape, and by its signature. */
import type { Job } from 'bullmq'
import { type Failure, failure, SluiceError } from '../../../base/failure/failure.js'
import type { JobData } from '../job.js'
import { faultOfJob, malformed, shownFromQueue } from './check-entry.js'
import { macOf, type Seal } from './seal.js'

type Found = Pick<Job<JobData>, 'id' | 'data'>

/** Returns why the job is not to be trusted. Undefined if it is. */
export function whyUntrusted({ id, data }: Found, seal: Seal): Failure | undefined {
  const fault = faultOfJob(id, data)
  if (fault !== undefined) return malformed(id, fault)
  const isSigned = macOf(data) !== ''
  // Its workers would not accept anything that this process says.
  if (!seal.hasKey) return isSigned ? wrongSignature(id, 'it is signed, and this process has no key') : undefined
  if (seal.fits('job', [id ?? ''], data)) return undefined
  return wrongSignature(id, isSigned ? 'its signature does not fit the key of this process' : 'it is not signed')
}

/** Throws SluiceError JOB_MALFORMED, JOB_SIGNATURE_WRONG. */
export function trusted(job: Found, seal: Seal): JobData {
  const why = whyUntrusted(job, seal)
  if (why !== undefined) throw new SluiceError(why)
  return job.data
}

export function wrongSignature(id: string | undefined, problem: string): Failure {
  return failure('JOB_SIGNATURE_WRONG', { job: shownFromQueue(id), problem })
}
