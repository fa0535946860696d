import type { Command } from 'commander'
import { fail, type SluiceError } from '../../base/failure/failure.js'
import type { Jobs } from '../../programs/jobs/control/open-jobs.js'
import { nearestRun } from '../../run/state/runs/runs.js'
import { shown } from '../../base/text/shown.js'
import { masked } from '../../base/secrets.js'
import { localTime } from '../../base/time/clock.js'
import { loadOptions, sayWarnings } from '../application/load-options.js'
import { hearProblems, openQueue } from '../application/open-queue.js'
import { columns, count, plural, showDuration } from '../terminal/columns.js'
import { sayFailure } from '../show/say-error.js'
import { showReceipt } from '../show/show-receipt.js'
import { addOptions } from '../terminal/help.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import type { Terminal } from '../terminal/terminal.js'

type ListedJob = Awaited<ReturnType<Jobs['list']>>[number]

export function defineJobs(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'jobs')
    .argument('[job]', 'show one job: its name from the list')
    .option('--cancel', 'cancel the job: its workers stop, and its receipt shows what is stored')
    .option('--retry', 'load failed ranges again, and ranges that no worker has begun')
    .option('--remove', 'remove a job that is over from the queue')
    .addHelpText(
      'after',
      `
Examples:
  sluice jobs --queue redis://queue:6379
  sluice jobs logs-app-1f0c9b2e7a44
  sluice jobs logs-app-1f0c9b2e7a44 --cancel
Environment: SLUICE_QUEUE`,
    )
    .action(async (named: string | undefined, flags: Record<string, unknown>) => {
      done(await show(named, flags, terminal))
    })
}

async function show(named: string | undefined, flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  const effective = await loadOptions(flags, terminal)
  sayWarnings(effective, terminal)
  const changes = (['cancel', 'retry', 'remove'] as const).filter(name => flags[name] === true)
  const [change] = changes
  if (named === undefined && change !== undefined) throw invalid(`--${change} needs the name of a job`)
  if (changes.length > 1) throw invalid(`${changes.map(name => `--${name}`).join(' and ')} cannot be combined`)
  await using jobs = await openQueue(effective, terminal)
  using interruption = interruptible(terminal, 'waiting one more second for the queue')
  const { signal } = interruption
  const tell = hearProblems(terminal)
  const left = () => (change === undefined ? 'nothing was changed' : `job ${named} may have changed already`)
  const patient = async <T>(work: () => Promise<T>) =>
    await unlessInterrupted(signal, jobs.untilDone(work, { signal, tell }), left)
  const { json } = effective.values
  const { secrets } = terminal.manner
  if (named === undefined) {
    const listed = masked(await patient(async () => await jobs.list()), secrets)
    terminal.out(json ? `${JSON.stringify({ jobs: listed })}\n` : table(listed))
    return 0
  }
  const job = await patient(async () => await jobs.find(named))
  if (job === undefined) throw unknown(named, await patient(async () => await jobs.list()))
  if (change !== undefined) {
    refuse(job, change)
    await patient(async () => await jobs[change](named))
  }
  const did = change && doing[change]
  if (json) terminal.out(`${JSON.stringify(masked(did === undefined ? job : { job: named, did }, secrets))}\n`)
  else terminal.out(did === undefined ? details(masked(job, secrets)) : shown`Job ${named} is ${said[did]}.\n`)
  return 0
}

/** Throws SluiceError OPTION_INVALID for a change that the job cannot have. */
function refuse({ job, state, failure }: ListedJob, change: keyof typeof doing): void {
  const isOver = state === 'finished' || state === 'failed'
  if (change === 'cancel' && isOver) throw invalid(`job ${job} is over, so there is nothing to cancel`)
  if (change === 'retry' && !isOver)
    throw invalid(`job ${job} is not over yet. Wait for its end, then retry its failed ranges`)
  if (change === 'retry' && state === 'finished')
    throw invalid(
      `job ${job} has finished without a failure, so there is nothing to retry. To load new inputs, run its \`sluice ingest\` command again`,
    )
  // Nobody will ever finish an entry that workers do not trust.
  const isRefused = failure?.code === 'JOB_MALFORMED' || failure?.code === 'JOB_SIGNATURE_WRONG'
  if (change === 'remove' && !isOver && !isRefused)
    throw invalid(`job ${job} is not over yet. Cancel it first with --cancel`)
}

const doing = { cancel: 'cancelled', retry: 'opened', remove: 'removed' } as const

const said = {
  cancelled: 'cancelled. Its workers stop within seconds',
  opened: 'open again. Workers load the failed ranges',
  removed: 'removed from the queue',
} as const

function table(jobs: readonly ListedJob[]): string {
  if (jobs.length === 0) return 'No jobs.\n'
  const head = ['job', 'made', 'state', 'index', 'done', 'active', 'waiting', 'failed', 'documents', 'per second']
  const rows = jobs.map(({ job, made, state, index, ranges, counts, docsPerSecond, failure }) => [
    job,
    localTime(made),
    failure === undefined ? state : `${state}: ${failure.code}`,
    index,
    ...[ranges.done, ranges.active, ranges.waiting, ranges.failed].map(count),
    count(counts.read),
    count(docsPerSecond),
  ])
  return columns([head, ...rows])
}

function details(job: ListedJob): string {
  const { ranges, workers, counts, failure, receipt } = job
  if (receipt !== undefined) return showReceipt(receipt)
  const hosts = Object.entries(workers).map(([host, active]) => `${host} (${count(active)})`)
  return [
    shown`Job ${job.job} into ${job.index}: ${job.state}\n\n`,
    columns(
      [
        ['made', `${localTime(job.made)} on ${job.host}`],
        ['cluster', job.url],
        [
          'ranges',
          `${count(ranges.done)} done, ${count(ranges.active)} active, ${count(ranges.waiting)} waiting, ${count(ranges.failed)} failed`,
        ],
        [
          'documents',
          `${plural(counts.read, 'document')} in ${showDuration(job.elapsedMs)}, ${count(job.docsPerSecond)} per second`,
        ],
        ['workers', hosts.length === 0 ? 'none' : hosts.join(', ')],
      ],
      '  ',
    ),
    failure === undefined ? '' : `\n${sayFailure(failure)}`,
  ].join('')
}

function unknown(named: string, jobs: readonly ListedJob[]): SluiceError {
  const near = nearestRun(
    named,
    jobs.map(({ job }) => job),
  )
  return invalid(`there is no job '${named}' on the queue${near === undefined ? '' : `. Did you mean ${near}?`}`)
}

function invalid(problem: string): SluiceError {
  return fail('OPTION_INVALID', { option: 'sluice jobs', problem })
}
