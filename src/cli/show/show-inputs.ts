import type { InputReceipt, Receipt } from '../../index.js'
import { localTime } from '../../base/time/clock.js'
import { columns, count, plural } from '../terminal/columns.js'

/** Most inputs that are shown by name. */
const NAMED = 10

/** Returns whether there was nothing to load: earlier runs, or earlier processes of this run, have loaded every input. */
export function isNothingNew({ inputs, failure }: Receipt): boolean {
  return failure === undefined && inputs.length > 0 && inputs.every(({ alreadyLoaded }) => alreadyLoaded === true)
}

/** Returns whether commands before this one have loaded all of a job on a queue. */
export function isDoneBefore({ job, thisProcess, failure }: Receipt): boolean {
  return job?.before !== undefined && thisProcess.read === 0 && failure === undefined
}

/** Says which part of a job this command has loaded. The counts of a job are those of all commands. */
export function loadedBefore({ job, thisProcess }: Receipt): string[][] {
  if (job?.before === undefined) return []
  const { documents, until } = job.before
  return [
    ['this command', `loaded ${plural(thisProcess.read, 'document')} of the job`],
    ['before', `${plural(documents, 'document')} of the job, until ${localTime(until)}`],
  ]
}

/** Returns who loaded the inputs, and when. */
export function whoLoaded({ inputs }: Receipt): string {
  const [first] = inputs
  const what = inputs.length === 1 ? `${first?.name} was` : `All ${count(inputs.length)} files were`
  const runs = new Map(inputs.flatMap(({ loadedBy: by }) => (by === undefined ? [] : [[by.run, by]])))
  const [last] = [...runs.values()].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
  if (last === undefined) return `${what} already loaded by this run`
  const by = `by run ${last.run} on ${localTime(last.at)}`
  return runs.size === 1 ? `${what} loaded ${by}` : `${what} loaded before, the last one ${by}`
}

/** Returns the first names as rows of a table, and how many more there are. */
export function named<T>(all: readonly T[], row: (one: T) => readonly string[]): (readonly string[])[] {
  const more = all.length - NAMED
  const rows = all.slice(0, NAMED).map(row)
  return more > 0 ? [...rows, ['', `and ${count(more)} more`]] : rows
}

const order = ['changed', 'continues', 'new', 'known'] as const

/** Lists what a load would do with each input. */
export function showPlan({ inputs }: Receipt): string {
  const sorted = order.flatMap(kind => inputs.filter(({ plan }) => plan === kind))
  const sums = order.flatMap(kind => {
    const many = inputs.filter(({ plan }) => plan === kind).length
    return many === 0 ? [] : [`${count(many)} ${kind}`]
  })
  const shown = sorted.slice(0, NAMED).map(input => [input.plan ?? '', input.name, planned(input)])
  const more = sorted.length - NAMED
  const rest = more > 0 ? `  and ${count(more)} more\n` : ''
  return `${plural(inputs.length, 'input')}: ${sums.join(', ')}\n\n${columns(shown, '  ')}${rest}`
}

function planned({ plan, resumedAt, since, loadedBy, failure }: InputReceipt): string {
  const by = loadedBy === undefined ? '' : `run ${loadedBy.run} on ${localTime(loadedBy.at)}`
  if (failure !== undefined) return failure.message
  if (plan === 'known') return by === '' ? 'loaded by this run' : `loaded by ${by}`
  if (plan === 'changed') return `the content has changed since ${by}, so Sluice loads the whole file`
  const changes = since === undefined ? [] : [`changes since ${since}`]
  const from = resumedAt === undefined ? [] : [`at document ${count(resumedAt)}`]
  const before = by === '' || plan !== 'continues' ? [] : [`after ${by}`]
  return [...changes, ...from, ...before].join(', ')
}
