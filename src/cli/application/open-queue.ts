/** Opens the queue of the options, and gives workers of this process their options. */
import type { work } from '../../jobs.js'
import type { Jobs } from '../../programs/jobs/control/open-jobs.js'
import type { JobData } from '../../programs/jobs/job.js'
import { fail } from '../../base/failure/failure.js'
import { clusterPlace } from '../../base/addresses.js'
import { withoutCredentials, queueSecrets } from '../../base/secrets.js'
import { ingestOptions } from '../settings/library-options.js'
import { isForeignIndex } from '../../options/names.js'
import { invalid } from '../../options/option-checks.js'
import { readJsonOptions, readQueueKey, readRemoteAccess, refuseUnsafeOutput } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { loadAccess, loadOrigin, reloadCredentials } from './load-options.js'
import { tell } from '../terminal/log.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'

type Working = Parameters<typeof work>[0]

type Limiting = Partial<Pick<Effective['values'], 'onlyInputs' | 'onlyIndex' | 'lettersFolder' | 'from'>>

/** What workers of this process tell. */
export type WorkerEvent = Parameters<Working['tell']>[0]

/** Throws SluiceError OPTION_INVALID without a queue, QUEUE_*. */
export async function openQueue(effective: Effective, terminal: Terminal): Promise<Jobs> {
  const { queue } = effective.values
  if (queue === undefined) throw invalid('--queue', 'is not set. Set --queue redis://HOST:6379 or SLUICE_QUEUE')
  refuseUnsafeOutput(effective)
  keepSecrets(terminal, queueSecrets(queue))
  const key = await readQueueKey(effective)
  if (key !== undefined) keepSecrets(terminal, [key])
  const { openJobs } = await import('../../programs/jobs/control/open-jobs.js')
  const problems = hearProblems(terminal)
  return await openJobs(queue, key, message => problems({ type: 'problem', message }))
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
export async function refuseUnsafe(jobs: Jobs): Promise<void> {
  const { evicts, unsafe } = await jobs.check()
  if (evicts) throw fail('QUEUE_UNSAFE', { queue: jobs.engine.display, problem: unsafe[0] ?? '' })
}

/** Returns the part of a worker that comes from the options of this process. */
export async function ownPart(
  queued: Jobs,
  effective: Effective,
  terminal: Terminal,
): Promise<Omit<Working, 'signal' | 'tell' | 'isMeasured'>> {
  const { jobs: slots, leaseMs, url = '' } = effective.values
  const { planFor } = await import('../../programs/jobs/plan/queued-options.js')
  return {
    engine: queued.engine,
    pid: process.pid,
    slots,
    leaseMs,
    url: withoutCredentials(url),
    limits: limitsOf(effective.values),
    report: async (end, alarm) => {
      const { reportJob } = await import('./report-job.js')
      return await reportJob(end, alarm, { effective, terminal })
    },
    access: async () =>
      ingestOptions(effective, await loadAccess(effective, terminal), {}, await readRemoteAccess(effective)),
    queueAheadMs: async () => (await queued.check()).clockAheadMs,
    optionsOf: async (data: JobData) => await jobOptions(data, effective, terminal),
    planOf: (data: JobData) => planFor(effective, data),
  }
}

/** Returns what a worker of these options keeps to, whatever a job asks for. */
export function limitsOf({ onlyInputs, onlyIndex, lettersFolder, from }: Limiting): Working['limits'] {
  const missing = [
    ...(onlyInputs === undefined ? ['--only-inputs'] : []),
    ...(onlyIndex === undefined ? ['--only-index'] : []),
    ...(lettersFolder === undefined ? ['--letters-folder'] : []),
  ]
  return {
    ...(onlyInputs === undefined ? {} : { inputs: onlyInputs }),
    ...(onlyIndex === undefined ? {} : { indices: onlyIndex }),
    ...(lettersFolder === undefined ? {} : { letters: lettersFolder }),
    ...(from === undefined ? {} : { from: clusterPlace(from) }),
    missing,
  }
}

/** Characters that may make a path a pattern. */
const SPECIAL = /[*?[\]{}()!+@|\\]/

/** Limits a command to the inputs that it names itself. Others may change its job on the queue meanwhile, or add ranges to it. */
export function ownLimits(job: string, { sources, from }: Pick<JobData, 'sources' | 'from'>): Working['limits'] {
  const inputs = sources.map(source => {
    // Only the index behind the same name is read.
    if (isForeignIndex(source)) return source
    const at = source.search(SPECIAL)
    return at === -1 ? source : `${source.slice(0, at)}*`
  })
  return { job, inputs, ...(from === undefined ? {} : { from }) }
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
  const json = await readJsonOptions(given)
  const from = await loadOrigin(given, terminal, json.fromQuery)
  // The queue holds its text, and not the name of its file.
  const { script } = given.values
  const options = {
    ...ingestOptions(given, access, json, await readRemoteAccess(given)),
    ...(from === undefined ? {} : { from }),
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
