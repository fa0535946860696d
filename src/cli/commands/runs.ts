import { basename } from 'node:path'
import type { Command } from 'commander'
import { fail } from '../../failure/fail.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { nearest } from '../../options/nearest.js'
import { type KnownRun, listRuns, removeRun, type RunList } from '../../spool/run-list.js'
import { addOptions } from '../terminal/help.js'
import { bytes, columns, count, plural } from '../show/columns.js'
import { loadOptions, sayWarnings, stateDir } from '../load-options.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineRuns(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'runs')
    .argument('[action]', 'rm: forget a run')
    .argument('[run]', 'id from the list or the receipt, file of a checkpoint, or name of spooled stdin')
    .addHelpText(
      'after',
      `
Examples:
  sluice runs
  sluice runs rm 20261121T100338Z-225173

The documents of a forgotten run stay in the index. The same command then starts
from the beginning. runs rm also deletes stdin that the run kept on the disk
(--spool), loaded or not. Stdin that waits without a run has a line of its own.
Sluice keeps the last 20 earlier runs of a command, to verify and undo them.`,
    )
    .action(async (action: string | undefined, run: string | undefined, flags: Record<string, unknown>) => {
      const effective = await loadOptions(flags, terminal)
      sayWarnings(effective, terminal)
      const folder = stateDir(effective, terminal)
      const { json } = effective.values
      if (action === undefined) {
        const list = await listRuns(folder)
        terminal.out(json ? `${JSON.stringify(list)}\n` : table(list))
      } else {
        const removed = await remove(folder, action, run)
        const { runs, spools, broken } = removed
        terminal.out(json ? `${JSON.stringify({ removed: runs, spools, broken })}\n` : forgotten(removed))
      }
      done(0)
    })
}

async function remove(folder: string, action: string, run: string | undefined): Promise<RunList> {
  if (action !== 'rm') throw invalid(`'${action}' is unknown: write sluice runs rm RUN`)
  if (run === undefined) throw invalid('rm needs a run: run sluice runs to list them')
  const removed = await removeRun(folder, run)
  if (removed.runs.length + removed.spools.length + removed.broken.length > 0) return removed
  const { runs } = await listRuns(folder)
  const near = nearest(
    run,
    runs.map(one => one.run),
  )
  throw invalid(`there is no run '${run}' in ${folder}${near === undefined ? '' : `. Did you mean ${near}?`}`)
}

function table({ runs, spools, broken }: RunList): string {
  if (runs.length + spools.length + broken.length === 0) return 'No runs.\n'
  // Most have none.
  const isSpooled = runs.some(({ spool }) => spool !== undefined)
  const spooled = (cell: string) => (isSpooled ? [cell] : [])
  const head = ['run', 'status', 'written', 'index', 'stored', 'rejected', ...spooled('spooled'), 'inputs']
  const rows = runs.map(one => [
    one.run,
    (one.status === 'running' ? 'running or killed' : one.status) + (one.isEarlier ? ', earlier' : ''),
    one.written,
    one.index,
    count(one.counts.created + one.counts.updated + one.counts.duplicate),
    count(one.counts.rejected),
    ...spooled(one.spool === undefined ? '' : bytes(one.spool.bytes)),
    inputs(one),
  ])
  const unread = broken
    .map(({ checkpoint, problem }) => `broken: ${problem}. To remove it, run sluice runs rm ${basename(checkpoint)}\n`)
    .join('')
  const unloaded = spools.map(one => [one.spool, one.written, bytes(one.bytes), one.path])
  return [
    runs.length === 0 ? '' : columns([head, ...rows]),
    spools.length === 0 ? '' : columns([['spool of no run', 'written', 'spooled', 'folder'], ...unloaded]),
    unread,
  ].join('')
}

function inputs({ inputs: all }: KnownRun): string {
  const [first] = all
  if (all.length === 1 && first !== undefined) return first.name
  const finished = all.filter(({ status }) => status === 'finished').length
  return finished === all.length
    ? plural(all.length, 'input')
    : `${finished} of ${plural(all.length, 'input')} finished`
}

function forgotten({ runs, spools, broken }: RunList): string {
  const ofRuns = runs.map(({ run, index, spool }) => {
    const what = spool === undefined ? '' : `, and ${bytes(spool.bytes)} of spooled stdin deleted`
    return `Run ${run} into ${index} is forgotten${what}.\n`
  })
  return [
    ...ofRuns,
    ...spools.map(one => `${bytes(one.bytes)} of spooled stdin deleted: ${one.path}\n`),
    ...broken.map(one => `${one.checkpoint} is removed.\n`),
  ].join('')
}

function invalid(problem: string): SluiceError {
  return fail('OPTION_INVALID', { option: 'sluice runs', problem })
}
