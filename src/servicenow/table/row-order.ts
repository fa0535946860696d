import type { Key, TimeField } from './row.js'

/** A position after a row, or at the row with `includes`. Serialised in places. */
export interface Cursor {
  readonly id: string
  /** In the order of changes. */
  readonly time?: string
  readonly includes?: true
}

/** An order for reading a table page by page. Each page begins where the last one ended. */
export interface RowOrder {
  readonly orderBy: string
  /** Returns the condition for the rows after a cursor, or for the whole reading. Empty: every row. */
  condition(cursor: Cursor | undefined): string
  /** Returns where reading continues after each row of a page, or the first row that cannot stand there. */
  follow(keys: readonly Key[], cursor: Cursor | undefined): Followed
}

/**
 * `isDoubtful`: all rows may stand too early, and continuing after them would skip others. Asked again, they have
 * moved.
 */
export type Followed =
  | { readonly cursors: readonly (Cursor | undefined)[]; readonly isDoubtful: boolean }
  | { readonly stray: Key }

/** No change of a row moves it in this order. */
export const bySysId: RowOrder = {
  orderBy: 'ORDERBYsys_id',
  condition: cursor => (cursor === undefined ? '' : `sys_id${cursor.includes ? '>=' : '>'}${cursor.id}`),
  follow(keys, cursor) {
    const cursors: Cursor[] = []
    for (const key of keys) {
      const last: Cursor | undefined = cursors.at(-1) ?? cursor
      if (key.id === '' || (last !== undefined && !isBehind(key.id, last))) return { stray: key }
      cursors.push({ id: key.id })
    }
    return { cursors, isDoubtful: false }
  },
}

/**
 * Orders rows that changed at `since` or later by their change. A row may change while the platform builds a page,
 * and then stands too early with too late a time. Only times before `settled` are sure to be those of the order.
 * Reading continues after such rows if the page has any. The others come again.
 */
export function byChange(field: TimeField, since: string, settled: string): RowOrder {
  return {
    orderBy: `ORDERBY${field}^ORDERBYsys_id`,
    condition: cursor =>
      cursor === undefined
        ? `${field}>=${since}`
        : `${field}>=${cursor.time}^sys_id${cursor.includes ? '>=' : '>'}${cursor.id}^OR${field}>${cursor.time}`,
    follow(keys, cursor) {
      const isMixed = keys.some(({ time }) => time < settled)
      const cursors: (Cursor | undefined)[] = []
      let last = cursor
      for (const key of keys) {
        const isSure = key.time < settled
        const before = isSure ? last : cursor
        if (key.id === '' || key.time < since || !comesAfter(key, before)) return { stray: key }
        if (isSure || !isMixed) last = { id: key.id, time: key.time }
        cursors.push(last)
      }
      return { cursors, isDoubtful: !isMixed && (cursor?.time ?? since) < settled }
    },
  }
}

function comesAfter(key: Key, cursor: Cursor | undefined): boolean {
  if (cursor?.time === undefined) return true
  return key.time === cursor.time ? isBehind(key.id, cursor) : key.time > cursor.time
}

const hex = /^[0-9a-f]{32}$/i

/** The sort order of unusual ids is unknown. For these it is enough that none repeats. */
export function isBehind(id: string, { id: last, includes }: Cursor): boolean {
  if (id === last) return includes === true
  return hex.test(id) && hex.test(last) ? id.toLowerCase() > last.toLowerCase() : true
}
