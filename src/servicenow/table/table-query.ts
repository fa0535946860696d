import { fail } from '../../failure/fail.js'
import { SluiceError } from '../../failure/sluice-error.js'
import { type EncodedQuery, parseQuery } from './encoded-query.js'
import { ignored } from './ignored.js'

/** Throws SluiceError OPTION_INVALID where it asks for an order of its own, SERVICENOW_QUERY_IGNORED where an operator is unknown. */
export function tableQuery(text: string, table: string, instance: string): EncodedQuery {
  const query = parseQuery(text)
  const [order] = query.ordering
  if (order !== undefined) throw optionInvalid('query', `${order} cannot be: the order of reading is that of sys_id`)
  const [part] = query.unknown
  if (part !== undefined) throw ignored(instance, table, part, 'it has no operator that the platform knows')
  return query
}

/** Throws SluiceError OPTION_INVALID. */
export function checkNames(table: string, fields: readonly string[] | undefined): void {
  if (!/^[a-z0-9_]+$/i.test(table)) throw optionInvalid('source', `servicenow:${table} names no table`)
  const wrong = fields?.find(field => !/^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/i.test(field))
  if (wrong !== undefined) throw optionInvalid('fields', `${JSON.stringify(wrong)} is no name of a field`)
  if (fields?.length === 0) throw optionInvalid('fields', 'names no field')
}

function optionInvalid(option: string, problem: string): SluiceError {
  return fail('OPTION_INVALID', { option, problem })
}
