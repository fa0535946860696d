/** Opens the queue of the options, and gives workers of this process their options. */
import type { QueueEngine } from '../../programs/jobs/queue/open-engine.js'
import type { JobData } from '../../programs/jobs/job.js'
import type { Working } from '../../programs/jobs/worker/run-worker.js'
import type { WorkerEvent } from '../../programs/jobs/queue/worker-event.js'
import { fail } from '../../base/failure/failure.js'
import { withoutCredentials, queueSecrets } from '../../base/secrets.js'
import { ingestOptions } from '../settings/library-options.js'
import { invalid } from '../../options/option-checks.js'
import { readJsonOptions, readQueueKey, readRemoteAccess } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { loadAccess, reloadCredentials } from './load-options.js'
import { tell } from '../terminal/log.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'

/** Throws SluiceError OPTION_INVALID without a queue, QUEUE_*. */
export async function openQueue(effective: Effective, terminal: Terminal): Promise<QueueEngine> {
  const { queue } = effective.values
  if (queue === undefined) throw invalid('--queue', 'is not set. Set --queue redis://HOST:6379 or SLUICE_QUEUE')
  keepSecrets(terminal, queueSecrets(queue))
  const key = await readQueueKey(effective)
  if (key !== undefined) keepSecrets(terminal, [key])
  const [{ openEngine }, { noSeal, sealWith }] = await Promise.all([
    import('../../programs/jobs/queue/open-engine.js'),
    import('../../programs/jobs/queue/seal.js'),
  ])
  const problems = hearProblems(terminal)
  const seal = key === undefined ? noSeal : sealWith(key)
  return await openEngine(queue, message => problems({ type: 'problem', message }), seal)
}

/** Says why the queue does not do what it should. Says nothing twice in a row. */
export function hearProblems(terminal: Terminal): (event: WorkerEvent) => void {
  let last = ''
  return event => {
    if (event.type !== 'problem' || event.message === last) return
    last = event.message
    tell(terminal, { level: 'warn', event: 'queue', message: `${last}. Sluice retries` })
  }
}

/** Throws SluiceError QUEUE_UNSAFE if the queue may remove keys: it would lose ranges silently. */
export async function refuseUnsafe(engine: QueueEngine, { values: { queue = '' } }: Effective): Promise<void> {
  const { checkQueue } = await import('../../programs/jobs/queue/check-queue.js')
  const { evicts, unsafe } = await checkQueue(engine, queue)
  if (evicts) throw fail('QUEUE_UNSAFE', { queue: engine.display, problem: unsafe[0] ?? '' })
}

/** Returns the part of a worker that comes from the options of this process. */
export async function ownPart(
  engine: QueueEngine,
  effective: Effective,
  terminal: Terminal,
): Promise<Omit<Working, 'signal' | 'parts' | 'tell' | 'isMeasured'>> {
  const { jobs: slots, leaseMs, url = '', queue = '', onlyInputs, onlyIndex, lettersFolder } = effective.values
  const { checkQueue } = await import('../../programs/jobs/queue/check-queue.js')
  return {
    engine,
    pid: process.pid,
    slots,
    leaseMs,
    url: withoutCredentials(url),
    limits: {
      ...(onlyInputs === undefined ? {} : { inputs: onlyInputs }),
      ...(onlyIndex === undefined ? {} : { indices: onlyIndex }),
      ...(lettersFolder === undefined ? {} : { letters: lettersFolder }),
    },
    report: async (end, alarm) => {
      const { reportJob } = await import('./report-job.js')
      return await reportJob(end, alarm, { effective, terminal })
    },
    access: async () =>
      ingestOptions(effective, await loadAccess(effective, terminal), {}, await readRemoteAccess(effective)),
    queueAheadMs: async () => (await checkQueue(engine, queue)).clockAheadMs,
    optionsOf: async (data: JobData) => await jobOptions(data, effective, terminal),
  }
}

/** Returns the options of a job, with the access of this process. */
export async function jobOptions(
  data: JobData,
  effective: Effective,
  terminal: Terminal,
): ReturnType<Working['optionsOf']> {
  const { withJob } = await import('../../programs/jobs/plan/queued-options.js')
  const given = withJob(effective, data)
  const access = await loadAccess(given, terminal)
  // The queue holds its text, and not the name of its file.
  const { script } = given.values
  const options = {
    ...ingestOptions(given, access, await readJsonOptions(given), await readRemoteAccess(given)),
    ...(script === undefined ? {} : { script }),
    refreshCredentials: async () => await reloadCredentials(given, terminal),
  }
  // Only what somebody has set rewrites lines, so that a file cannot be cut.
  const { csv, edits, ...plain } = options
  return { ...plain, ...(isSet(csv) ? { csv } : {}), ...(isSet(edits) ? { edits } : {}) }
}

/** Returns whether any option differs from its default. */
function isSet(section: object | undefined): boolean {
  return Object.values(section ?? {}).some(value => value !== undefined && value !== false && value !== 'omit')
}
