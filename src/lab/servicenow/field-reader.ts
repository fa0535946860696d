import type { Database } from './database.js'
import type { Field } from './dictionary.js'
import type { FieldReader } from './matcher.js'
import type { Row } from './row.js'
import type { Table } from './table.js'

/** Reads fields of a table's rows. A dot in the name follows a reference: `assigned_to.name`. */
export function fieldReader(database: Database, table: Table): FieldReader {
  return {
    fieldOf: path => fieldAt(database, table, path.split('.')),
    read: (row, path) => (path.includes('.') ? valueAt(database, table, row, path.split('.')) : (row[path] ?? '')),
  }
}

function fieldAt(database: Database, table: Table, [first = '', ...rest]: readonly string[]): Field | undefined {
  const field = table.fields.get(first)
  if (rest.length === 0) return field
  const next = field?.reference === undefined ? undefined : database.table(field.reference)
  return next && fieldAt(database, next, rest)
}

function valueAt(database: Database, table: Table, row: Row, [first = '', ...rest]: readonly string[]): string {
  const value = row[first] ?? ''
  if (rest.length === 0) return value
  const next = database.table(table.fields.get(first)?.reference ?? '')
  const found = next?.get(value)
  return next && found ? valueAt(database, next, found, rest) : ''
}
