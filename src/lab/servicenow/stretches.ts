import type { Condition, Query } from './query.js'
import type { SortedRows } from './sorted-rows.js'

/** Neighbouring places of an order. */
interface Interval {
  readonly from: number
  /** The first place behind it. */
  readonly to: number
}

export interface Stretch extends Interval {
  /** Whether the query means every row of it; otherwise each must be looked at. */
  readonly isExact: boolean
}

/** Where in an order the rows lie that a query means, by what it says of the order's first field: the rest is not read. */
export function stretchesOf(order: SortedRows, { alternatives }: Query): readonly Stretch[] {
  const all = alternatives.map(clauses => clauses.map(conditions => conditions.map(one => intervalOf(order, one))))
  const ends = all.flat(2).flatMap(interval => (interval ? [interval.from, interval.to] : []))
  const cuts = [...new Set([0, ...ends, order.length])].toSorted((one, other) => one - other)
  return cuts.slice(1).flatMap((to, at) => {
    const stretch = { from: cuts[at] ?? 0, to }
    const said = all.map(clauses => everyClause(clauses, stretch))
    if (said.every(one => one === 'none')) return []
    return [{ ...stretch, isExact: said.includes('all') }]
  })
}

/** Of the rows of a stretch, which ends where the intervals end: which of them an alternative, or a clause, holds for. */
type Holds = 'all' | 'none' | 'unknown'

function everyClause(clauses: readonly (readonly (Interval | undefined)[])[], stretch: Interval): Holds {
  const said = clauses.map((intervals): Holds => {
    const inside = intervals.map(interval => interval && interval.from <= stretch.from && interval.to >= stretch.to)
    if (inside.includes(true)) return 'all'
    return inside.includes(undefined) ? 'unknown' : 'none'
  })
  if (said.includes('none')) return 'none'
  return said.includes('unknown') ? 'unknown' : 'all'
}

/** The places that a condition on the order's first field means; undefined for every other condition. */
function intervalOf(order: SortedRows, { field, operator, value }: Condition): Interval | undefined {
  if (field !== order.fields[0] || value === '') return undefined
  const end = order.length
  switch (operator) {
    case '=':
      return { from: order.placeOf(value), to: order.placeOf(value, true) }
    case '>':
      return { from: order.placeOf(value, true), to: end }
    case '>=':
      return { from: order.placeOf(value), to: end }
    case '<':
      return { from: 0, to: order.placeOf(value) }
    case '<=':
      return { from: 0, to: order.placeOf(value, true) }
    default:
      return undefined
  }
}
