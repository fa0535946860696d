/** Finds which rows still exist. A row that is hidden from the user still exists. */
import { isSluiceError } from '../../failure/sluice-error.js'
import { parseQuery, queryWith } from '../table/encoded-query.js'
import type { Instance } from '../instance.js'
import type { RowSelection } from './list-ids.js'
import { askPage } from '../table/table-page.js'
import { stored } from '../table/row.js'

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
  const request = {
    table,
    query: queryOf(query, ids),
    limit: ids.length,
    fields: ['sys_id'],
  }
  try {
    return await askPage(instance, request, signal)
  } catch (error) {
    if (ids.length > 1 && isSluiceError(error) && error.code === 'SERVICENOW_PAGE_TRUNCATED') return undefined
    throw error
  }
}
