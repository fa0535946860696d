import type { Database } from './database.js'
import type { Field } from './dictionary.js'
import { fieldReader } from './field-reader.js'
import type { Row } from './row.js'
import type { Table } from './table.js'
import { formatTimestamp, parseTimestamp } from './timestamp.js'

export interface Presentation {
  /** `sysparm_fields`. Default: all fields of the table. */
  readonly fields?: readonly string[] | undefined
  /** `sysparm_display_value` */
  readonly display: 'true' | 'false' | 'all'
  /** `sysparm_exclude_reference_link` */
  readonly excludesLink: boolean
  /** `https://host`, for the links of references. */
  readonly origin: string
}

/**
 * Display values of times are in the user's zone. In the lab it is 8 hours behind UTC, so that no test takes them for UTC.
 */
const ZONE_MS = -8 * 3600_000

/** A row as the Table API answers with it. Fields that the table does not have are left out. */
export function presenter(database: Database, table: Table, asked: Presentation): (row: Row) => unknown {
  const reader = fieldReader(database, table)
  const names = asked.fields ?? [...table.fields.keys()]
  const fields = names.flatMap(name => {
    const field = reader.fieldOf(name)
    return field ? [{ name, field }] : []
  })
  const journals = fields.filter(({ field }) => field.type === 'journal_input')
  if (asked.display === 'false' && asked.excludesLink) {
    const blank = Object.fromEntries(journals.map(({ name }) => [name, '']))
    // Copying a row whole is several times quicker than field by field.
    if (!asked.fields) return row => ({ ...row, ...blank })
    const plain = fields.map(({ name }) => name)
    return row => ({ ...Object.fromEntries(plain.map(name => [name, reader.read(row, name)])), ...blank })
  }
  return row =>
    Object.fromEntries(fields.map(({ name, field }) => [name, present(database, field, reader.read(row, name), asked)]))
}

function present(
  database: Database,
  field: Field,
  kept: string,
  { display, excludesLink, origin }: Presentation,
): unknown {
  // What was written into a journal is shown, and is no value of the row's.
  const value = field.type === 'journal_input' ? '' : kept
  const isLinked = field.reference !== undefined && value !== ''
  const link = isLinked && !excludesLink && { link: `${origin}/api/now/table/${field.reference}/${value}` }
  if (display === 'false') return link ? { ...link, value } : value
  const shown = displayOf(database, field, kept)
  if (display === 'true') return link ? { display_value: shown, ...link } : shown
  return { display_value: shown, value, ...link }
}

function displayOf(database: Database, { type, reference, choices }: Field, value: string): string {
  if (reference !== undefined) {
    const table = database.table(reference)
    return table?.get(value)?.[table.display] ?? ''
  }
  if (type === 'glide_date_time') {
    const ms = parseTimestamp(value)
    return Number.isNaN(ms) ? value : formatTimestamp(ms + ZONE_MS)
  }
  return choices?.[value] ?? value
}
