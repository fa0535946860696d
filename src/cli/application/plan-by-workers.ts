/** Shows what a load by many workers would put on the queue. Asks neither queue nor cluster. */
import { withoutCredentials } from '../../base/secrets.js'
import type { Effective } from '../settings/resolve.js'
import { withContents } from './ingest-by-workers.js'
import { jobOptions } from './open-queue.js'
import { plural } from '../terminal/columns.js'
import { interruptible } from '../terminal/interrupt.js'
import type { Terminal } from '../terminal/terminal.js'

/** Returns the exit code. Throws SluiceError OPTION_INVALID, INPUT_*, SOURCE_*. */
export async function planByWorkers(
  effective: Effective,
  sources: readonly string[] | { readonly files: readonly string[] },
  terminal: Terminal,
): Promise<number> {
  using interruption = interruptible(terminal, 'stopping the plan')
  const [{ planOnly }, { queuedJob }] = await Promise.all([
    import('../../jobs.js'),
    import('../../programs/jobs/plan/queued-options.js'),
  ])
  // A dry run has another name than the load that it shows.
  const asLoad = { ...effective, values: { ...effective.values, dryRun: false } }
  const { name: job, data } = queuedJob(
    await withContents(asLoad),
    'files' in sources ? sources.files : sources,
    process.cwd(),
  )
  const options = await jobOptions(data, effective, terminal)
  const plan = await planOnly(data, { ...options, signal: interruption.signal })
  const { objects, ranges, groups, bytes } = plan
  const { json, url = '' } = effective.values
  const cut = `${plural(ranges - groups, 'part')} of large inputs and ${plural(groups, 'group')} of others`
  const size = bytes.toLocaleString('en-US')
  const text = `Job ${job} would hold ${plural(ranges, 'range')} of ${plural(objects, 'input')} with ${size} bytes: ${cut}. Sluice put nothing on the queue.\n`
  const account = { dryRun: true, job, url: withoutCredentials(url), index: data.index, ...plan }
  terminal.out(json ? `${JSON.stringify(account)}\n` : text)
  return 0
}
