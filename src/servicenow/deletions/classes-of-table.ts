/** Tables that extend another one hold its rows: a deletion is noted under the table that the row was of, which its class names. */
import type { Instance } from '../instance.js'
import { CLASS } from './list-ids.js'
import { askPage } from '../table/table-page.js'
import { stored } from '../table/table-row.js'

/** Names that fit into a query, with their commas encoded. */
const MOST_CHARACTERS = 1200
const MOST_ROWS = 10_000

/**
 * Adds the classes of the rows that the table shows to those that are known: one request for each that is new, and one more. None where
 * its rows have no class. Classes of hidden rows may be missing. False: there are too many to name them all, or the platform does not
 * tell them apart. Throws SluiceError SERVICENOW_*.
 */
export async function addClassesOf(
  instance: Instance,
  table: string,
  known: Set<string>,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    if (encodeURIComponent([...known].join(',')).length > MOST_CHARACTERS) return false
    const found = await anotherClass(instance, table, [...known], signal)
    if (found === undefined) return true
    if (known.has(found)) return false
    known.add(found)
  }
}

/** Of any row that is of none of these classes. Rows may be hidden: a page without any is asked for again, larger. */
async function anotherClass(
  instance: Instance,
  table: string,
  known: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = `${CLASS}NOT IN${known.join(',')}`
  for (let limit = 1; ; limit = Math.min(MOST_ROWS, limit * 20)) {
    const { rows, total } = await askPage(instance, { table, query, limit, fields: ['sys_id', CLASS] }, signal)
    const [first] = rows
    if (first !== undefined) return stored(first[CLASS]) === '' ? undefined : stored(first[CLASS])
    if (limit >= (total ?? MOST_ROWS) || limit === MOST_ROWS) return undefined
  }
}
