import type { Command } from 'commander'
import type { Receipt } from '../../index.js'
import type { ClusterAccess } from '../settings/option-files.js'
import type { Effective } from '../settings/resolve.js'
import { addOptions } from '../terminal/help.js'
import { type AfterRun, openAfterRun } from '../application/after-run.js'
import { openAlarm } from '../application/open-alarm.js'
import { measured, type Measuring } from '../application/open-metrics.js'
import { type Heard, checkStdin, followed, mailOnly, sayReceipt, stdinFor } from '../application/show-load.js'
import { replayOptions } from '../settings/library-options.js'
import { loadForCluster, reloadCredentials, stateDir } from '../application/load-options.js'
import { plural } from '../terminal/columns.js'
import { recording } from '../application/record-failure.js'
import { askingFor } from '../application/ask-doctor.js'
import { type HoldingTerminal, holdingBack } from '../terminal/hold-back.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'
import { spareOptimising } from '../application/tune-engine.js'

export function defineReplay(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(
    command.argument('<file...>', 'files of dead letters, quoted globs, or - for stdin (with --index). Plain or gzip'),
    'replay',
  )
    .addHelpText(
      'after',
      `
Examples:
  sluice replay sluice-dead-letters-20261121T100338Z-225173.ndjson
  sluice replay dead.ndjson --dead-letters dead-again.ndjson --json

Sluice sends each document to its index, with its operation, id and routing.
If a document is at fault, repair it in the file first, under "document".
If there is only text under "line", add "document" with an object beside it.
Documents that are rejected again go to a new file. Sluice never changes or
deletes your files. If a replay is interrupted, run it again. It continues.
The flags --index and --pipeline apply to all documents.
Dead letters of a guarded load (--swap-alias) go to the index that it made. Then
run the load again, without --max-rejected. It switches the alias.`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      done(await holdingBack(terminal, async shown => await again(files, flags, shown)))
    })
}

async function again(
  source: readonly string[],
  flags: Record<string, unknown>,
  terminal: HoldingTerminal,
): Promise<number> {
  const { effective, values, access } = await loadForCluster(flags, terminal)
  const record = recording(effective, terminal, source)
  mailOnly(terminal, values.quiet)
  const after = await openAfterRun(effective, terminal)
  const work = async () => {
    await record(async () => checkStdin(source))
    return { code: await replayWith({ effective, access, source }, { record, after }, terminal) }
  }
  return (await after.around(work)).code
}

interface Replaying {
  readonly effective: Effective
  readonly access: ClusterAccess
  readonly source: readonly string[]
}

async function replayWith(
  { effective, access, source }: Replaying,
  { record, after }: { readonly record: ReturnType<typeof recording>; readonly after: AfterRun },
  terminal: HoldingTerminal,
): Promise<number> {
  const { json, quiet, dryRun } = effective.values
  const options = {
    ...replayOptions(effective, access),
    stateDir: stateDir(effective, terminal),
    startedAt: Math.floor(performance.timeOrigin),
    refreshCredentials: async () => await reloadCredentials(effective, terminal),
    source,
  }
  const load = async (heard: Heard) => {
    const { replay } = await import('../../replay.js')
    spareOptimising()
    return await replay({ ...options, ...stdinFor(options.source, terminal), ...heard })
  }
  const { index } = options
  const work = { command: 'replay', sources: source, index }
  const alarm = await openAlarm(effective, terminal, access, work)
  const replaying = async ({ hear, loading }: Measuring) => {
    const asking = askingFor(effective, terminal, { index })
    const running = async () => await followed(terminal, quiet, load, { asking, hear })
    const receipt = await record(async () => await loading(running))
    await after.ended(receipt)
    const code = await sayReceipt(receipt, terminal, json, quiet)
    if (!json && !dryRun && !quiet) terminal.out(whatIsLeft(receipt))
    return { receipt, code }
  }
  const decided = async (measuring: Measuring) => await terminal.decide(async () => await replaying(measuring))
  return await measured(
    effective,
    terminal,
    work,
    async measuring => await alarm(async () => await after.around(async () => await decided(measuring))),
  )
}

/** Says what to do with the files. Sluice never removes them. */
function whatIsLeft(receipt: Receipt): string {
  const { failure, read, rejected, unknown, unsent, inputs, deadLetters, unreplayed = [] } = receipt
  if (failure !== undefined || unknown > 0 || unsent > 0) return ''
  // The warning names the files that hold the rest.
  if (rejected === 0 && unreplayed.length > 0) return ''
  const [first] = inputs
  const [files, them] =
    inputs.length === 1 && first !== undefined
      ? [first.name, 'the file']
      : [`the ${plural(inputs.length, 'file')}`, 'them']
  // An earlier replay has read the files. This one knows nothing of their documents.
  if (read === 0) return shown`\nEarlier replays have read all of ${files}.\n`
  if (rejected === 0) return shown`\nEvery document in ${files} is stored. You can delete ${them}.\n`
  return shown`\n${plural(rejected, 'document')} left, in ${deadLetters}. Replay this file next.\n`
}
