import type { Command } from 'commander'
import { type Effective, requireOptions } from '../settings/resolve.js'
import { isTable, tablesIn } from '../../options/names.js'
import { addOptions } from '../terminal/help.js'
import { type AfterRun, openAfterRun } from '../application/after-run.js'
import { openAlarm, type Work } from '../application/open-alarm.js'
import { measured, type Measuring } from '../application/open-metrics.js'
import { checkStdin, mailOnly, showLoad, sayReceipt } from '../application/show-load.js'
import {
  fileReader,
  readFilesFrom,
  readJsonOptions,
  readRemoteAccess,
  readScript,
  decodedText,
} from '../settings/option-files.js'
import { ingestOptions, tableOptions } from '../settings/library-options.js'
import {
  loadAccess,
  loadOptions,
  loadOrigin,
  namesTable,
  reloadCredentials,
  sayWarnings,
  serviceNowOptions,
  stateDir,
} from '../application/load-options.js'
import { invalid } from '../../options/option-checks.js'
import { recording } from '../application/record-failure.js'
import { remoteSecrets } from '../../base/secrets.js'
import { isSourceUrl, readSourceUrl, shownSource } from '../../base/text/source-url.js'
import { askingFor } from '../application/ask-doctor.js'
import { type HoldingTerminal, holdingBack } from '../terminal/hold-back.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'

export function defineIngest(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(
    command.argument('[source...]', 'files, quoted globs, - for stdin, https:// or s3:// URLs, or servicenow:TABLE'),
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
      const missing = () =>
        command.error("error: missing required argument 'source'", { code: 'commander.missingArgument' })
      done(await holdingBack(terminal, async shown => await load(sources, flags, shown, missing)))
    })
}

async function load(
  named: readonly string[],
  flags: Record<string, unknown>,
  terminal: HoldingTerminal,
  missing: () => never,
): Promise<number> {
  const effective = await loadOptions(flags, terminal)
  const list = effective.values.filesFrom
  if (named.length === 0 && list === undefined) missing()
  hideRemote(named, terminal)
  const shown = list === undefined ? named.map(shownSource) : [list]
  const record = recording(effective, terminal, shown)
  const after = await openAfterRun(effective, terminal)
  const { index, swapAlias, query } = effective.values
  const work = {
    command: 'ingest',
    sources: shown,
    index: index ?? swapAlias,
    query: shown.some(isTable) ? query : undefined,
  }
  const loading = async (measuring: Measuring) =>
    await record(async () => {
      if (list !== undefined && named.length > 0)
        throw invalid('filesFrom', `cannot be used together with '${shownSource(named[0] ?? '')}'. Use two commands`)
      const source = (await readFilesFrom(effective, listReader(effective, terminal))) ?? named
      if ('files' in source) hideRemote(source.files, terminal)
      return await loadWith(effective, { source, work }, terminal, { record, measuring, after })
    })
  const measuring = async () => ({ code: await measured(effective, terminal, work, loading) })
  return (await after.around(measuring)).code
}

/** Loads the code of jobs on a queue, which other loads do not need. */
async function byWorkers(
  effective: Effective,
  source: Inputs,
  terminal: HoldingTerminal,
  asking: { readonly work: Work; readonly hears: { isReported: boolean }; readonly hear: Measuring['hear'] },
) {
  const { ingestByWorkers } = await import('../application/ingest-by-workers.js')
  return await ingestByWorkers(effective, source, terminal, asking)
}

/** Hides the secrets in URLs of inputs. */
function hideRemote(names: readonly string[], terminal: Terminal): void {
  keepSecrets(terminal, remoteSecrets(names.filter(isSourceUrl).flatMap(name => readSourceUrl(name) ?? [])))
}

function listReader(effective: Effective, { stdin }: Terminal): (path: string) => Promise<string> {
  const read = fileReader(effective)
  return async path => (path === '-' ? decodedText(Buffer.concat(await stdin.toArray())) : await read(path))
}

type Inputs = readonly string[] | { readonly files: readonly string[] }

/** The steps around a load. */
interface Around {
  readonly record: ReturnType<typeof recording>
  readonly measuring: Measuring
  readonly after: AfterRun
}

async function loadWith(
  effective: Effective,
  { source, work }: { readonly source: Inputs; readonly work: Work },
  terminal: HoldingTerminal,
  { record, measuring, after }: Around,
): Promise<number> {
  const { sources: shown } = work
  const { swapAlias, json, quiet } = effective.values
  mailOnly(terminal, quiet)
  requireOptions(effective, swapAlias === undefined ? ['url', 'index'] : ['url'], ', or --swap-alias NAME')
  const readsTable = namesTable(shown, effective)
  const given = await readJsonOptions(effective)
  const script = await readScript(effective)
  const access = await loadAccess(effective, terminal)
  const remote = await readRemoteAccess(effective)
  keepSecrets(terminal, remoteSecrets([], remote.token))
  const from = await loadOrigin(effective, terminal, given.fromQuery)
  sayWarnings(effective, terminal)
  checkStdin(shown)
  const options = {
    ...ingestOptions(effective, access, given, remote),
    ...(script === undefined ? {} : { script }),
    ...(from === undefined ? {} : { from }),
    ...(readsTable ? { ...tableOptions(effective), servicenow: await serviceNowOptions(effective, terminal) } : {}),
    stateDir: stateDir(effective, terminal),
    // A time limit of a process counts from its start.
    startedAt: Math.floor(performance.timeOrigin),
    refreshCredentials: async () => await reloadCredentials(effective, terminal),
    source,
  }
  const asking = askingFor(effective, terminal, effective.values, tablesIn(source))
  const hears = { isReported: false }
  const alarm = await openAlarm(effective, terminal, access, work, () => hears.isReported)
  const { queue, dryRun } = effective.values
  if (queue !== undefined && dryRun) {
    const { planByWorkers } = await import('../application/plan-by-workers.js')
    return await planByWorkers(effective, source, terminal)
  }
  const loading = async () => {
    const running = async () =>
      queue === undefined
        ? await showLoad(options, terminal, quiet, { asking, hear: measuring.hear })
        : await byWorkers(effective, source, terminal, { work, hears, hear: measuring.hear })
    const receipt = await record(async () => await measuring.loading(running))
    await after.ended(receipt)
    return { receipt, code: await sayReceipt(receipt, terminal, json, quiet) }
  }
  return await alarm(async () => await after.around(async () => await terminal.decide(loading)))
}
