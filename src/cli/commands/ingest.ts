import type { Command } from 'commander'
import { requireOptions } from '../../options/resolve.js'
import { tablesIn } from '../../options/table-names.js'
import { addOptions } from '../terminal/help.js'
import { openAlarm } from '../open-alarm.js'
import { checkStdin, runLoad, sayReceipt } from '../run-load.js'
import { ingestOptions } from '../../options/library-options.js'
import { loadAccess, loadGuarded, loadOptions, reloadCredentials, sayWarnings, stateDir } from '../load-options.js'
import { namesTable, serviceNowOptions, tableOptions } from '../servicenow-options.js'
import { askingFor } from '../tell-cause.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineIngest(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(
    command.argument(
      '<source...>',
      'files, quoted globs, - for stdin, or servicenow:TABLE. NDJSON or JSON, plain or gzip',
    ),
    'ingest',
  )
    .addHelpText(
      'after',
      `
Examples:
  sluice ingest 'logs/*.ndjson.gz' --index logs-app
  zcat logs.gz | sluice ingest - --index logs-app --json
  sluice ingest items.json --pick hits.items --index items
If a run is interrupted, run the same command again: it continues.
Environment: ELASTICSEARCH_URL, ELASTICSEARCH_API_KEY, STATIC_PROXY_URL`,
    )
    .action(async (sources: string[], flags: Record<string, unknown>) => {
      done(await load(sources, flags, terminal))
    })
}

async function load(source: readonly string[], flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  const effective = await loadOptions(flags, terminal)
  const { swapAlias, json, quiet } = effective.values
  requireOptions(effective, swapAlias === undefined ? ['url', 'index'] : ['url'], ', or --swap-alias NAME')
  const isTable = namesTable(source, effective)
  const guarded = await loadGuarded(effective)
  const access = await loadAccess(effective, terminal)
  sayWarnings(effective, terminal)
  checkStdin(source)
  const options = {
    ...ingestOptions(effective, access, guarded),
    ...(isTable ? { ...tableOptions(effective), servicenow: await serviceNowOptions(effective, terminal) } : {}),
    stateDir: stateDir(effective, terminal),
    // A time limit of a process counts from its start.
    startedAt: Math.floor(performance.timeOrigin),
    refreshCredentials: async () => await reloadCredentials(effective, terminal),
    source,
  }
  const index = effective.values.index ?? swapAlias
  const asking = askingFor(effective, terminal, effective.values, tablesIn(source))
  const { query } = effective.values
  const work = { command: 'ingest', sources: source, index, query: isTable ? query : undefined }
  const alarm = await openAlarm(effective, terminal, access, work)
  return await alarm.around(async () => {
    const receipt = await runLoad(options, terminal, quiet, asking)
    return { receipt, code: sayReceipt(receipt, terminal, json, quiet) }
  })
}
