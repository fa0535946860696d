import { parseQuery, queryWith } from './encoded-query.js'
import type { IdSet } from './id-set.js'
import type { Instance } from '../../../route/servicenow/instance.js'
import { askPage, isTruncated, pageSize } from './table-page.js'
import { bySysId, stored } from './row.js'
import { walkTable } from './walk-table.js'

export interface RowSelection {
  readonly table: string
  /** Encoded query. */
  readonly query: string
}

export interface KnownRows {
  readonly ids: IdSet
  readonly classes: Set<string>
}

/** Rows per request, halved if the instance gives up on a page. */
const MOST_ROWS = 10_000

/** Adds the ids of all rows that the table shows. Throws SluiceError SERVICENOW_*, RUN_INTERRUPTED. */
export async function listIds(
  instance: Instance,
  { table, query }: RowSelection,
  displayValue: 'false' | 'all',
  known: KnownRows,
  signal: AbortSignal,
): Promise<void> {
  const pages = walkTable({
    order: bySysId,
    time: 'sys_updated_on',
    size: pageSize(MOST_ROWS),
    table,
    fields: ['sys_id', CLASS],
    displayValue,
    instance,
    query: parseQuery(query),
    signal,
  })
  for await (const { rows, keys } of pages) {
    for (const { id } of keys) known.ids.add(id)
    for (const row of rows) for (const name of classesOf(row)) known.classes.add(name)
  }
}

/** Absent if no table extends the row's table, or if the user may not read this field. */
export const CLASS = 'sys_class_name'

/** Returns the class of a row or document, as stored and as displayed. */
export function classesOf({ [CLASS]: cell }: Readonly<Record<string, unknown>>): string[] {
  const forms: unknown[] = typeof cell === 'object' && cell !== null ? Object.values(cell) : [cell]
  return forms.filter(form => typeof form === 'string' && form !== '') as string[]
}

/** The characters left for the query in a URL of 2,048. */
const QUERY_LENGTH = 1750
/** A sys_id with its comma, encoded. */
const ID_LENGTH = 35

/** Returns those of the rows that exist, hidden or not. Throws SluiceError SERVICENOW_*, RUN_INTERRUPTED. */
export async function stillThere(
  instance: Instance,
  { table, query }: RowSelection,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const parsed = parseQuery(query)
  const queryFor = (part: readonly string[]) => queryWith(parsed, `sys_idIN${part.join(',')}`, 'ORDERBYsys_id')
  const there = new Set<string>()
  const look = async (part: readonly string[]): Promise<void> => {
    const request = { table, query: queryFor(part), limit: part.length, fields: ['sys_id'] }
    const page = await askPage(instance, request, signal).catch((error: unknown) => {
      if (part.length === 1 || !isTruncated(error)) throw error
    })
    const seen = new Set(page?.rows.map(row => stored(row['sys_id'])))
    for (const id of seen) there.add(id)
    // The count includes hidden rows. Without a count, no row is known to be gone.
    const hidden = page?.total === undefined ? Infinity : page.total - seen.size
    if (hidden <= 0) return
    const left = part.filter(id => !seen.has(id))
    if (left.length === 1) return void there.add(left[0] ?? '')
    const middle = left.length >> 1
    for (const half of [left.slice(0, middle), left.slice(middle)]) if (half.length > 0) await look(half)
  }
  // Each part of the query repeats the ids.
  const room = QUERY_LENGTH - encodeURIComponent(queryFor([])).length
  const most = Math.max(1, Math.floor(room / ID_LENGTH / parsed.parts.length))
  for (let at = 0; at < ids.length; at += most) await look(ids.slice(at, at + most))
  return there
}
