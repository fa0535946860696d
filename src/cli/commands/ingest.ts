import type { Command } from 'commander'
import { type Effective, requireOptions } from '../../options/resolve.js'
import { tablesIn } from '../../options/names.js'
import { addOptions } from '../terminal/help.js'
import { openAlarm } from '../open-alarm.js'
import { checkStdin, mailOnly, runLoad, sayReceipt } from '../run-load.js'
import { readGuarded } from '../../options/option-files.js'
import { ingestOptions, tableOptions } from '../../options/library-options.js'
import {
  fileReader,
  loadAccess,
  loadOptions,
  namesTable,
  reloadCredentials,
  sayWarnings,
  serviceNowOptions,
  stateDir,
} from '../load-options.js'
import { recording } from '../run-history.js'
import { askingFor } from '../ask-doctor.js'
import { type HoldingTerminal, holdingBack } from '../terminal/hold-back.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineIngest(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(
    command.argument(
      '<source...>',
      'files, quoted globs, - for stdin, or servicenow:TABLE. NDJSON, JSON or CSV, also gzip',
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
If a run is interrupted, run the same command again. It continues.
Environment: ELASTICSEARCH_URL, ELASTICSEARCH_API_KEY, STATIC_PROXY_URL`,
    )
    .action(async (sources: string[], flags: Record<string, unknown>) => {
      done(await holdingBack(terminal, async shown => await load(sources, flags, shown)))
    })
}

async function load(
  source: readonly string[],
  flags: Record<string, unknown>,
  terminal: HoldingTerminal,
): Promise<number> {
  const effective = await loadOptions(flags, terminal)
  const record = recording(effective, terminal, source)
  return await record(async () => await loadWith(effective, source, terminal, record))
}

async function loadWith(
  effective: Effective,
  source: readonly string[],
  terminal: HoldingTerminal,
  record: ReturnType<typeof recording>,
): Promise<number> {
  const { swapAlias, json, quiet } = effective.values
  mailOnly(terminal, quiet)
  requireOptions(effective, swapAlias === undefined ? ['url', 'index'] : ['url'], ', or --swap-alias NAME')
  const isTable = namesTable(source, effective)
  const guarded = await readGuarded(effective, fileReader(effective))
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
  const loading = async () => {
    const receipt = await record(async () => await runLoad(options, terminal, quiet, asking))
    return { receipt, code: await sayReceipt(receipt, terminal, json, quiet) }
  }
  return await alarm(async () => await terminal.decide(loading))
}
