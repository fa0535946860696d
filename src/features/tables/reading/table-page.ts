import { fail, isSluiceError, SluiceError } from '../../../base/failure/failure.js'
import type { Instance, Row, TableAnswer } from '../../../route/servicenow/instance.js'
import { isObject } from '../../../base/json/parse-json.js'

export interface TablePage {
  readonly rows: readonly Row[]
  /** Rows that the query finds, including hidden ones. Undefined: the platform did not send it. */
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
  readonly offset?: number | undefined
  /** Undefined for all fields. */
  readonly fields?: readonly string[] | undefined
  readonly displayValue?: 'false' | 'all' | undefined
  /** Whether the platform counts the rows that the query finds, which is expensive in a large table. Default true. */
  readonly isCounted?: boolean | undefined
}

export async function askPage(instance: Instance, asked: PageRequest, signal: AbortSignal): Promise<TablePage> {
  const { table, query, limit, offset = 0, fields, displayValue = 'false', isCounted = true } = asked
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
      ...(isCounted ? {} : { sysparm_no_count: 'true' }),
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
  if (!rows.every(isObject)) throw cutOffPage(display, asked, 'a list that also contains other values')
  const { link, date = '', 'x-total-count': count } = headers
  const total = typeof count === 'string' && /^\d+$/.test(count) ? Number(count) : undefined
  return { rows, total, hasNext: /;\s*rel="?next"?/.test(String(link)), date: Date.parse(date) }
}

function notAPage(result: unknown, date: string | undefined): string | undefined {
  if (!Array.isArray(result)) return 'no list of rows'
  return Number.isNaN(Date.parse(date ?? '')) ? 'no Date header' : undefined
}

export function cutOffPage(instance: string, { table, limit }: PageRequest, reason: string): SluiceError {
  return fail('SERVICENOW_PAGE_TRUNCATED', { instance, rows: limit, table, reason })
}

/** Rows per request: half if the instance gives up on a page, then slowly more. */
export interface PageSize {
  readonly rows: number
  /** The instance answered a page of this size. */
  worked(): void
  /** Notes that the instance gave up on a page with this number of rows. */
  halve(rows: number): void
}

const PAGES_BEFORE_GROWTH = 8
/** A size that has worked many times counts as too large after this many failures in a row. */
const FAILURES_OF_THE_PROVEN = 2

export function pageSize(most: number): PageSize {
  let rows = most
  let patience = PAGES_BEFORE_GROWTH
  let good = 0
  let grew = false
  /** The largest size that worked many times in a row. One failure with it may have other reasons. */
  let proven = 0
  let failures = 0
  return {
    get rows() {
      return rows
    },
    worked() {
      failures = 0
      if (++good >= PAGES_BEFORE_GROWTH) {
        grew = false
        proven = Math.max(proven, rows)
      }
      if (rows < proven) rows = Math.min(proven, rows * 2)
      else if (rows < most && good >= patience) {
        rows = Math.min(most, rows * 2)
        good = 0
        grew = true
      }
    },
    halve(given) {
      // After a failed attempt to grow, the next one waits longer.
      if (grew) patience = Math.min(patience * 2, 1024)
      grew = false
      rows = Math.max(1, Math.min(rows, Math.floor(given / 2)))
      if (given > proven || ++failures >= FAILURES_OF_THE_PROVEN) proven = Math.min(proven, rows)
      good = 0
    },
  }
}

/** Returns whether the instance gave up on a page. It may manage fewer rows. */
export function isTruncated(error: unknown): boolean {
  return isSluiceError(error) && error.code === 'SERVICENOW_PAGE_TRUNCATED'
}
