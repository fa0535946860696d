import type { Command } from 'commander'
import type { UndoOptions, Undone } from '../../index.js'
import { addOptions } from '../terminal/help.js'
import { balance, columns, count, countRows, plural } from '../terminal/columns.js'
import { confirm } from '../terminal/confirm.js'
import { interruptible } from '../terminal/interrupt.js'
import { loadForCluster, stateDir } from '../application/load-options.js'
import { showLookups } from '../terminal/pull-progress.js'
import { masked } from '../../base/secrets.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from '../terminal/terminal.js'
import { spareOptimising } from '../application/tune-engine.js'
import { fail } from '../../base/failure/failure.js'

interface Flags extends Record<string, unknown> {
  readonly yes?: boolean
  readonly force?: boolean
}

export function defineUndo(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'undo')
    .argument('<run>', 'id of the run (see sluice runs), or the path of its checkpoint')
    .option('--yes', 'delete without asking')
    .option('--force', 'also delete documents that changed since the run')
    .addHelpText(
      'after',
      `
Examples:
  sluice undo 20261121T100338Z-225173 --dry-run
  sluice undo 20261121T100338Z-225173 --yes

Sluice deletes by the ids of the run, from its checkpoint. This needs --ids run.
It keeps documents that changed since the run, and then ends with exit code 1.
When nothing is left, loads forget the run. If undo is interrupted, run it
again. For a guarded load, run sluice rollback first.`,
    )
    .action(async (run: string, { yes = false, force = false, ...flags }: Flags) => {
      const { effective, values, connecting } = await loadForCluster(flags, terminal)
      const { json, quiet, maxElapsedMs, dryRun } = values
      const options = {
        ...connecting,
        run,
        stateDir: stateDir(effective, terminal),
        maxElapsedMs,
        force,
        ...(json ? { listed: Infinity } : {}),
      }
      if (!yes && !dryRun) await askFirst(await runUndo({ ...options, dryRun: true }, terminal, quiet), terminal)
      const seen = await runUndo({ ...options, dryRun }, terminal, quiet)
      const undone = masked(seen, terminal.manner.secrets)
      terminal.out(json ? `${JSON.stringify(undone)}\n` : show(undone))
      done(undone.changed + undone.failed > 0 || (!dryRun && !undone.isComplete) ? 1 : 0)
    })
}

async function runUndo(options: UndoOptions, terminal: Terminal, quiet: boolean): Promise<Undone> {
  using interruption = interruptible(terminal, 'stopping')
  using progress = showLookups(terminal, quiet)
  const { undo } = await import('../../programs/verify/undo.js')
  spareOptimising()
  return await undo({ ...options, signal: interruption.signal, onProgress: progress.update })
}

/** Throws SluiceError UNDO_UNCONFIRMED. */
async function askFirst({ run, index, wouldDelete }: Undone, terminal: Terminal): Promise<void> {
  if (wouldDelete === 0) return
  const question = `Delete ${plural(wouldDelete, 'document')} of run ${run} from ${index}?`
  if ((await confirm(terminal, question)) === true) return
  throw fail('UNDO_UNCONFIRMED', { run, index, documents: wouldDelete })
}

function show(undone: Undone): string {
  const { run, dryRun, isComplete, index, cluster, changedIds, changed, failures, notes } = undone
  const how = dryRun ? 'this is a dry run. Sluice deletes nothing' : isComplete ? 'undone' : 'partly undone'
  return [
    shown`Run ${run}: ${how}\n\n`,
    columns(counts(undone), '  '),
    `\n  ${balance(['found', undone.found], partsOf(undone))}\n`,
    changedIds.length === 0
      ? ''
      : `\nChanged\n\n${columns(
          [...changedIds, ...(changed > changedIds.length ? [`… ${count(changed - changedIds.length)} more`] : [])].map(
            id => [id],
          ),
          '  ',
        )}`,
    failures.length === 0
      ? ''
      : `\nFailed\n\n${columns(
          failures.map(({ documents, type, status }) => [count(documents), type, `status ${status}`]),
          '  ',
        )}`,
    '\n',
    columns(
      [
        ['index', index],
        ['cluster', cluster],
        ['checkpoint', whatIsNext(undone)],
        ...notes.map(note => ['note', note]),
      ],
      '  ',
    ),
  ].join('')
}

function whatIsNext({ isComplete, goesBy, continuedBy, checkpoint }: Undone): string {
  if (!isComplete) return checkpoint
  if (continuedBy !== undefined) return `removed. Run ${continuedBy} continued it.`
  if (goesBy === undefined) return 'removed. The same command starts from the beginning.'
  return `removed. The same command continues run ${goesBy} and does not load its documents again.`
}

const meanings = {
  deleted: '',
  wouldDelete: '',
  changed: 'changed since the run and kept. --force deletes them too',
  failed: 'the cluster refused',
  gone: 'no longer existed',
} as const

function counts(undone: Undone): string[][] {
  const names = (Object.keys(meanings) as (keyof typeof meanings)[]).filter(
    name => undone[name] > 0 || name === (undone.dryRun ? 'wouldDelete' : 'deleted'),
  )
  return countRows([
    ['found', undone.found, ''],
    ...names.map(name => [label(name), undone[name], meanings[name]] as const),
  ])
}

function partsOf(undone: Undone): [string, number][] {
  const names = (['deleted', 'wouldDelete', 'changed', 'failed'] as const).filter(name => undone[name] > 0)
  return names.map(name => [label(name), undone[name]])
}

function label(name: keyof typeof meanings): string {
  return name === 'wouldDelete' ? 'would delete' : name
}
