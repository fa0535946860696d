import type { Condition, Query } from './query.js'
import type { SortedRows } from './sorted-rows.js'

/** Neighbouring places of an order. */
export interface Stretch {
  readonly from: number
  /** The first place behind it. */
  readonly to: number
  /** Whether the query means every row of it; otherwise each must be looked at. */
  readonly isExact: boolean
}

/** Where in an order the rows lie that a query means, by what it says of the order's first field: the rest is not read. */
export function stretchesOf(order: SortedRows, { alternatives }: Query): readonly Stretch[] {
  const found = alternatives.map(clauses => stretchOf(order, clauses))
  const ends = [...new Set(found.flatMap(({ from, to }) => [from, to]))].toSorted((one, other) => one - other)
  // Alternatives overlap: what lies between two neighbouring ends is exact when it is so for any of them.
  return ends.flatMap((from, at) => {
    const to = ends[at + 1]
    const covering = to === undefined ? [] : found.filter(stretch => stretch.from <= from && stretch.to >= to)
    if (to === undefined || covering.length === 0) return []
    return { from, to, isExact: covering.some(({ isExact }) => isExact) }
  })
}

function stretchOf(order: SortedRows, clauses: readonly (readonly Condition[])[]): Stretch {
  const [field] = order.fields
  let [from, to] = [0, order.length]
  let bounds = 0
  for (const [condition, ...others] of clauses) {
    if (condition?.field !== field || others.length > 0) continue
    const { operator, value } = condition
    if (value === '' || !['>', '>=', '<', '<=', '='].includes(operator)) continue
    bounds++
    if (operator === '>' || operator === '>=' || operator === '=') {
      from = Math.max(from, order.placeOf(value, operator === '>'))
    }
    if (operator === '<' || operator === '<=' || operator === '=')
      to = Math.min(to, order.placeOf(value, operator !== '<'))
  }
  return { from, to: Math.max(from, to), isExact: bounds === clauses.length }
}
