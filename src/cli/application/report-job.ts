/** Reports the end of a job to the platform, with the access of this worker. */
import type { JobAlarm, JobEnd } from '../../programs/jobs/job.js'
import { isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { connectOptions } from '../settings/library-options.js'
import { masked } from '../../base/secrets.js'
import type { Effective } from '../settings/resolve.js'
import { loadAccess } from './load-options.js'
import { alarmAccess, sayReported } from './open-alarm.js'
import type { Terminal } from '../terminal/terminal.js'

interface Own {
  readonly effective: Effective
  readonly terminal: Terminal
}

/** Resolves to false if this worker has no access to the platform. An attempt that failed is not repeated by others. */
export async function reportJob(end: JobEnd, alarm: JobAlarm, { effective, terminal }: Own): Promise<boolean> {
  const { alarmTimeoutMs: timeoutMs } = effective.values
  const servicenow = await alarmAccess(effective, terminal).catch((error: unknown) => {
    if (isSluiceError(error)) return undefined
    throw error
  })
  if (servicenow === undefined) return false
  const { proxy } = connectOptions(effective, await loadAccess(effective, terminal))
  const options = { ...alarm, servicenow, proxy, timeoutMs }
  const { reportRun } = await import('../../programs/alarm/alarm.js')
  const { secrets } = terminal.manner
  const outcome =
    'receipt' in end
      ? { receipt: masked(end.receipt, secrets) }
      : { error: new SluiceError(masked(end.failure, secrets)) }
  sayReported(await reportRun(outcome, options), options, terminal, false)
  return true
}
