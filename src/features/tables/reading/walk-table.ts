import { isSluiceError } from '../../../base/failure/failure.js'
import { type PageRequest, type PageSize, type TablePage, askPage, cutOffPage, isTruncated } from './table-page.js'
import { type EncodedQuery, ignored, queryWith } from './encoded-query.js'
import type { Instance } from '../../../route/servicenow/instance.js'
import { type RowCursor, type Followed, type Key, rowKey, type RowOrder, type TimeField } from './row.js'

/** Rows of a request for keys only. */
const MOST_KEYS = 10_000

interface Search {
  readonly order: RowOrder
  /** Undefined to begin at the start. */
  readonly from?: RowCursor | undefined
  readonly time: TimeField
  readonly size: PageSize
  readonly table: string
  readonly instance: Instance
  readonly query: EncodedQuery
  readonly signal: AbortSignal
}

export interface Walk extends Search {
  /** Undefined for all fields. */
  readonly fields: readonly string[] | undefined
  readonly displayValue: 'false' | 'all'
  /** Describes a row out of order: the platform did not understand the condition or the order. */
  stray?(row: Key): string
}

export interface WalkedPage extends TablePage {
  readonly keys: readonly Key[]
  readonly cursors: readonly (RowCursor | undefined)[]
}

/**
 * Yields each row that keeps its position once, in order. The platform applies the page limit before it hides rows, so
 * neither a short page nor an empty one is the end. `seen` receives every answer.
 */
export async function* walkTable(walk: Walk, seen: (page: TablePage) => void = () => {}): AsyncGenerator<WalkedPage> {
  const { order, time, stray = strayById } = walk
  let cursor = walk.from
  let isAskedAgain = false
  // The first count is for the progress, and an empty page needs one.
  let isCounted = true
  for (;;) {
    const condition = order.condition(cursor)
    const { page, limit } = await askSized(walk, condition, isCounted)
    seen(page)
    const wasCounted = isCounted
    // After a short page, the next one is most likely empty.
    isCounted = page.rows.length < limit
    if (page.rows.length === 0) {
      if (!wasCounted) continue
      // Only an empty page can be the last. After a full one, deleted rows may have moved others.
      if (isEnd(page, 0, limit)) return
      const next = await nextVisible({ ...walk, from: cursor }, Infinity, seen)
      if (next === undefined) return
      cursor = next
      continue
    }
    const keys = page.rows.map(row => rowKey(row, time))
    const followed = order.follow(keys, cursor)
    if ('stray' in followed) {
      const part = condition === '' ? order.orderBy : condition
      throw ignored(walk, part, stray(followed.stray))
    }
    isAskedAgain = followed.isDoubtful && !isAskedAgain
    if (isAskedAgain) continue
    yield { ...page, keys, cursors: followed.cursors }
    cursor = followed.cursors.at(-1)
  }
}

function strayById({ id }: Key): string {
  return `the row ${id} is out of order`
}

async function askSized(
  walk: Walk,
  condition: string,
  isCounted: boolean,
): Promise<{ page: TablePage; limit: number }> {
  const { size, fields, displayValue } = walk
  for (;;) {
    const limit = size.rows
    const page = await ask(walk, condition, { limit, fields, displayValue, isCounted })
    if (page === undefined) {
      size.halve(limit)
      continue
    }
    size.worked()
    return { page, limit }
  }
}

/** Returns undefined if the instance gave up on the page. Throws if the page had only one row. */
async function ask(
  { instance, table, query, order, signal }: Search,
  condition: string,
  asked: Omit<PageRequest, 'table' | 'query'>,
): Promise<TablePage | undefined> {
  const request = { ...asked, table, query: queryWith(query, condition, order.orderBy) }
  try {
    return await askPage(instance, request, signal)
  } catch (error) {
    if (!isTruncated(error)) throw error
    if (request.limit > 1) return undefined
    const reason = isSluiceError(error) ? String(error.failure.evidence.reason) : ''
    throw cutOffPage(instance.display, request, reason)
  }
}

/** Finds the first visible row after the cursor: requests keys, in larger and larger pages. Hidden rows cost no bytes. */
export async function nextVisible(
  walk: Search,
  requests: number,
  seen: (page: TablePage) => void = () => {},
): Promise<RowCursor | undefined> {
  const { order, from, time } = walk
  const fields = ['sys_id', time]
  // A size that the instance gave up on is never repeated, so the search ends.
  let most = MOST_KEYS
  let limit = Math.min(most, Math.max(1000, walk.size.rows * 2))
  let offset = 0
  let isAskedAgain = false
  for (let asked = 0; asked < requests; asked++) {
    const page = await ask(walk, order.condition(from), { limit, offset, fields })
    if (page === undefined) {
      limit = most = Math.ceil(limit / 2)
      continue
    }
    seen(page)
    if (page.rows.length > 0) {
      const keys = page.rows.map(row => rowKey(row, time))
      const followed = order.follow(keys, from)
      isAskedAgain = 'cursors' in followed && followed.isDoubtful && !isAskedAgain
      if (isAskedAgain) continue
      return { ...firstOf(keys, followed), includes: true }
    }
    if (isEnd(page, offset, limit)) return undefined
    // Windows overlap, because deleted rows move others forward.
    if (offset > 0 || limit === most) offset += limit - Math.floor(limit / 10)
    else limit = Math.min(most, limit * 2)
  }
  return undefined
}

/** Returns the first row in a correct position. The walk names rows that are out of order. */
function firstOf(keys: readonly Key[], followed: Followed): Key {
  const cursors = 'cursors' in followed ? followed.cursors : []
  const sure = keys.find(({ id, time }, at) => cursors[at]?.id === id && (cursors[at].time ?? time) === time)
  return sure ?? (keys[0] as Key)
}

/** Decides by the number of rows if the platform sends it, else by the Link header. */
function isEnd({ total, hasNext }: TablePage, offset: number, limit: number): boolean {
  return total === undefined ? !hasNext : offset + limit > total
}
