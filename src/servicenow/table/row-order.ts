import type { Key, TimeField } from './row.js'

/** Behind a row, or with `includes` from it on. Serialised in places. */
export interface Cursor {
  readonly id: string
  /** In the order of changes. */
  readonly time?: string
  readonly includes?: true
}

/** An order in which a table can be read page by page, each asked for by where the one before ended. */
export interface RowOrder {
  readonly orderBy: string
  /** What the rows behind a cursor have in common; without one, those of the whole reading. Empty: every row. */
  condition(cursor: Cursor | undefined): string
  /** Where reading goes on behind each row of a page, or the first row that cannot stand there. */
  follow(keys: readonly Key[], cursor: Cursor | undefined): Followed
}

/** `isDoubtful`: all of them may stand too early, and reading on behind them would pass others by. Asked again, they have moved. */
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
 * Rows that changed at `since` or later, in the order of their changes. A row may change while a page is put together, and then stands
 * too early, with a time that is too late. Only times before `settled` are sure to be those that the page was ordered by: reading goes on
 * behind them as long as there are any. What was read of the others comes again.
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

/** How a database sorts an id that is not of the usual form is not known: of such it is enough that they are not repeated. */
export function isBehind(id: string, { id: last, includes }: Cursor): boolean {
  if (id === last) return includes === true
  return hex.test(id) && hex.test(last) ? id.toLowerCase() > last.toLowerCase() : true
}
