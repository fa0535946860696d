/** Rows that were deleted, as the platform's own table of deletions names them. */
import { parseQuery } from '../table/encoded-query.js'
import type { Instance } from '../instance.js'
import { askPage, pageSize, type TablePage } from '../table/table-page.js'
import { bySysId, platformTime, stored } from '../table/row.js'
import { walkTable } from '../table/walk-table.js'
import { fail } from '../../failure/fail.js'
import { CLASS } from './list-ids.js'

const AUDIT = 'sys_audit_delete'
const MOST_ROWS = 1000
/**
 * A long transaction dates its deletions near its own start. The next run reads this span again, which costs little.
 */
const OVERLAP_MS = 15 * 60_000

/**
 * Returns the time from which a new reader reads deletions. Throws SluiceError SERVICENOW_ACCESS_DENIED if the user
 * may not read them.
 */
export async function mayReadDeletions(
  instance: Instance,
  tables: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<string> {
  const query = queryOf(tables)
  const page = await askPage(instance, { table: AUDIT, query, limit: 10, fields: ['sys_id', 'documentkey'] }, signal)
  const isHidden = page.rows.length === 0 && (page.total ?? 0) > 0
  const isBlind = page.rows.length > 0 && page.rows.every(row => stored(row['documentkey']) === '')
  if (isHidden || isBlind) {
    const reason = isHidden
      ? 'all of its rows are hidden from the user'
      : 'its field documentkey is hidden from the user'
    const evidence = { instance: instance.display, request: `GET ${AUDIT}`, status: 200, reason }
    throw fail('SERVICENOW_ACCESS_DENIED', evidence)
  }
  return before(page)
}

export interface ReadDeletions {
  /** Ids of rows, as they come. */
  readonly ids: AsyncIterable<readonly string[]>
  /** Returns the time from which the next run reads. Call it after the last deletion came. */
  next(): string
}

export interface DeletionsAsked {
  /** Undefined: any table. */
  readonly tables: readonly string[] | undefined
  /** `yyyy-MM-dd HH:mm:ss` in UTC. Undefined: from the beginning. */
  readonly since: string | undefined
  readonly signal: AbortSignal
}

export function readDeletions(instance: Instance, { tables, since, signal }: DeletionsAsked): ReadDeletions {
  let next: string | undefined
  const pages = walkTable(
    {
      // Entries written during the reading may sort anywhere. The next run reads them.
      order: bySysId,
      from: undefined,
      time: 'sys_created_on',
      size: pageSize(MOST_ROWS),
      table: AUDIT,
      fields: ['sys_id', 'documentkey'],
      displayValue: 'false',
      instance,
      query: parseQuery(queryOf(tables, since)),
      signal,
    },
    page => (next ??= before(page)),
  )
  return { ids: keysIn(pages), next: () => next ?? platformTime(0) }
}

function queryOf(tables: readonly string[] | undefined, since?: string): string {
  const parts = [
    ...(tables === undefined ? [] : [`tablenameIN${tables.join(',')}`]),
    ...(since === undefined ? [] : [`sys_created_on>=${since}`]),
  ]
  return parts.join('^')
}

async function* keysIn(pages: AsyncIterable<TablePage>): AsyncGenerator<readonly string[]> {
  for await (const { rows } of pages) {
    yield [...new Set(rows.map(row => stored(row['documentkey'])).filter(key => key !== ''))]
  }
}

function before({ date }: TablePage): string {
  return platformTime(date - OVERLAP_MS)
}

/** Names that fit into a query, with their commas encoded. */
const MOST_CHARACTERS = 1200
const MOST_CLASS_ROWS = 10_000

/**
 * Adds the classes of the table's visible rows to the known ones, with one request per new class and one more. Adds
 * none if the rows have no class. Classes of hidden rows may be missing. Returns false if there are too many to name,
 * or if the platform does not tell them apart. Throws SluiceError SERVICENOW_*.
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

/**
 * Returns the class of a row outside the known classes. Rows may be hidden, so an empty page is requested again,
 * larger.
 */
async function anotherClass(
  instance: Instance,
  table: string,
  known: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = `${CLASS}NOT IN${known.join(',')}`
  for (let limit = 1; ; limit = Math.min(MOST_CLASS_ROWS, limit * 20)) {
    const { rows, total } = await askPage(instance, { table, query, limit, fields: ['sys_id', CLASS] }, signal)
    const [first] = rows
    if (first !== undefined) return stored(first[CLASS]) === '' ? undefined : stored(first[CLASS])
    if (limit >= (total ?? MOST_CLASS_ROWS) || limit === MOST_CLASS_ROWS) return undefined
  }
}
