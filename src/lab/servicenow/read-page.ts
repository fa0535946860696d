import { type FieldReader, compareValues, matcher } from './matcher.js'
import type { Condition, Query } from './query.js'
import type { Row, Table } from './table.js'

export interface PageAsked {
  readonly offset: number
  readonly limit: number
  /** Whether the rows that the query means are counted. */
  readonly isCounted: boolean
}

export interface Page {
  readonly rows: readonly Row[]
  /** Rows that the query means, where they were counted. */
  readonly total: number | undefined
  /** Whether rows come behind this page. */
  readonly hasMore: boolean
}

/** The rows that a query means, from `offset` on. A table read by sys_id, or by time of update, costs no sorting. */
export function readPage(
  table: Table,
  query: Query,
  reader: FieldReader,
  { offset, limit, isCounted }: PageAsked,
): Page {
  const { rows, from, to, isExact } = candidates(table, query, reader)
  const end = offset + limit
  if (isExact) {
    const total = to - from
    const page = rows.slice(Math.min(from + offset, to), Math.min(from + end, to))
    return { rows: page, total: isCounted ? total : undefined, hasMore: total > end }
  }
  const isMeant = matcher(query, reader)
  const page: Row[] = []
  let count = 0
  for (let at = from; at < to && (isCounted || count <= end); at++) {
    const row = rows[at]
    if (row === undefined || !isMeant(row)) continue
    if (count >= offset && count < end) page.push(row)
    count++
  }
  return { rows: page, total: isCounted ? count : undefined, hasMore: count > end }
}

interface Candidates {
  /** In the order that is asked for. */
  readonly rows: readonly Row[]
  /** The stretch that the meant rows lie in. */
  readonly from: number
  readonly to: number
  /** Whether every row of the stretch is meant. */
  readonly isExact: boolean
}

function candidates(table: Table, query: Query, reader: FieldReader): Candidates {
  const order = [table.byId, table.byUpdate].find(({ fields }) => isOrder(query, fields))
  if (order) {
    const [field] = order.fields
    const bounds = query.alternatives.map(clauses => boundsOf(clauses, field))
    const starts = bounds.map(({ least }) => (least ? order.placeOf(least.value, least.operator === '>') : 0))
    const ends = bounds.map(({ most }) =>
      most ? order.placeOf(most.value, most.operator === '<=') : order.rows.length,
    )
    const from = Math.min(...starts)
    const to = Math.max(from, ...ends)
    return { rows: order.rows, from, to, isExact: bounds.length === 1 && bounds[0]?.isAll === true }
  }
  const listed = listedIds(query)?.flatMap(id => table.get(id) ?? [])
  const isMeant = matcher(query, reader)
  const rows = (listed ?? [...table.rows()]).filter(isMeant)
  if (query.orderBy.length > 0) rows.sort((one, other) => compareRows(one, other, query, reader))
  return { rows, from: 0, to: rows.length, isExact: true }
}

/** Whether the query asks for this order; what comes behind its last field, which is unique, changes nothing. */
function isOrder({ orderBy }: Query, fields: readonly string[]): boolean {
  return fields.every((field, at) => orderBy[at]?.field === field && !orderBy[at].isDescending)
}

/** Bounds of a field that all rows of an alternative keep, and whether they are all that it says. */
function boundsOf(
  clauses: readonly (readonly Condition[])[],
  field: string,
): { least?: Condition; most?: Condition; isAll: boolean } {
  const alone = clauses.flatMap(([condition, ...others]) => (condition && others.length === 0 ? [condition] : []))
  const own = alone.filter(condition => condition.field === field)
  const [least, ...lower] = own.filter(({ operator }) => operator === '>' || operator === '>=')
  const [most, ...upper] = own.filter(({ operator, value }) => (operator === '<' || operator === '<=') && value !== '')
  const said = (least ? 1 : 0) + (most ? 1 : 0)
  const isAll = said === clauses.length && lower.length === 0 && upper.length === 0
  return { ...(least && { least }), ...(most && { most }), isAll }
}

/** The sys_ids that a query names, where it names them all: one alternative with `sys_id=` or `sys_idIN`. */
function listedIds({ alternatives }: Query): string[] | undefined {
  if (alternatives.length !== 1) return undefined
  const clause = alternatives[0]?.find(
    ([first, ...others]) =>
      others.length === 0 && first?.field === 'sys_id' && (first.operator === '=' || first.operator === 'IN'),
  )
  return clause?.[0] && [...new Set(clause[0].value.split(',').map(id => id.trim()))]
}

function compareRows(one: Row, other: Row, { orderBy }: Query, reader: FieldReader): number {
  for (const { field, isDescending } of orderBy) {
    const order = compareValues(reader.read(one, field), reader.read(other, field), reader.fieldOf(field))
    if (order !== 0) return isDescending ? -order : order
  }
  return 0
}
