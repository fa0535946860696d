import type { Field } from './dictionary.js'
import type { Condition, Query } from './query.js'
import type { Row } from './row.js'

/** How a field of a row is found: dots lead through references. */
export interface FieldReader {
  /** Returns the entry of the dictionary. Undefined if there is no such field. */
  fieldOf(path: string): Field | undefined
  read(row: Row, path: string): string
}

/** Whether a row is meant by any of a query's alternatives. */
export function matcher(alternatives: Query['alternatives'], reader: FieldReader): (row: Row) => boolean {
  const tests = alternatives.map(clauses =>
    all(clauses.map(conditions => any(conditions.map(condition => test(condition, reader))))),
  )
  return any(tests)
}

/** Compares two values of a field as the platform orders them. */
export function compareValues(one: string, other: string, field: Field | undefined): number {
  if (field?.type === 'integer')
    return Number(one || Number.NEGATIVE_INFINITY) - Number(other || Number.NEGATIVE_INFINITY) || 0
  return one === other ? 0 : one < other ? -1 : 1
}

type Test = (row: Row) => boolean

function all(tests: readonly Test[]): Test {
  const [only] = tests
  return tests.length === 1 && only ? only : row => tests.every(one => one(row))
}

function any(tests: readonly Test[]): Test {
  const [only] = tests
  return tests.length === 1 && only ? only : row => tests.some(one => one(row))
}

function test({ field: path, operator, value }: Condition, reader: FieldReader): Test {
  const field = reader.fieldOf(path)
  const read = path.includes('.') ? (row: Row) => reader.read(row, path) : (row: Row) => row[path] ?? ''
  const compared = (row: Row): number => compareValues(read(row), value, field)
  const isText = field?.type === 'string'
  const low = value.toLowerCase()
  const lower = (row: Row): string => read(row).toLowerCase()
  const listed = new Set(low.split(',').map(one => one.trim()))
  switch (operator) {
    // The platform's database ignores case.
    case '=':
      return isText ? row => lower(row) === low : row => read(row) === value
    case '!=':
      return row => lower(row) !== low
    case '>':
      return row => compared(row) > 0
    case '>=':
      return row => compared(row) >= 0
    case '<':
      return row => read(row) !== '' && compared(row) < 0
    case '<=':
      return row => read(row) !== '' && compared(row) <= 0
    case 'LIKE':
      return row => lower(row).includes(low)
    case 'NOT LIKE':
      return row => !lower(row).includes(low)
    case 'STARTSWITH':
      return row => lower(row).startsWith(low)
    case 'ENDSWITH':
      return row => lower(row).endsWith(low)
    case 'IN':
      return row => listed.has(lower(row))
    case 'NOT IN':
      return row => !listed.has(lower(row))
    case 'ISEMPTY':
      return row => read(row) === ''
    case 'ISNOTEMPTY':
      return row => read(row) !== ''
  }
}
