import type { Command } from 'commander'
import type { ClusterAccess } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import type { PullOptions, Pulled } from '../../servicenow.js'
import { tablesIn } from '../../options/names.js'
import { addOptions } from '../terminal/help.js'
import { openAlarm } from '../application/open-alarm.js'
import { connectOptions, tableOptions } from '../settings/library-options.js'
import { interruptible, unlessInterrupted } from '../terminal/interrupt.js'
import { loadAccess, loadOptions, sayWarnings, serviceNowOptions } from '../application/load-options.js'
import { withoutSecrets } from '../../base/secrets.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'
import { showPull } from '../terminal/pull-progress.js'
import { bytes, count, plural } from '../terminal/columns.js'
import { tell } from '../terminal/log.js'
import { spareOptimising } from '../application/tune-engine.js'
import { fail } from '../../base/failure/failure.js'
import { namesIndex, pullIndex } from './pull-index.js'

export function definePull(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command.argument('<table>', 'servicenow:TABLE or elasticsearch:INDEX'), 'pull')
    .addHelpText(
      'after',
      `
Examples:
  sluice pull servicenow:incident > incidents.ndjson
  sluice pull servicenow:incident --query 'active=true^priority<=2'
  sluice pull servicenow:cmdb_ci_server --display-value true | jq -r .name
  sluice pull elasticsearch:orders --from https://old:9200 > orders.ndjson

Rows go to stdout, one JSON object per line. Everything else goes to stderr.
Documents of an index come as a dump. Rows come once, in the order of sys_id.
Rows created during the pull come last.
If a pull of rows with --output is interrupted, run it again. It continues.`,
    )
    .action(async (table: string, flags: Record<string, unknown>) => {
      const effective = await rowsAlone(terminal, async () => await loadOptions(flags, terminal))
      const access = await loadAccess(effective, terminal)
      const isIndex = namesIndex(table, effective)
      const options = isIndex ? undefined : await pullOptions(tableNamed(table), effective, access, terminal)
      sayWarnings(effective, terminal)
      const alarm = await openAlarm(effective, terminal, access, {
        command: 'pull',
        sources: [table],
        query: effective.values.query,
      })
      const pulling = async () => {
        if (options === undefined) {
          await pullIndex(table, effective, terminal)
          return { code: 0 }
        }
        const { quiet, output } = effective.values
        const refused =
          output === undefined
            ? await write(options, terminal, quiet)
            : await writeFile(options, output, terminal, quiet)
        return { code: refused === 0 ? 0 : 1 }
      }
      done(await alarm(pulling))
    })
}

/** Keeps stdout for rows, also with JSON output. */
async function rowsAlone<T>({ manner }: Terminal, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } finally {
    manner.json = false
  }
}

function tableNamed(name: string): string {
  const [table] = tablesIn([name])
  if (table !== undefined) return table
  const problem = `'${name}' is not a table. Write it as in servicenow:${/^\w+$/.test(name) ? name : 'incident'}`
  throw fail('OPTION_INVALID', { option: '<table>', problem })
}

async function pullOptions(
  table: string,
  effective: Effective,
  access: ClusterAccess,
  terminal: Terminal,
): Promise<PullOptions> {
  const { values } = effective
  const { proxy, concurrency, preflightConnections, timeoutMs } = connectOptions(effective, access)
  return {
    ...tableOptions(effective).table,
    table,
    attachments: values.attachments,
    servicenow: await serviceNowOptions(effective, terminal),
    proxy,
    concurrency,
    preflightConnections,
    timeoutMs,
    maxElapsedMs: values.maxElapsedMs,
    onSecret: secret => keepSecrets(terminal, [secret]),
    onWarning: text => {
      const message = withoutSecrets(text, terminal.manner.secrets)
      tell(terminal, { level: 'warn', event: 'warning', message })
    },
  }
}

/** Ends early if the reader of stdout is gone. Returns how many attachments were refused. Throws as `pull` does. */
async function write(options: PullOptions, terminal: Terminal, quiet: boolean): Promise<number> {
  using interruption = interruptible(terminal, 'stopping')
  using progress = showPull(terminal, quiet)
  const { signal } = interruption
  const { pullLines } = await import('../../features/tables/pull.js')
  spareOptimising()
  const pour = async () => {
    for await (const lines of pullLines({ ...options, signal, onProgress: progress.update })) {
      progress.wrote(lines.length)
      // The number of rows that the last reader has read is unknown.
      if (!(await terminal.pour(lines))) return
    }
    progress.end(options.table, attachmentsIn(progress.pulled))
  }
  await unlessInterrupted(signal, pour(), () => `${plural(progress.rows, 'row')} of ${options.table} written`)
  return progress.pulled.attachments?.refused ?? 0
}

/** Returns how many attachments were refused. Throws as `pullToFile` does. */
async function writeFile(options: PullOptions, output: string, terminal: Terminal, quiet: boolean): Promise<number> {
  using interruption = interruptible(terminal, 'stopping')
  using progress = showPull(terminal, quiet)
  const { signal } = interruption
  const { pullToFile } = await import('../../features/tables/pull.js')
  spareOptimising()
  const pulling = pullToFile({ ...options, output, signal, onProgress: progress.update })
  const left = () =>
    `${plural(progress.rows, 'row')} of ${options.table} are in ${output}.part, and the same command continues after them`
  const pulled = await unlessInterrupted(signal, pulling, left)
  progress.update(pulled)
  const before = pulled.resumed === 0 ? '' : ` (${count(pulled.resumed)} of them from an earlier run)`
  progress.end(options.table, ` in ${output}${before}${attachmentsIn(pulled)}`)
  return pulled.attachments?.refused ?? 0
}

function attachmentsIn({ attachments }: Pick<Pulled, 'attachments'>): string {
  if (attachments === undefined) return ''
  const { fetched, bytes: size, kept, refused } = attachments
  const more = [
    ...(kept > 0 ? [`${count(kept)} already there`] : []),
    ...(refused > 0 ? [`${count(refused)} refused`] : []),
  ]
  return `, ${plural(fetched, 'attachment')} fetched (${[bytes(size), ...more].join(', ')})`
}
