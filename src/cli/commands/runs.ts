import { basename } from 'node:path'
import type { Command } from 'commander'
import { fail, SluiceError } from '../../base/failure/failure.js'
import { forgetTimeline } from '../../features/report/kept-timeline.js'
import { diskProblem } from '../../base/disk/safe-files.js'
import type { RunEnd } from '../../run/state/checkpoint/checkpoint.js'
import { saveReport } from '../application/after-run.js'
import { nearestRun } from '../../run/state/runs/runs.js'
import { shown } from '../../base/text/shown.js'
import { endOfRun, forgetRun, type ListedRun, listRuns, type RunList } from './run-list.js'
import { addOptions } from '../terminal/help.js'
import { bytes, columns, count, plural } from '../terminal/columns.js'
import { runJson, showRun, took } from '../show/show-run.js'
import { localTime } from '../../base/time/clock.js'
import { loadOptions, sayWarnings, stateDir } from '../application/load-options.js'
import type { Terminal } from '../terminal/terminal.js'

export function defineRuns(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'runs')
    .argument('[run]', 'show the receipt of a run: its id from the list, or its file. rm: forget a run')
    .argument('[forgotten]', 'for rm: id of the run, its file, or name of spooled stdin')
    .addHelpText(
      'after',
      `
Examples:
  sluice runs
  sluice runs 20261121T100338Z-225173
  sluice runs 20261121T100338Z-225173 --report run.html
  sluice runs rm 20261121T100338Z-225173

The list also shows runs that were refused at their start, found nothing new, or
were undone.
The documents of a forgotten run stay in the index. The same command then starts
from the beginning. runs rm also deletes the stdin that the run kept on disk
(--spool), even if it is not loaded yet. Stdin without a run has its own line.
A load removes runs that are older than 90 days, and the oldest of more than
1,000 (--keep-runs 1000,90d). Sluice still knows their inputs. Runs that have
something left to load, or rejected documents that nobody replayed, stay.`,
    )
    .action(async (named: string | undefined, run: string | undefined, flags: Record<string, unknown>) => {
      const report = typeof flags['report'] === 'string' ? flags['report'] : defaultReport(flags, named)
      const effective = await loadOptions({ ...flags, report }, terminal)
      sayWarnings(effective, terminal)
      const folder = stateDir(effective, terminal)
      const { json } = effective.values
      if (report !== undefined && (named === undefined || named === 'rm'))
        throw invalid(`--report needs a run, as in sluice runs RUN --report ${report}`)
      if (named === undefined) {
        const list = await listRuns(folder)
        terminal.out(json ? `${JSON.stringify(list)}\n` : table(list))
      } else if (named === 'rm') {
        const removed = await remove(folder, run)
        const { runs, spools, broken } = removed
        terminal.out(json ? `${JSON.stringify({ removed: runs, spools, broken })}\n` : forgotten(removed))
      } else {
        if (run !== undefined) throw invalid(`takes one run, or rm and a run, but got '${named}' and '${run}'`)
        const end = (await endOfRun(folder, named)) ?? (await refuseUnknown(folder, named))
        if (report === undefined) terminal.out(json ? runJson(end) : showRun(end))
        else await writeReport(end, { path: report, stateDir: folder }, terminal)
      }
      done(0)
    })
}

/** Returns the file of a report whose name the user left out. */
function defaultReport({ report }: Record<string, unknown>, run = 'RUN'): string | undefined {
  return report === true ? `sluice-report-${run.replaceAll(/[^\w.-]/g, '-')}.html` : undefined
}

/** Throws SluiceError OPTION_INVALID. */
async function writeReport(
  end: RunEnd,
  file: { readonly path: string; readonly stateDir: string },
  terminal: Terminal,
) {
  const { path } = file
  const { checkReportFile } = await import('../../features/report/kept-timeline.js')
  await checkReportFile(path)
  await saveReport(end, file, terminal).catch((error: unknown) => {
    throw fail('OPTION_INVALID', { option: '--report', problem: `${path} cannot be written: ${diskProblem(error)}` })
  })
  terminal.out(
    terminal.manner.json ? `${JSON.stringify({ run: end.run, report: path })}\n` : shown`The report is in ${path}.\n`,
  )
}

async function remove(folder: string, run: string | undefined): Promise<RunList> {
  if (run === undefined) throw invalid('rm needs a run. To list them, run `sluice runs`')
  const removed = await forgetRun(folder, run)
  for (const one of removed.runs) await forgetTimeline(folder, one.run)
  if (removed.runs.length + removed.spools.length + removed.broken.length > 0) return removed
  return await refuseUnknown(folder, run)
}

