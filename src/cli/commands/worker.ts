import type { Command } from 'commander'
import { addOptions } from '../terminal/help.js'
import { interruptible } from '../terminal/interrupt.js'
import { loadForCluster, loadOrigin } from '../application/load-options.js'
import { openQueue, ownPart, refuseUnsafe, type WorkerEvent } from '../application/open-queue.js'
import { measuredWorker } from '../application/measure-worker.js'
import { plural } from '../terminal/columns.js'
import { tell } from '../terminal/log.js'
import type { LogEntry, Terminal } from '../terminal/terminal.js'
import { spareOptimising } from '../application/tune-engine.js'

type Own = Awaited<ReturnType<typeof ownPart>>

export function defineWorker(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'worker')
    .addHelpText(
      'after',
      `
Examples:
  sluice worker --queue redis://queue:6379 --only-inputs 's3://bucket/logs/*' \\
    --only-index 'logs-*' --letters-folder ./dead
  SLUICE_QUEUE=redis://queue:6379 sluice worker --queue-key-file queue.key

A worker loads ranges of all jobs for its cluster, until a signal. It then
returns its unfinished ranges to the queue. It has its own credentials for
cluster, proxy, storage and the cluster of --from. The queue never holds them.
Environment: SLUICE_QUEUE, and that of sluice ingest`,
    )
    .action(async (flags: Record<string, unknown>) => {
      done(await workUntilSignal(flags, terminal))
    })
}

async function workUntilSignal(flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  const { effective } = await loadForCluster(flags, terminal)
  // What is wrong with them would otherwise show only when a job needs them.
  await loadOrigin(effective, terminal, undefined)
  await using jobs = await openQueue(effective, terminal)
  await refuseUnsafe(jobs)
  using interruption = interruptible(terminal, 'taking no more ranges, and returning unfinished ones to the queue')
  const { work } = await import('../../jobs.js')
  spareOptimising()
  tell(terminal, { level: 'info', event: 'worker', message: `working on ${jobs.engine.display}` })
  const own = await ownPart(jobs, effective, terminal)
  warnOfLimits(own, terminal)
  const { signal } = interruption
  await measuredWorker(effective, terminal, async hear => {
    const hearing = (event: WorkerEvent) => {
      hear?.(event)
      const entry = entryOf(event)
      if (entry !== undefined) tell(terminal, entry)
    }
    // Without a key, whoever can write to the queue would open incidents with the access of this worker.
    const report = jobs.engine.seal.hasKey ? own.report : undefined
    await work({ ...own, report, signal, isMeasured: hear !== undefined, tell: hearing })
  })
  return 0
}

/** Warns of a worker that would do whatever a job asks for. */
function warnOfLimits({ engine, limits: { missing = [] } }: Own, terminal: Terminal): void {
  if (engine.seal.hasKey || missing.length === 0) return
  const message = `this worker has no key of the queue and no ${missing.join(', no ')}. Anyone who can write to the queue decides what it loads and where. Set them, or share a key with --queue-key-file`
  tell(terminal, { level: 'warn', event: 'limits', message })
}

function entryOf(event: WorkerEvent): LogEntry | undefined {
  switch (event.type) {
    case 'joined':
      return { level: 'info', event: 'joined', message: `job ${event.job}: loading into ${event.index}` }
    case 'left':
      return { level: 'info', event: 'left', message: `job ${event.job} is over` }
    case 'problem':
      return { level: 'warn', event: 'problem', message: event.message }
    case 'failed': {
      const { code, message } = event.failure
      const fields = { job: event.job, range: event.range, code }
      return { level: 'warn', event: 'failed', message: `job ${event.job}: range failed: ${code}: ${message}`, fields }
    }
    case 'took':
    case 'heard':
    case 'standing':
      return undefined
    case 'returned': {
      const fields = { job: event.job, range: event.range }
      return { level: 'info', event: 'returned', message: `job ${event.job}: a range went back to the queue`, fields }
    }
    case 'range': {
      const { counts, elapsedMs } = event.receipt
      const message = `job ${event.job}: ${plural(counts.read, 'document')} in ${elapsedMs} ms`
      return { level: 'info', event: 'range', message, fields: { job: event.job, ...counts } }
    }
  }
}
