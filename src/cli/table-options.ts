import type { IngestOptions } from '../index.js'
import type { Effective } from '../options/resolve.js'
import { isTable } from '../options/table-names.js'
import { fail } from '../failure/fail.js'

/** What of the settings is for tables alone. */
const alone = ['query', 'fields', 'displayValue', 'pageSize', 'deletions', 'maxDeleted', 'reconcileEveryMs'] as const

/** Whether a table is among the inputs. Throws SluiceError OPTION_INVALID where there is none, and a flag is for tables alone. */
export function namesTable(source: readonly string[], { origins }: Effective): boolean {
  if (source.some(isTable)) return true
  const flag = alone.find(name => origins[name].startsWith('--'))
  if (flag === undefined) return false
  const problem = 'needs a table, as in servicenow:incident'
  throw fail('OPTION_INVALID', { option: origins[flag], problem })
}

type TablesOptions = Pick<IngestOptions, 'table' | 'ids' | 'op' | 'deletions' | 'maxDeleted' | 'reconcileEveryMs'>

/** The library's options for a load of tables, but for the platform. What nobody set is left to what tables need. */
export function tableOptions({ values, origins }: Effective): TablesOptions {
  const { query, fields, displayValue, pageSize, ids, op, deletions, maxDeleted, reconcileEveryMs } = values
  return {
    table: {
      displayValue,
      pageSize,
      ...(query === undefined ? {} : { query }),
      ...(fields === undefined ? {} : { fields: fields.split(',').map(name => name.trim()) }),
    },
    deletions,
    ...(maxDeleted === undefined ? {} : { maxDeleted }),
    ...(reconcileEveryMs === undefined ? {} : { reconcileEveryMs }),
    ids: origins.ids === 'default' ? undefined : ids,
    op: origins.op === 'default' ? undefined : op,
  }
}
