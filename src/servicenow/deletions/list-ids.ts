/** Lists the ids of every row that a table shows. Rows that are gone are missing from the list. */
import { parseQuery, queryWith } from '../table/encoded-query.js'
import type { IdSet } from './id-set.js'
import type { Instance } from '../instance.js'
import { askPage, pageSize } from '../table/table-page.js'
import { bySysId, stored } from '../table/row.js'
import { walkTable } from '../table/walk-table.js'
import { isTruncated } from '../calls/judge-table-answer.js'

/** Selects rows of one table. */
export interface RowSelection {
  readonly table: string
  /** Encoded query. */
  readonly query: string
}

export interface Listing extends RowSelection {
  /** Whether rows show their class in its display form too. */
  readonly isDisplayed: boolean
  readonly signal: AbortSignal
}

/** Ids of rows, and the classes of these rows. */
export interface KnownRows {
  readonly ids: IdSet
  readonly classes: Set<string>
}

/** Rows per request, halved if the instance gives up on a page. */
const MOST_ROWS = 10_000

/** Resolves when every row is known. Throws SluiceError SERVICENOW_*, RUN_INTERRUPTED: then not all are. */
export async function listIds(
  instance: Instance,
  { table, query, isDisplayed, signal }: Listing,
  known: KnownRows,
): Promise<void> {
  const pages = walkTable(
    {
      order: bySysId,
      from: undefined,
      time: 'sys_updated_on',
      size: pageSize(MOST_ROWS),
      table,
      fields: ['sys_id', CLASS],
      displayValue: isDisplayed ? 'all' : 'false',
      instance,
      query: parseQuery(query),
      signal,
    },
    () => undefined,
  )
  for await (const { rows, keys } of pages) {
    for (const { id } of keys) known.ids.add(id)
    for (const row of rows) for (const name of classesOf(row)) known.classes.add(name)
  }
}

/**
 * The field that names the class of a row in a shared table. Absent if no table extends it, or if the user may not
 * read it.
 */
export const CLASS = 'sys_class_name'

/** Returns the class of a row or document, in every form that it shows. */
export function classesOf({ [CLASS]: cell }: Readonly<Record<string, unknown>>): string[] {
  const forms: unknown[] = typeof cell === 'object' && cell !== null ? Object.values(cell) : [cell]
  return forms.filter(form => typeof form === 'string' && form !== '') as string[]
}

/** The characters left for the query in a URL of 2,048. */
const QUERY_LENGTH = 1750
/** A sys_id with its comma, encoded. */
const ID_LENGTH = 35

/** Throws SluiceError SERVICENOW_*, RUN_INTERRUPTED. */
export async function stillThere(
  instance: Instance,
  selected: RowSelection,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const there = new Set<string>()
  const most = mostIds(selected)
  for (let at = 0; at < ids.length; at += most) {
    await look(instance, selected, ids.slice(at, at + most), signal, there)
  }
  return there
}

/** Each part of a query names them. */
function mostIds({ query }: RowSelection): number {
  const parsed = parseQuery(query)
  const room = QUERY_LENGTH - encodeURIComponent(queryOf(query, [])).length
  return Math.max(1, Math.floor(room / ID_LENGTH / parsed.parts.length))
}

function queryOf(query: string, ids: readonly string[]): string {
  return queryWith(parseQuery(query), `sys_idIN${ids.join(',')}`, 'ORDERBYsys_id')
}

async function look(
  instance: Instance,
  selected: RowSelection,
  ids: readonly string[],
  signal: AbortSignal,
  there: Set<string>,
): Promise<void> {
  const page = await ask(instance, selected, ids, signal)
  const seen = new Set(page?.rows.map(row => stored(row['sys_id'])))
  for (const id of seen) there.add(id)
  // The platform counts rows before it hides any. Without a count, no row is known to be gone.
  const hidden = page?.total === undefined ? Infinity : page.total - seen.size
  if (hidden <= 0) return
  const left = ids.filter(id => !seen.has(id))
  if (left.length === 1) return void there.add(left[0] ?? '')
  const middle = left.length >> 1
  for (const half of [left.slice(0, middle), left.slice(middle)])
    if (half.length > 0) await look(instance, selected, half, signal, there)
}

/** Returns undefined if the instance gave up on this many ids. */
async function ask(instance: Instance, { table, query }: RowSelection, ids: readonly string[], signal: AbortSignal) {
  const request = { table, query: queryOf(query, ids), limit: ids.length, fields: ['sys_id'] }
  try {
    return await askPage(instance, request, signal)
  } catch (error) {
    if (ids.length > 1 && isTruncated(error)) return undefined
    throw error
  }
}
