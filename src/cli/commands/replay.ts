import type { Command } from 'commander'
import type { Receipt } from '../../index.js'
import { requireOptions } from '../../options/resolve.js'
import { addOptions } from '../terminal/help.js'
import { openAlarm } from '../open-alarm.js'
import { type Heard, checkStdin, followed, sayReceipt, stdinFor } from '../run-load.js'
import { replayOptions } from '../../options/library-options.js'
import { loadAccess, loadOptions, reloadCredentials, sayWarnings, stateDir } from '../load-options.js'
import { plural } from '../show/columns.js'
import { askingFor } from '../tell-cause.js'
import type { Terminal } from '../terminal/terminal.js'
import { spareOptimising } from '../spare-optimising.js'

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
deletes your files. If a replay is interrupted, run it again: it continues.
The flags --index and --pipeline apply to all documents.
Dead letters of a guarded load (--swap-alias) go to the index that it made. Then
run the load again, without --max-rejected: it switches the alias.`,
    )
    .action(async (files: string[], flags: Record<string, unknown>) => {
      done(await again(files, flags, terminal))
    })
}

async function again(source: readonly string[], flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  const effective = await loadOptions(flags, terminal)
  requireOptions(effective, ['url'])
  const access = await loadAccess(effective, terminal)
  sayWarnings(effective, terminal)
  checkStdin(source)
  const { json, quiet } = effective.values
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
  const alarm = await openAlarm(effective, terminal, access, { command: 'replay', sources: source, index })
  return await alarm.around(async () => {
    const receipt = await followed(terminal, quiet, load, askingFor(effective, terminal, { index }))
    const code = sayReceipt(receipt, terminal, json, quiet)
    if (!json && !effective.values.dryRun) terminal.out(whatIsLeft(receipt))
    return { receipt, code }
  })
}

/** Says what to do with the files. Sluice never removes them. */
function whatIsLeft({ failure, rejected, unknown, unsent, inputs, deadLetters }: Receipt): string {
  if (failure !== undefined || unknown > 0 || unsent > 0) return ''
  const [first] = inputs
  const [files, them] =
    inputs.length === 1 && first !== undefined
      ? [first.name, 'the file']
      : [`the ${plural(inputs.length, 'file')}`, 'them']
  if (rejected === 0) return `\nEvery document in ${files} is stored. You can delete ${them}.\n`
  return `\n${plural(rejected, 'document')} left, in ${deadLetters}: replay this file next.\n`
}
