import { fail } from '../../failure/fail.js'
import { SluiceError } from '../../failure/sluice-error.js'
import type { Instance, TableAnswer } from '../instance.js'
import type { Row } from './table-row.js'

/** Some rows that stand one behind the other. */
export interface TablePage {
  readonly rows: readonly Row[]
  /** Rows that the query finds, hidden ones with them, as far as the platform told. */
  readonly total: number | undefined
  /** Whether the Link header names a next page. */
  readonly hasNext: boolean
  /** The instance's clock when it answered, in milliseconds since the epoch. */
  readonly date: number
}

export interface PageRequest {
  readonly table: string
  readonly query: string
  readonly limit: number
  readonly offset?: number
  /** Absent: every field. */
  readonly fields?: readonly string[]
  readonly displayValue?: 'false' | 'all'
}

/** Throws SluiceError SERVICENOW_*. */
export async function askPage(instance: Instance, asked: PageRequest, signal: AbortSignal): Promise<TablePage> {
  const { table, query, limit, offset = 0, fields, displayValue = 'false' } = asked
  const answer = await instance.call({
    method: 'GET',
    table,
    query: {
      sysparm_query: query,
      sysparm_limit: String(limit),
      ...(offset === 0 ? {} : { sysparm_offset: String(offset) }),
      ...(fields === undefined ? {} : { sysparm_fields: fields.join(',') }),
      sysparm_display_value: displayValue,
      sysparm_exclude_reference_link: 'true',
    },
    signal,
  })
  signal.throwIfAborted()
  return read(answer, instance, asked)
}

function read({ headers, result, status }: TableAnswer, { display }: Instance, asked: PageRequest): TablePage {
  const observed = notAPage(result, headers.date)
  if (observed !== undefined)
    throw fail('SERVICENOW_NOT_AN_INSTANCE', { instance: display, observed: `status ${status}, ${observed}` })
  const rows = result as readonly unknown[]
  if (!rows.every(isRow)) throw truncated(display, asked, 'a list with something else than rows in it')
  const { link, date = '', 'x-total-count': count } = headers
  const total = typeof count === 'string' && /^\d+$/.test(count) ? Number(count) : undefined
  return { rows, total, hasNext: /;\s*rel="?next"?/.test(String(link)), date: Date.parse(date) }
}

function notAPage(result: unknown, date: string | undefined): string | undefined {
  if (!Array.isArray(result)) return 'no list of rows'
  return Number.isNaN(Date.parse(date ?? '')) ? 'no Date header' : undefined
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function truncated(instance: string, { table, limit }: PageRequest, reason: string): SluiceError {
  return fail('SERVICENOW_PAGE_TRUNCATED', { instance, rows: limit, table, reason })
}
