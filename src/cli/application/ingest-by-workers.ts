/** Loads by many workers, of which this process is one, to the one receipt. */
import { SluiceError } from '../../base/failure/failure.js'
import type { IngestEvent, Receipt } from '../../index.js'
import { readJsonOptions, readScript } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { withoutCredentials } from '../../base/secrets.js'
import { alarmText, type Work } from './open-alarm.js'
import { hearProblems, openQueue, ownLimits, ownPart, refuseUnsafe, type WorkerEvent } from './open-queue.js'
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
  await using jobs = await openQueue(effective, terminal)
  using interruption = interruptible(terminal, 'returning unfinished ranges to the queue')
  const { work } = await import('../../jobs.js')
  const alarm = effective.values.onFailure === 'incident' ? { alarm: alarmText(effective, terminal, asked) } : {}
  if ('alarm' in alarm && effective.values.queueKeyFile === undefined) {
    const message =
      'without --queue-key-file, only this command reports the end of the job to ServiceNow. If it is killed, nobody does'
    tell(terminal, { level: 'warn', event: 'job', message })
  }
  const asIs = { name: job.name, data: { ...job.data, ...alarm, url: withoutCredentials(job.data.url) } }
  const problems = hearProblems(terminal)
  const patience = { signal: interruption.signal, tell: problems }
  const submit = async () => {
    await refuseUnsafe(jobs)
    const named = job.isAnew ? await jobs.agreeOnName(asIs) : asIs
    return { ...named, ignored: await jobs.submit(named) }
  }
  const { name, data, ignored } = await unlessInterrupted(
    interruption.signal,
    jobs.untilDone(submit, patience),
    () => 'the job may be on the queue already. If it is, the same command continues it',
  )
  terminal.manner.run = name
  tell(terminal, { level: 'info', event: 'job', message: `job ${name} is on ${jobs.engine.display}` })
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
  const own = await ownPart(jobs, effective, terminal)
  const working = work({
    ...own,
    // Whoever runs a command loads what it names, and not what others put on the queue.
    limits: ownLimits(name, data),
    signal,
    isMeasured: hear !== undefined,
    tell: heard,
  })
  try {
    const end = await jobs.wait({ name, data }, { signal: interruption.signal, tell: heard })
    const isReported =
      end.isReported === true ||
      !('alarm' in alarm) ||
      !(await jobs.untilDone(async () => await jobs.claimReport(name), patience))
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
  const text = Object.fromEntries(
    Object.entries(json).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  return { ...effective, values: { ...effective.values, ...text, ...(script === undefined ? {} : { script }) } }
}
