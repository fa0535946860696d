import type { Instance } from '../instance.js'
import type { EncodedQuery } from './encoded-query.js'
import { type RowShape, rowShape } from './row-shape.js'
import { checkNames, tableQuery } from './table-query.js'

export interface Selecting {
  readonly table: string
  /** Encoded query without an order. Default: every row. */
  readonly query?: string | undefined
  /** Default: every field. `sys_id` is always among them. */
  readonly fields?: readonly string[] | undefined
  /** Default `false`. */
  readonly displayValue?: 'false' | 'true' | 'all' | undefined
  /** Rows of one request. Default 1,000. */
  readonly pageSize?: number | undefined
}

/** Which rows of a table are read, and in which form, as it was understood. */
export interface Selected {
  readonly table: string
  readonly query: EncodedQuery
  readonly shape: RowShape
  readonly pageSize: number
}

/** Throws SluiceError OPTION_INVALID, SERVICENOW_QUERY_IGNORED. */
export function selectTable({ display }: Instance, selecting: Selecting): Selected {
  const { table, query = '', fields, displayValue = 'false', pageSize = 1000 } = selecting
  checkNames(table, fields)
  return { table, query: tableQuery(query, table, display), shape: rowShape(fields, displayValue), pageSize }
}
