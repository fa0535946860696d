import { type Answer, json, noRecord } from './answers.js'
import type { Call } from './call.js'
import { fieldReader } from './field-reader.js'
import { pagingHeaders } from './paging-headers.js'
import { presenter } from './present-row.js'
import { parseQuery } from './query.js'
import { type Page, readPage } from './read-page.js'
import { pageAskedOf, presentationOf } from './read-parameters.js'
import type { Table } from './table.js'

/** GET of a table: a page of the rows that `sysparm_query` means. */
export function answerList(call: Call, username: string, table: Table): Answer {
  const { platform, url, method } = call
  const { database, acl, faults } = platform
  const reader = fieldReader(database, table)
  const query = parseQuery(url.searchParams.get('sysparm_query') ?? '', field => reader.fieldOf(field) !== undefined)
  const isVoid = query.invalid.length > 0 && platform.invalidQueryMeansNothing
  const asked = pageAskedOf(url)
  const nothing: Page = { rows: [], total: asked.isCounted ? 0 : undefined, hasMore: false }
  const page = isVoid ? nothing : readPage(table, query, reader, asked)
  // Rows that the user may not see are missing from the page. So a page may be short or empty although more pages follow.
  const isHidden = acl.hides(username, table)
  const rows = page.rows.filter(row => !isHidden(row)).map(presenter(database, table, presentationOf(url)))
  if (rows.length === 0 && url.pathname.startsWith('/api/now/v1/')) return noRecord()
  const answer = json(200, { result: rows }, pagingHeaders(url, asked, page))
  const { quota } = faults.current
  const isOver = quota !== undefined && rows.length > quota.rows && faults.strike('quota', 'table', method)
  return isOver ? { ...answer, body: cancelledBody(rows.slice(0, quota.rows), quota.json) } : answer
}

/** Returns a page that exceeded the execution time: the rows so far, and then an error. */
function cancelledBody(rows: readonly unknown[], form: 'malformed' | 'valid' = 'malformed'): string {
  const message = 'Transaction cancelled: maximum execution time exceeded'
  if (form === 'malformed') {
    const error = { detail: `${message}. Check logs for error trace.`, message }
    const written = rows.map(row => JSON.stringify(row)).join(',')
    return `{"result":[${written}""],"error":${JSON.stringify(error)},"status":"failure"}`
  }
  const hint = 'Check logs for error trace or enable glide.rest.debug property to verify REST request processing'
  return JSON.stringify({ result: [...rows, ''], error: { message, detail: `${message} ${hint}` }, status: 'failure' })
}
