/** What a load of tables leaves in the index: docs/guide/servicenow.md. A row has an id, and its newest version counts. */
import type { After, Line, Load } from '../facts.js'
import type { Memory } from './memory.js'
import { judgeExit } from './receipt.js'
import { judgeFailure } from './refusals.js'

export function judgeTables(memory: Memory, load: Load, after: After): readonly string[] {
  const { ended, inputs, indexLost, isAgain, trouble } = load
  const rows = inputs.flatMap(({ lines }) => lines).filter(({ isBad }) => !isBad)
  const paths = inputs.map(({ path }) => path)
  const command = paths.join(' ')
  if (indexLost !== undefined) memory.indexLost(indexLost === 'made anew')
  memory.expected.begin(rows)
  const gone = paths.flatMap(path => memory.rows.get(path) ?? []).filter(({ n }) => !rows.some(one => one.n === n))
  if (load.reconciles === true) memory.keyed?.mayBeGone(gone)
  const twice = doubles(after)
  if (ended.isKilled === true || ended.code !== undefined) {
    memory.read.delete(command)
    note(memory, load)
    return [...twice, ...judgeFailure(memory, load, [])]
  }
  const before = isAgain ? [] : (memory.read.get(command) ?? [])
  const fresh = rows.filter(row => !before.some(({ n, v }) => n === row.n && v === row.v))
  const isUnsettled = indexLost !== undefined || paths.some(path => memory.unsettled.has(path))
  if (isUnsettled) memory.lenient('tables whose index was lost, or whose load did not end well')
  const isCalm = trouble === 'none' && !isUnsettled
  if (indexLost === undefined) {
    memory.expected.finish(rows)
    if (load.reconciles === true) memory.keyed?.gone(gone)
  }
  note(memory, load)
  if (indexLost === undefined) memory.read.set(command, rows)
  const read = ended.thisProcess?.read
  const isWrong = isCalm && read !== fresh.length
  return [
    ...twice,
    ...(isWrong ? [`the receipt says ${read ?? 'nothing'} read, and not ${fresh.length}`] : []),
    ...judgeExit(load),
  ]
}

/** Notes each version of a row that may be in the index. */
function note(memory: Memory, { inputs, ended, reconciles, indexLost }: Load): void {
  const isWell = ended.isKilled !== true && ended.code === undefined
  for (const { path, lines } of inputs) {
    const good = lines.filter(({ isBad }) => !isBad)
    const before = isWell && reconciles === true ? [] : (memory.rows.get(path) ?? [])
    memory.rows.set(path, [...before.filter(({ n }) => !good.some(one => one.n === n)), ...good])
    // Whether rows were read before the index was lost, or after it, is not seen.
    if (isWell && indexLost === undefined) memory.unsettled.delete(path)
    else memory.unsettled.add(path)
  }
}

function doubles({ index }: After): string[] {
  const seen = new Set<number>()
  const twice: Line['n'][] = []
  for (const { n } of index) {
    if (seen.has(n)) twice.push(n)
    seen.add(n)
  }
  return twice.map(n => `doubled: row ${n} is there under two ids`)
}
