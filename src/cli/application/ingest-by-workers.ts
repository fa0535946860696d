/** Loads by many workers, of which this process is one, to the one receipt. */
import { SluiceError } from '../../base/failure/failure.js'
import type { WorkerEvent } from '../../programs/jobs/queue/worker-event.js'
import type { IngestEvent, Receipt } from '../../index.js'
import { readJsonOptions, readScript } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { withoutCredentials } from '../../base/secrets.js'
import { alarmText, type Work } from './open-alarm.js'
import { hearProblems, openQueue, ownPart, refuseUnsafe } from './open-queue.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { tell } from '../terminal/log.js'
import type { Terminal } from '../terminal/terminal.js'

interface Asking {
  readonly work: Work
  /** Learns whether somebody else has reported the end of the job. */
  readonly hears: { isReported: boolean }
  /** Counts the job. Absent: there are no metrics. */
  readonly hear: ((event: IngestEvent) => void) | undefined
}

/** Throws SluiceError JOB_CONTINUES after a signal, and why the job could not begin. */
export async function ingestByWorkers(
  effective: Effective,
  sources: readonly string[] | { readonly files: readonly string[] },
  terminal: Terminal,
  { work: asked, hears, hear }: Asking,
): Promise<Receipt> {
  const { queuedJob } = await import('../../programs/jobs/plan/queued-options.js')
  const job = queuedJob(await withContents(effective), 'files' in sources ? sources.files : sources, process.cwd())
  await using engine = await openQueue(effective, terminal)
  using interruption = interruptible(terminal, 'returning unfinished ranges to the queue')
  const [{ work }, { submitJob, waitForJob }, { agreeOnName }, { claimReport, logOf }, { untilQueueDone }] =
    await Promise.all([
      import('../../jobs.js'),
      import('../../programs/jobs/control/submit-job.js'),
      import('../../programs/jobs/control/agree-on-name.js'),
      import('../../programs/jobs/control/report-end.js'),
      import('../../programs/jobs/queue/until-done.js'),
    ])
  const alarm = effective.values.onFailure === 'incident' ? { alarm: alarmText(effective, terminal, asked) } : {}
  const asIs = { name: job.name, data: { ...job.data, ...alarm, url: withoutCredentials(job.data.url) } }
  const problems = hearProblems(terminal)
  const patience = { engine, signal: interruption.signal, tell: problems }
  const submit = async () => {
    await refuseUnsafe(engine, effective)
    const named = job.isAnew ? await agreeOnName(engine, asIs.name, asIs.data) : asIs
    return { ...named, ignored: await submitJob(engine, named.name, named.data) }
  }
  const { name, data, ignored } = await unlessInterrupted(
    interruption.signal,
    untilQueueDone(submit, patience),
    () => 'the job may be on the queue already. If it is, the same command continues it',
  )
  terminal.manner.run = name
  tell(terminal, { level: 'info', event: 'job', message: `job ${name} is on ${engine.display}` })
  if (ignored.length > 0) {
    const message = `job ${name} was open before, and keeps its own ${ignored.join(', ')}. It ignores those of this command`
    tell(terminal, { level: 'warn', event: 'job', message })
  }
  const over = new AbortController()
  const signal = AbortSignal.any([over.signal, interruption.signal])
  const heard = (event: WorkerEvent) => {
    problems(event)
    // The metrics of this command count the job, and not what this process does for it.
    if (event.type === 'standing') hear?.({ type: 'progress', counts: event.counts, bytesRead: 0 })
  }
  const own = await ownPart(engine, effective, terminal)
  const working = work({
    ...own,
    // Whoever runs a command loads what it names, and not what others put on the queue.
    limits: { job: name },
    signal,
    isMeasured: hear !== undefined,
    tell: heard,
  })
  try {
    const end = await waitForJob(engine, { name, data }, { signal: interruption.signal, tell: heard })
    const isReported =
      end.isReported === true ||
      !('alarm' in alarm) ||
      !(await untilQueueDone(async () => await claimReport(await logOf(engine, name)), patience))
    hears.isReported = isReported
    if ('failure' in end) throw new SluiceError(end.failure)
    hear?.({ type: 'progress', counts: end.receipt, bytesRead: end.receipt.bytes.read })
    return end.receipt
  } finally {
    over.abort('the job is over')
    await working
  }
}

/** Files that options name are on this machine only: their contents go to the queue in their place. */
export async function withContents(effective: Effective): Promise<Effective> {
  const json = await readJsonOptions(effective)
  const script = await readScript(effective)
  const text = Object.fromEntries(Object.entries(json).map(([name, value]) => [name, JSON.stringify(value)]))
  return { ...effective, values: { ...effective.values, ...text, ...(script === undefined ? {} : { script }) } }
}
