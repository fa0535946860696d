import { isSluiceError } from '../../failure/sluice-error.js'
import { isTruncated } from '../calls/judge-table-answer.js'
import { type PageRequest, type PageSize, type TablePage, truncated } from './table-page.js'
import type { Cursor, Followed, RowOrder } from './row-order.js'
import { type Key, keyOf, type TimeField } from './row.js'

/** Rows of one request that asks for keys alone. */
const MOST_KEYS = 10_000

interface Search {
  readonly order: RowOrder
  /** Behind it reading begins; absent: at the start. */
  readonly from: Cursor | undefined
  readonly time: TimeField
  readonly size: PageSize
  readonly table: string
  /** The instance, for messages. */
  readonly instance: string
  /** The query with a cursor's condition in every part, and the order. */
  query(condition: string, orderBy: string): string
  ask(request: PageRequest): Promise<TablePage>
}

export interface Walk extends Search {
  /** Absent: every field. */
  readonly fields: readonly string[] | undefined
  readonly displayValue: 'false' | 'all'
  /** A row that does not follow the cursor: the platform did not understand the condition, or the order. Throws. */
  stray(row: Key, part: string): never
}

/** A page that has rows, and where reading goes on behind each of them. */
export interface WalkedPage extends TablePage {
  readonly keys: readonly Key[]
  readonly cursors: readonly (Cursor | undefined)[]
}

/**
 * Every row that stays where it is, once, in order. The limit of a page is applied before access control hides rows: a short page is
 * not the end, nor is an empty one. `seen` is told of every answer.
 */
export async function* walkTable(walk: Walk, seen: (page: TablePage) => void): AsyncGenerator<WalkedPage> {
  const { order, time, stray } = walk
  let cursor = walk.from
  let isAskedAgain = false
  for (;;) {
    const condition = order.condition(cursor)
    const { page, limit } = await askSized(walk, condition)
    seen(page)
    if (page.rows.length === 0) {
      // Only an empty page is believed to be the last: rows that were deleted since then shift no other behind a full one's end.
      if (isEnd(page, 0, limit)) return
      const next = await nextVisible({ ...walk, from: cursor }, Infinity, seen)
      if (next === undefined) return
      cursor = next
      continue
    }
    const keys = page.rows.map(row => keyOf(row, time))
    const followed = order.follow(keys, cursor)
    if ('stray' in followed) return stray(followed.stray, condition === '' ? order.orderBy : condition)
    isAskedAgain = followed.isDoubtful && !isAskedAgain
    if (isAskedAgain) continue
    yield { ...page, keys, cursors: followed.cursors }
    cursor = followed.cursors.at(-1)
  }
}

async function askSized(walk: Walk, condition: string): Promise<{ page: TablePage; limit: number }> {
  const { size, table, fields, displayValue, order, query } = walk
  for (;;) {
    const limit = size.rows
    const request = { table, query: query(condition, order.orderBy), limit, displayValue }
    const page = await unlessTruncated(walk, fields === undefined ? request : { ...request, fields })
    if (page === undefined) {
      size.halve(limit)
      continue
    }
    size.worked()
    return { page, limit }
  }
}

/** Undefined: the instance gave up on the page. Throws where it had one row only. */
async function unlessTruncated({ ask, instance }: Search, request: PageRequest): Promise<TablePage | undefined> {
  try {
    return await ask(request)
  } catch (error) {
    if (!isTruncated(error)) throw error
    if (request.limit > 1) return undefined
    const reason = isSluiceError(error) ? String(error.failure.evidence.reason) : ''
    throw truncated(instance, request, reason)
  }
}

/**
 * The first row behind the cursor that the user may see, looked for among keys alone, in larger and larger pages. Hidden rows cost
 * no bytes. Undefined: there is none, or not within that many requests.
 */
export async function nextVisible(
  walk: Search,
  requests: number,
  seen: (page: TablePage) => void,
): Promise<Cursor | undefined> {
  const { order, from, time, table, query } = walk
  const fields = ['sys_id', time]
  // What the instance gave up on once is not asked for again: it would be for ever.
  let most = MOST_KEYS
  let limit = Math.min(most, Math.max(1000, walk.size.rows * 2))
  let offset = 0
  let isAskedAgain = false
  for (let asked = 0; asked < requests; asked++) {
    const request = { table, query: query(order.condition(from), order.orderBy), limit, offset, fields }
    const page = await unlessTruncated(walk, request)
    if (page === undefined) {
      limit = most = Math.ceil(limit / 2)
      continue
    }
    seen(page)
    if (page.rows.length > 0) {
      const keys = page.rows.map(row => keyOf(row, time))
      const followed = order.follow(keys, from)
      isAskedAgain = 'cursors' in followed && followed.isDoubtful && !isAskedAgain
      if (isAskedAgain) continue
      return { ...firstOf(keys, followed), includes: true }
    }
    if (isEnd(page, offset, limit)) return undefined
    // Windows overlap: rows that were deleted meanwhile move others forward.
    if (offset > 0 || limit === most) offset += limit - Math.floor(limit / 10)
    else limit = Math.min(most, limit * 2)
  }
  return undefined
}

/** The first that stands where it has to. What is out of order is for the walk to name. */
function firstOf(keys: readonly Key[], followed: Followed): Key {
  const cursors = 'cursors' in followed ? followed.cursors : []
  const sure = keys.find(({ id, time }, at) => cursors[at]?.id === id && (cursors[at].time ?? time) === time)
  return sure ?? (keys[0] as Key)
}

/** Said by the number of rows where it is told, else by the Link header. */
function isEnd({ total, hasNext }: TablePage, offset: number, limit: number): boolean {
  return total === undefined ? !hasNext : offset + limit > total
}
