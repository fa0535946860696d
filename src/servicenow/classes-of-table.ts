/** Tables that extend another one hold its rows: a deletion is noted under the table that the row was of, which its class names. */
import { ignored } from './ignored.js'
import type { Instance } from './instance.js'
import { CLASS } from './list-ids.js'
import { bySysId } from './row-order.js'
import { askPage } from './table-page.js'
import { stored } from './table-row.js'

const MOST_CLASSES = 1000
const MOST_ROWS = 10_000

/**
 * The classes of the rows that the table shows, one request for each. None where its rows have no class. Classes of hidden rows may be
 * missing. Throws SluiceError SERVICENOW_*.
 */
export async function classesOfTable(instance: Instance, table: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = []
  while (found.length < MOST_CLASSES) {
    const next = await classBehind(instance, table, found.at(-1), signal)
    if (next === undefined) return found
    // MySQL sorts without regard to case, and so do names of tables.
    if (found.some(name => name.toLowerCase() === next.toLowerCase()))
      throw ignored(instance.display, table, `${CLASS}>${found.at(-1) ?? ''}`, `a row came whose ${CLASS} is ${next}`)
    found.push(next)
  }
  return found
}

/** The first class behind one. Rows may be hidden: a page without any is asked for again, larger. */
async function classBehind(
  instance: Instance,
  table: string,
  last: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const behind = last === undefined ? '' : `${CLASS}>${last}^`
  const query = `${behind}ORDERBY${CLASS}^${bySysId.orderBy}`
  for (let limit = 1; ; limit = Math.min(MOST_ROWS, limit * 20)) {
    const { rows, total } = await askPage(instance, { table, query, limit, fields: ['sys_id', CLASS] }, signal)
    const [first] = rows
    if (first !== undefined) return stored(first[CLASS]) === '' ? undefined : stored(first[CLASS])
    if (limit >= (total ?? MOST_ROWS) || limit === MOST_ROWS) return undefined
  }
}
