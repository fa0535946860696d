import type { Condition, Query } from './query.js'
import type { SortedRows } from './sorted-rows.js'

/** Neighbouring places of an order. */
interface Interval {
  readonly from: number
  /** The first place after it. */
  readonly to: number
}

export interface Stretch extends Interval {
  /** The conditions to check for each row. Undefined if every row matches. */
  readonly rest: Query['alternatives'] | undefined
}

/**
 * Returns the parts of an order that may hold matching rows, by the conditions on its first field. Other rows are not
 * read.
 */
export function stretchesOf(order: SortedRows, { alternatives }: Query): readonly Stretch[] {
  const all = alternatives.map(clauses => clauses.map(conditions => conditions.map(one => intervalOf(order, one))))
  const ends = all.flat(2).flatMap(interval => (interval ? [interval.from, interval.to] : []))
  const cuts = [...new Set([0, ...ends, order.length])].toSorted((one, other) => one - other)
  return cuts.slice(1).flatMap((to, at) => {
    const stretch = { from: cuts[at] ?? 0, to }
    const rests = all.flatMap((clauses, which) => {
      const said = clauses.map(intervals => holdsFor(intervals, stretch))
      // Only clauses with an unknown result remain to be checked.
      return said.includes('none') ? [] : [(alternatives[which] ?? []).filter((_, i) => said[i] === 'unknown')]
    })
    if (rests.length === 0) return []
    return [{ ...stretch, rest: rests.some(clauses => clauses.length === 0) ? undefined : rests }]
  })
}

/** Returns for which rows of a stretch a clause holds. No interval begins or ends inside the stretch. */
function holdsFor(intervals: readonly (Interval | undefined)[], { from, to }: Interval): 'all' | 'none' | 'unknown' {
  const inside = intervals.map(interval => interval && interval.from <= from && interval.to >= to)
  if (inside.includes(true)) return 'all'
  return inside.includes(undefined) ? 'unknown' : 'none'
}

/** Returns the places that match a condition on the order's first field. Undefined for any other condition. */
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