async function refuseUnknown(folder: string, run: string): Promise<never> {
  const { runs } = await listRuns(folder)
  const near = nearestRun(
    run,
    runs.map(one => one.run),
  )
  throw invalid(`there is no run '${run}' in ${folder}${near === undefined ? '' : `. Did you mean ${near}?`}`)
}

function table({ runs, spools, broken }: RunList): string {
  if (runs.length + spools.length + broken.length === 0) return 'No runs.\n'
  // Only runs with --spool fill this column.
  const isSpooled = runs.some(({ spool }) => spool !== undefined)
  const spooled = (cell: string) => (isSpooled ? [cell] : [])
  const hasClusters = new Set(runs.flatMap(({ url }) => url ?? [])).size > 1
  const cluster = (cell: string) => (hasClusters ? [cell] : [])
  const times = ['when', 'took', 'result', 'exit']
  const head = ['run', ...times, ...cluster('cluster'), 'index', 'stored', 'rejected', ...spooled('spooled'), 'inputs']
  const rows = runs.map(one => [
    one.run,
    localTime(one.began),
    one.status === 'running' ? '' : took(one.began, one.written),
    result(one),
    one.exit === undefined ? '' : String(one.exit),
    ...cluster(one.url ?? ''),
    one.index ?? '',
    stored(one),
    count(one.counts.rejected),
    ...spooled(one.spool === undefined ? '' : bytes(one.spool.bytes)),
    inputs(one),
  ])
  const unread = broken
    .map(
      ({ checkpoint, problem }) =>
        shown`broken: ${problem}. To remove it, run sluice runs rm ${basename(checkpoint)}\n`,
    )
    .join('')
  const unloaded = spools.map(one => [one.spool, localTime(one.written), bytes(one.bytes), one.path])
  return [
    runs.length === 0 ? '' : columns([head, ...rows]),
    spools.length === 0 ? '' : columns([['spool of no run', 'written', 'spooled', 'folder'], ...unloaded]),
    unread,
  ].join('')
}

/** Returns how many documents are stored, deleted, or only queued: a managed ingest endpoint does not report what it stores. */
function stored({ counts, undone }: ListedRun): string {
  if (undone !== undefined && undone.isPart !== true) return '0'
  const { accepted, created, updated, noop, duplicate, deleted } = counts
  if (accepted > 0) return `${count(accepted)} queued`
  const isThere = created + updated + noop + duplicate
  if (deleted === 0) return count(isThere)
  return isThere === 0 ? `${count(deleted)} deleted` : `${count(isThere)}, ${count(deleted)} deleted`
}

function result({ status, failure, counts, undone }: ListedRun): string {
  if (undone !== undefined) {
    const what = undone.with === undefined ? `${count(undone.deleted)} deleted` : `with ${undone.with}`
    return `${undone.isPart === true ? 'partly undone' : 'undone'} ${localTime(undone.at)}, ${what}`
  }
  if (status === 'running') return 'running or killed'
  if (status === 'failed') return failure?.code ?? 'failed'
  return status === 'finished' && counts.read === 0 ? 'nothing new' : status
}

function inputs({ inputs: all, inputCount = all.length, sources }: ListedRun): string {
  const [first] = all
  if (all.length === 1 && first !== undefined && inputCount === 1) return first.name
  const [named = ''] = sources
  if (inputCount === 0) return sources.length > 1 ? `${named} and ${count(sources.length - 1)} more` : named
  const finished = all.filter(({ status }) => status === 'finished').length
  return finished === all.length
    ? plural(inputCount, 'input')
    : `${count(finished)} of ${plural(inputCount, 'input')} finished`
}

function forgotten({ runs, spools, broken }: RunList): string {
  const ofRuns = runs.map(({ run, index, spool }) => {
    const what = spool === undefined ? '' : `, and ${bytes(spool.bytes)} of spooled stdin deleted`
    return shown`Run ${run}${index === undefined ? '' : ` into ${index}`} is forgotten${what}.\n`
  })
  return [
    ...ofRuns,
    ...spools.map(one => shown`${bytes(one.bytes)} of spooled stdin deleted: ${one.path}\n`),
    ...broken.map(one => shown`${one.checkpoint} is removed.\n`),
  ].join('')
}

function invalid(problem: string): SluiceError {
  return fail('OPTION_INVALID', { option: 'sluice runs', problem })
}
