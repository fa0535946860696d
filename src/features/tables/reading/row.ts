import type { Row } from '../../../route/servicenow/instance.js'

export interface Key {
  readonly id: string
  /** Time of the last change. Empty if the platform sent none. */
  readonly time: string
}

/** Tables whose rows never change have only the time of creation. */
export type TimeField = 'sys_updated_on' | 'sys_created_on'

export const keyFields = ['sys_id', 'sys_updated_on', 'sys_mod_count', 'sys_created_on'] as const

/** Returns the stored value of a field, whatever form was requested. */
export function stored(cell: unknown): string {
  const value = typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : cell
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function rowKey(row: Row, time: TimeField): Key {
  return { id: stored(row.sys_id), time: stored(row[time]) }
}

const CHUNK_CHARACTERS = 96 << 10

/** Yields rows as NDJSON, in chunks of whole lines. */
export function* rowLines(rows: Iterable<Row>): Generator<Buffer> {
  let text = ''
  for (const row of rows) {
    text += `${JSON.stringify(row)}\n`
    if (text.length < CHUNK_CHARACTERS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

const form = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/

/** Returns `yyyy-MM-dd HH:mm:ss` in UTC, as the platform stores times. Such times sort as text. */
export function platformTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

export function isPlatformTime(text: unknown): text is string {
  return typeof text === 'string' && form.test(text)
}

export function nextSecond(time: string): string {
  return platformTime(Date.parse(`${time.replace(' ', 'T')}Z`) + 1000)
}

export function earlier(a: string, b: string): string {
  return a < b ? a : b
}

/** A position after a row, or at the row with `includes`. Places store it. */
export interface RowCursor {
  readonly id: string
  /** In the order of changes. */
  readonly time?: string
  readonly includes?: true
}

export interface RowOrder {
  readonly orderBy: string
  /** Returns the condition for the rows after a cursor, or for the whole reading. Empty: every row. */
  condition(cursor: RowCursor | undefined): string
  /** Returns where reading continues after each row of a page, or the first row that is out of order. */
  follow(keys: readonly Key[], cursor: RowCursor | undefined): Followed
}

/** `isDoubtful`: all rows may stand too early, and continuing after them would skip others. A retry shows them moved. */
export type Followed =
  | { readonly cursors: readonly (RowCursor | undefined)[]; readonly isDoubtful: boolean }
  | { readonly stray: Key }

/** A change of a row does not move it in this order. */
export const bySysId: RowOrder = {
  orderBy: 'ORDERBYsys_id',
  condition: cursor => (cursor === undefined ? '' : `sys_id${cursor.includes ? '>=' : '>'}${cursor.id}`),
  follow(keys, cursor) {
    const cursors: RowCursor[] = []
    for (const key of keys) {
      const last: RowCursor | undefined = cursors.at(-1) ?? cursor
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
      const cursors: (RowCursor | undefined)[] = []
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

function comesAfter(key: Key, cursor: RowCursor | undefined): boolean {
  if (cursor?.time === undefined) return true
  return key.time === cursor.time ? isBehind(key.id, cursor) : key.time > cursor.time
}

const hex = /^[0-9a-f]{32}$/i

/** The sort order of unusual ids is unknown, so they must only not repeat. */
export function isBehind(id: string, { id: last, includes }: RowCursor): boolean {
  if (id === last) return includes === true
  return hex.test(id) && hex.test(last) ? id.toLowerCase() > last.toLowerCase() : true
}
