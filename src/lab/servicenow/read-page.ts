import { type FieldReader, compareValues, matcher } from './matcher.js'
import type { Query } from './query.js'
import type { SortedRows } from './sorted-rows.js'
import { stretchesOf } from './stretches.js'
import type { Row } from './row.js'
import type { Table } from './table.js'

export interface PageAsked {
  readonly offset: number
  readonly limit: number
  /** Whether the matching rows are counted. */
  readonly isCounted: boolean
}

export interface Page {
  readonly rows: readonly Row[]
  /** Number of rows that match. Undefined if they were not counted. */
  readonly total: number | undefined
  /** Whether more rows follow this page. */
  readonly hasMore: boolean
}

/**
 * Returns the rows that match, from `offset` on. Sorts none if the query names them, or if it orders by sys_id or time of
 * update.
 */
export function readPage(table: Table, query: Query, reader: FieldReader, asked: PageAsked): Page {
  const isListed = listedIds(query) !== undefined
  const order = [table.byId, table.byUpdate].find(({ fields }) => !isListed && isOrder(query, fields))
  return order ? readInOrder(order, query, reader, asked) : readAndSort(table, query, reader, asked)
}

/** Whether the query asks for this order. The last field is unique, so further fields change nothing. */
function isOrder({ orderBy }: Query, fields: readonly string[]): boolean {
  return fields.every((field, at) => orderBy[at]?.field === field && !orderBy[at].isDescending)
}

function readInOrder(
  order: SortedRows,
  query: Query,
  reader: FieldReader,
  { offset, limit, isCounted }: PageAsked,
): Page {
  const end = offset + limit
  const page: Row[] = []
  let count = 0
  for (const { from, to, rest } of stretchesOf(order, query)) {
    if (!isCounted && count > end) break
    if (!rest) {
      const first = from + Math.max(0, offset - count)
      for (const row of order.between(first, Math.min(to, from + end - count))) page.push(row)
      count += to - from
      continue
    }
    const isMeant = matcher(rest, reader)
    for (const row of order.between(from, to)) {
      if (!isMeant(row)) continue
      if (count >= offset && count < end) page.push(row)
      count++
      if (!isCounted && count > end) break
    }
  }
  return { rows: page, total: isCounted ? count : undefined, hasMore: count > end }
}

function readAndSort(table: Table, query: Query, reader: FieldReader, { offset, limit, isCounted }: PageAsked): Page {
  const listed = listedIds(query)?.flatMap(id => table.get(id) ?? [])
  const found = (listed ?? [...table.rows()]).filter(matcher(query.alternatives, reader))
  const isOrdered = query.orderBy.length > 0
  const rows = isOrdered ? shuffleTies(table, found).sort((a, b) => compareRows(a, b, query, reader)) : found
  const end = offset + limit
  return { rows: rows.slice(offset, end), total: isCounted ? rows.length : undefined, hasMore: rows.length > end }
}

/** Rows with equal order fields come in a different order each time, because the query leaves it open. */
function shuffleTies(table: Table, rows: Row[]): Row[] {
  const turn = (table.readsWithTies++ * 7919) % Math.max(1, rows.length)
  return [...rows.slice(turn), ...rows.slice(0, turn)]
}

/** Returns the sys_ids of a query with one alternative that has `sys_id=` or `sys_idIN`. Undefined for any other query. */
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
