import type { Instance } from '../instance.js'
import { type EncodedQuery, ignored, parseQuery } from './encoded-query.js'
import { fail } from '../../failure/fail.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { keyFields, type Row } from './row.js'

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

/** The selected rows of a table and their form, after checks. */
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

/**
 * Throws SluiceError OPTION_INVALID if the query has an order, SERVICENOW_QUERY_IGNORED if an operator is unknown.
 */
function tableQuery(text: string, table: string, instance: string): EncodedQuery {
  const query = parseQuery(text)
  const [order] = query.ordering
  if (order !== undefined) throw optionInvalid('query', `${order} is not allowed: Sluice reads in the order of sys_id`)
  const [part] = query.unknown
  if (part !== undefined) throw ignored(instance, table, part, 'ServiceNow knows none of its operators')
  return query
}

/** Throws SluiceError OPTION_INVALID. */
function checkNames(table: string, fields: readonly string[] | undefined): void {
  if (!/^[a-z0-9_]+$/i.test(table)) throw optionInvalid('source', `servicenow:${table} names no table`)
  const wrong = fields?.find(field => !/^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/i.test(field))
  if (wrong !== undefined) throw optionInvalid('fields', `${JSON.stringify(wrong)} is not the name of a field`)
  if (fields?.length === 0) throw optionInvalid('fields', 'names no field')
}

function optionInvalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}

/** The requested fields, and the form in which rows are given out. */
interface RowShape {
  /** Fields for the platform. Undefined: every field. */
  readonly fields: readonly string[] | undefined
  readonly displayValue: 'false' | 'all'
  shape(row: Row): Row
}

/**
 * The values that were asked for, in the form that was asked for, and `sys_id`. Displayed values are asked for together with those that
 * are stored, because reading goes by them.
 */
function rowShape(fields: readonly string[] | undefined, display: 'false' | 'true' | 'all'): RowShape {
  const kept = fields === undefined ? undefined : new Set(['sys_id', ...fields])
  const cell = display === 'true' ? displayed : display === 'all' ? both : (value: unknown) => value
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
            if (name === 'sys_id') shaped[name] = storedValue(row[name])
            else if (kept === undefined || kept.has(name)) shaped[name] = cell(row[name])
          }
          return shaped
        },
  }
}

function displayed(value: unknown): unknown {
  return isBoth(value) ? value.display_value : value
}

function storedValue(value: unknown): unknown {
  return isBoth(value) ? value.value : value
}

function both(value: unknown): unknown {
  return isBoth(value) ? { display_value: value.display_value, value: value.value } : value
}

function isBoth(value: unknown): value is { display_value: unknown; value: unknown } {
  return typeof value === 'object' && value !== null && 'display_value' in value && 'value' in value
}
