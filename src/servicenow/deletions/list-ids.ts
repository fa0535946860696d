/** Lists the ids of every row that a table shows. Rows that are gone are missing from the list. */
import { ignored, parseQuery, queryWith } from '../table/encoded-query.js'
import type { IdSet } from './id-set.js'
import type { Instance } from '../instance.js'
import { askPage, pageSize } from '../table/table-page.js'
import { bySysId } from '../table/row-order.js'
import { walkTable } from '../table/walk-table.js'

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
  const parsed = parseQuery(query)
  const pages = walkTable(
    {
      order: bySysId,
      from: undefined,
      time: 'sys_updated_on',
      size: pageSize(MOST_ROWS),
      table,
      fields: ['sys_id', CLASS],
      displayValue: isDisplayed ? 'all' : 'false',
      instance: instance.display,
      query: (condition, orderBy) => queryWith(parsed, condition, orderBy),
      ask: async request => await askPage(instance, request, signal),
      stray: ({ id }, part) => {
        throw ignored(instance.display, table, part, `the row ${id} is out of order`)
      },
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
