/** A record as the platform gave it. */
export type Row = Readonly<Record<string, unknown>>

/** Where a row stands in either order of reading. */
export interface Key {
  readonly id: string
  /** Of its last change; empty where the platform gave none. */
  readonly time: string
}

/** The field that holds when a row was changed. Tables whose rows never change have when they were made alone. */
export type TimeField = 'sys_updated_on' | 'sys_created_on'

/** What a reading asks for besides what was asked of it. */
export const keyFields = ['sys_id', 'sys_updated_on', 'sys_mod_count', 'sys_created_on'] as const

/** A field as it is stored, whatever form was asked for. */
export function stored(cell: unknown): string {
  const value = typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : cell
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function keyOf(row: Row, time: TimeField): Key {
  return { id: stored(row.sys_id), time: stored(row[time]) }
}
