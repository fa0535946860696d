import type { Receipt } from '../../index.js'
import { outcomes } from '../../base/operation.js'
import type { RunEnd, RunUndone } from '../../run/state/checkpoint/checkpoint.js'
import { localTime } from '../../base/time/clock.js'
import { shown } from '../../base/text/shown.js'
import { columns, count, plural, showDuration } from '../terminal/columns.js'
import { failureJson, sayFailure } from './say-error.js'
import { showReceipt } from './show-receipt.js'

/** Shows the receipt of a run as its command printed it, and when that was. */
export function showRun(end: RunEnd): string {
  const { failure } = end
  return [
    isReceipt(end) ? showReceipt(end) : showStart(end),
    '\n',
    columns(facts(end), '  '),
    failure === undefined ? '' : `\n${sayFailure(failure)}`,
  ].join('')
}

/** Shows the receipt as its command printed it with `--json`. */
export function runJson(end: RunEnd): string {
  const { failure } = end
  return `${JSON.stringify({ ...end, ...(failure === undefined ? {} : { failure: failureJson(failure) }) })}\n`
}

function isReceipt(end: RunEnd): end is RunEnd & Receipt {
  return end.thisProcess !== undefined
}

/** A run that never began has no receipt, and that of a killed one was never written. */
function showStart(end: RunEnd): string {
  const { run, status, read, inputs = [], target, deadLetters } = end
  const title = status === 'running' ? 'is running, or was killed' : `${status}, without a receipt`
  const counted = outcomes.filter(kind => (end[kind] ?? 0) > 0).map(kind => `${count(end[kind] ?? 0)} ${kind}`)
  const counts = read === undefined ? 'none' : [`${count(read)} read`, ...counted].join(', ')
  return [
    shown`Run ${run} ${title}\n\n`,
    columns(
      [
        ['documents', counts],
        ...(inputs.length === 0
          ? []
          : [['inputs', inputs.length === 1 ? `${inputs[0]?.name}` : plural(inputs.length, 'input')]]),
        ...(target?.url === undefined ? [] : [['cluster', target.url]]),
        ...(deadLetters === undefined ? [] : [['dead letters', deadLetters]]),
      ],
      '  ',
    ),
  ].join('')
}

function facts({ command, began, ended, exit, target, inputs = [], inputCount, undone }: RunEnd): string[][] {
  return [
    ['command', `sluice ${command}`],
    ...(target?.index === undefined ? [] : [['index', target.index]]),
    ['began', localTime(began)],
    ...(ended === undefined ? [] : [['ended', `${localTime(ended)}, after ${took(began, ended)}`]]),
    ...(exit === undefined ? [] : [['exit code', String(exit)]]),
    ...(undone === undefined
      ? []
      : [[undone.isPart === true ? 'partly undone' : 'undone', `${localTime(undone.at)}, ${whatUndone(undone)}`]]),
    ...(inputCount === undefined ? [] : [['', `${count(inputs.length)} of ${plural(inputCount, 'input')} are listed`]]),
  ]
}

/** Returns what an undo did to a run. The documents of a replay count for the run that had rejected them. */
function whatUndone({ deleted, with: run }: RunUndone): string {
  return run === undefined ? `${plural(deleted, 'document')} deleted` : `with run ${run}`
}

/** How long something lasted. */
export function took(began: string, ended: string): string {
  return showDuration(Math.max(0, Date.parse(ended) - Date.parse(began)))
}
