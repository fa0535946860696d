/** What was planted against what was named first, as tables of docs/diagnosis.md. */
import type { FailureCode } from '../../src/base/failure/failure.js'
import type { Asked, Class, Part } from './cause.js'
import { seenAt } from './threads.js'

export interface Outcome {
  readonly planted: string
  readonly on: Part
  readonly by: Asked['by']
  readonly expected: Class
  readonly named: Class
  /** What the message tells besides, and what is named further down. */
  readonly says?: string
  readonly beside?: FailureCode
}

/** A summary, the matrix, and all rows. `world`: on what it was planted, in words. */
export function renderOutcomes(world: string, outcomes: readonly Outcome[], isReal: boolean): string {
  const planted = outcomes.filter(({ expected }) => expected !== 'nothing')
  const healthy = outcomes.filter(({ expected }) => expected === 'nothing')
  const right = (some: readonly Outcome[]) => some.filter(({ expected, named }) => named === expected).length
  return [
    `**${planted.length} causes planted, ${right(planted)} named right**, and ${healthy.length} set-ups in which nothing is wrong, ` +
      `${right(healthy)} of them without a finding. ${world}`,
    '',
    ...table(['class', 'planted', 'named first'], matrixRows(outcomes)),
    '',
    ...tableOf(outcomes, isReal),
  ].join('\n')
}

/** A head, and a row for each outcome. */
export function tableOf(outcomes: readonly Outcome[], isReal: boolean): string[] {
  return table(
    ['planted', ...(isReal ? ['on'] : []), 'asked', 'named first', 'seen at'],
    outcomes.map(outcome => {
      const { planted, on, by } = outcome
      return [planted, ...(isReal ? [on] : []), by, tellNamed(outcome), seenAt(planted)]
    }),
  )
}

/** One row for each class: the cells of a row of the matrix that are not 0. */
function matrixRows(outcomes: readonly Outcome[]): string[][] {
  const classes = [...new Set(outcomes.map(({ expected }) => expected))]
  return classes.map(one => {
    const row = outcomes.filter(({ expected }) => expected === one)
    const names = [...new Set(row.map(({ named }) => named))]
    const cells = names.map(name => `${tell(name)} ${row.filter(({ named }) => named === name).length}`)
    return [tell(one), String(row.length), cells.join(', ')]
  })
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)]
}

export function tell(code: Class): string {
  return code === 'nothing' ? 'nothing' : `\`${code}\``
}

function tellNamed({ named, says, beside }: Outcome): string {
  const words = says === undefined ? '' : `: “${says}”`
  return tell(named) + words + (beside === undefined ? '' : `; then ${tell(beside)}`)
}

const marks = (name: string) => [`<!-- begin: ${name} -->\n`, `\n<!-- end: ${name} -->`] as const

/** What stands between the marks of a section. */
export function sectionOf(page: string, name: string): string {
  const { from, to } = placeOf(page, name)
  return page.slice(from, to)
}

export function withSection(page: string, name: string, text: string): string {
  const { from, to } = placeOf(page, name)
  return page.slice(0, from) + text + page.slice(to)
}

function placeOf(page: string, name: string): { readonly from: number; readonly to: number } {
  const [begin, end] = marks(name)
  const from = page.indexOf(begin) + begin.length
  const to = page.indexOf(end, from - 1)
  if (from < begin.length || to === -1) throw new Error(`docs/diagnosis.md has no section ${name}`)
  return { from, to: Math.max(from, to) }
}
