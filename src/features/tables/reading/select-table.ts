import type { Instance, Row } from '../../../route/servicenow/instance.js'
import { type EncodedQuery, ignored, parseQuery } from './encoded-query.js'
import { fail, SluiceError } from '../../../base/failure/failure.js'
import { isObject } from '../../../base/json/parse-json.js'
import { keyFields } from './row.js'

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

export interface Selected {
  readonly table: string
  readonly query: EncodedQuery
  readonly shape: RowShape
  readonly pageSize: number
}

/** Throws SluiceError OPTION_INVALID, SERVICENOW_QUERY_IGNORED. */
export function selectTable(instance: Instance, selecting: Selecting): Selected {
  const { table, query = '', fields, displayValue = 'false', pageSize = 1000 } = selecting
  checkNames(table, fields)
  return { table, query: tableQuery(query, table, instance), shape: rowShape(fields, displayValue), pageSize }
}

function tableQuery(text: string, table: string, instance: Instance): EncodedQuery {
  const query = parseQuery(text)
  const [order] = query.ordering
  if (order !== undefined)
    throw optionInvalid('query', `${order} is not allowed, because Sluice reads in the order of sys_id`)
  const [part] = query.unknown
  if (part !== undefined) throw ignored({ instance, table }, part, 'it has no operator that ServiceNow knows')
  return query
}

function checkNames(table: string, fields: readonly string[] | undefined): void {
  if (!/^[a-z0-9_]+$/i.test(table)) throw optionInvalid('source', `servicenow:${table} names no table`)
  const wrong = fields?.find(field => !/^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/i.test(field))
  if (wrong !== undefined) throw optionInvalid('fields', `${JSON.stringify(wrong)} is not the name of a field`)
  if (fields?.length === 0) throw optionInvalid('fields', 'names no field')
}

function optionInvalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}

interface RowShape {
  /** Fields to request. Undefined: every field. */
  readonly fields: readonly string[] | undefined
  readonly displayValue: 'false' | 'all'
  shape(row: Row): Row
}

/** Requests stored values even if the caller wants displayed ones, because the reading needs them. */
function rowShape(fields: readonly string[] | undefined, display: 'false' | 'true' | 'all'): RowShape {
  const kept = fields === undefined ? undefined : new Set(['sys_id', ...fields])
  const isAsItComes = display === 'false' && (kept === undefined || keyFields.every(field => kept.has(field)))
  return {
    fields: kept === undefined ? undefined : [...new Set([...kept, ...keyFields])],
    displayValue: display === 'false' ? 'false' : 'all',
    shape: isAsItComes
      ? row => row
      : row => {
          const shaped: Record<string, unknown> = {}
          for (const name of Object.keys(row)) {
            // A document's id is always the stored value.
            const form = name === 'sys_id' ? 'false' : display
            if (kept === undefined || kept.has(name)) shaped[name] = inForm(row[name], form)
          }
          return shaped
        },
  }
}

function inForm(cell: unknown, form: 'false' | 'true' | 'all'): unknown {
  if (!isObject(cell) || !('display_value' in cell) || !('value' in cell)) return cell
  const { display_value, value } = cell
  return form === 'all' ? { display_value, value } : form === 'true' ? display_value : value
}
