/** A record as the platform gave it. */
export type Row = Readonly<Record<string, unknown>>

/** The position of a row in either order of reading. */
export interface Key {
  readonly id: string
  /** Time of the last change. Empty if the platform sent none. */
  readonly time: string
}

/** The field that holds the time of change. Tables with unchanging rows have only the time of creation. */
export type TimeField = 'sys_updated_on' | 'sys_created_on'

/** Fields that every reading requests. */
export const keyFields = ['sys_id', 'sys_updated_on', 'sys_mod_count', 'sys_created_on'] as const

/** Returns the stored value of a field, whatever form was requested. */
export function stored(cell: unknown): string {
  const value = typeof cell === 'object' && cell !== null && 'value' in cell ? cell.value : cell
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function keyOf(row: Row, time: TimeField): Key {
  return { id: stored(row.sys_id), time: stored(row[time]) }
}

const CHUNK_CHARACTERS = 96 << 10

/** Rows as NDJSON, a line each, in chunks of whole lines. Half a surrogate pair is written as an escape, as JSON allows. */
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

/** `yyyy-MM-dd HH:mm:ss` in UTC: how the platform stores times, whole seconds that sort as text. */
export function platformTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

export function isPlatformTime(text: unknown): text is string {
  return typeof text === 'string' && form.test(text)
}

/** The second after it. */
export function nextSecond(time: string): string {
  return platformTime(Date.parse(`${time.replace(' ', 'T')}Z`) + 1000)
}

export function earlier(a: string, b: string): string {
  return a < b ? a : b
}
