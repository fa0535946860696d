import type { Command } from 'commander'
import { explain } from '../../failure/catalogue.js'
import { isSluiceError } from '../../failure/sluice-error.js'
import type { IngestOptions, Receipt } from '../../index.js'
import { requireOptions } from '../../options/resolve.js'
import { tablesIn } from '../../options/table-names.js'
import { addOptions } from '../add-options.js'
import { openAlarm } from '../alarm.js'
import { checkStdin, stdinFor } from '../check-stdin.js'
import { ingestOptions } from '../../options/library-options.js'
import { interruptible } from '../interrupt.js'
import { loadAccess, loadGuarded, loadOptions, reloadCredentials, sayWarnings } from '../load-options.js'
import { masked } from '../mask.js'
import { follow, showProgress } from '../progress.js'
import { sayFailure } from '../say-error.js'
import { serviceNowOptions } from '../servicenow-options.js'
import { receiptJson, showReceipt } from '../show-receipt.js'
import { stateDir } from '../state-dir.js'
import { namesTable, tableOptions } from '../table-options.js'
import { type Asking, askingFor, tellingCause } from '../tell-cause.js'
import type { Terminal } from '../terminal.js'
import { spareOptimising } from '../spare-optimising.js'

export function define(command: Command, terminal: Terminal, done: (code: number) => void): void {
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
  requireOptions(effective, swapAlias === undefined ? ['url', 'index'] : ['url'])
  const isTable = namesTable(source, effective)
  const guarded = await loadGuarded(effective)
  const access = await loadAccess(effective, terminal)
  sayWarnings(effective, terminal)
  checkStdin(source)
  const options = {
    ...ingestOptions(effective, access, guarded),
    ...(isTable ? { ...tableOptions(effective), servicenow: await serviceNowOptions(effective, terminal) } : {}),
    stateDir: stateDir(effective, terminal),
    // Whoever limits the time of a process counts from its start.
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
    return { receipt, code: sayReceipt(receipt, terminal, json) }
  })
}

/** Returns the exit code. */
export function sayReceipt(account: Receipt, terminal: Terminal, json: boolean): number {
  const receipt = withMaskedFailures(account, terminal.manner.secrets)
  terminal.out(json ? receiptJson(receipt) : showReceipt(receipt))
  if (receipt.failure !== undefined) terminal.err(sayFailure(receipt.failure))
  return exitCodeOf(receipt)
}

/** Runs the load to its receipt. A run that had to stop has one too; what stopped before the first document is thrown. */
export async function runLoad(
  options: IngestOptions,
  terminal: Terminal,
  quiet: boolean,
  asking?: Asking,
): Promise<Receipt> {
  const load = async (heard: Heard) => {
    // The engine takes as long to load as all that comes before it: help and wrong options do not wait for it.
    const { ingest } = await import('../../ingest.js')
    spareOptimising()
    return await ingest({ ...options, ...stdinFor(options.source, terminal), ...heard })
  }
  return await followed(terminal, quiet, load, asking)
}

/** What shows a run's progress and can interrupt it. */
export type Heard = Required<Pick<IngestOptions, 'signal' | 'onEvent'>>

/** A run to its receipt, with its progress shown. `asking`: what to ask for the cause where it was refused; absent: nothing. */
export async function followed(
  terminal: Terminal,
  quiet: boolean,
  run: (heard: Heard) => Promise<Receipt>,
  asking?: Asking,
): Promise<Receipt> {
  using interruption = interruptible(terminal, 'finishing what is under way')
  using progress = await showProgress(terminal, { quiet })
  const { signal } = interruption
  const running = toReceipt(run({ signal, onEvent: follow(progress) }))
  return asking === undefined ? await running : await tellingCause(running, asking, signal)
}

async function toReceipt(running: Promise<Receipt>): Promise<Receipt> {
  try {
    return await running
  } catch (error) {
    // Narrowed by what throws: of the library's functions only `ingest` and `replay` attach a receipt.
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt as Receipt
    throw error
  }
}

function withMaskedFailures(receipt: Receipt, secrets: readonly string[]): Receipt {
  const { failure, inputs, notes } = receipt
  return {
    ...receipt,
    inputs: masked(inputs, secrets),
    ...(notes === undefined ? {} : { notes: masked(notes, secrets) }),
    ...(failure === undefined ? {} : { failure: masked(failure, secrets) }),
  }
}

export function exitCodeOf({ failure, rejected, unknown }: Receipt): number {
  if (failure !== undefined) return explain(failure.code).exit
  return rejected > 0 || unknown > 0 ? 1 : 0
}
