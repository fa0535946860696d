import * as check from './option-checks.js'
import type { IngestOptions, PullOptions, ServiceNowConnection, ServiceNowOptions } from './ingest-options.js'
import { checkConnectOptions, checkProxyOptions } from './check-ingest-options.js'
import { invalid } from './option-checks.js'
import { checksAt } from './view.js'
import { tablesIn } from './table-names.js'

const platform = checksAt('servicenow')
const { concurrency, preflightConnections, timeoutMs, maxElapsedMs } = checksAt('')

const connection = {
  concurrency,
  preflightConnections,
  timeoutMs,
  maxElapsedMs,
  servicenow: check.anything,
  proxy: check.anything,
  signal: check.signal,
  onWarning: check.listener,
} as Record<keyof ServiceNowConnection, check.Check>

const pulling = {
  ...connection,
  ...checksAt('table'),
  query: check.string,
  table: check.name,
  onProgress: check.listener,
  onSecret: check.listener,
}

/** Throws SluiceError OPTION_INVALID for an option that is unknown, or of another kind than its type says. */
export function checkServiceNowConnection(given: ServiceNowConnection): void {
  check.all('options', given, connection)
  checkProxyOptions(given.proxy)
}

/** Throws SluiceError OPTION_INVALID as `checkServiceNowConnection` does. */
export function checkPullOptions(given: PullOptions): void {
  check.all('options', given, pulling)
  if (given.table === undefined) throw invalid('table', 'is not set')
  checkServiceNowOptions(given.servicenow)
  checkProxyOptions(given.proxy)
}

/** Throws SluiceError OPTION_INVALID. */
export function checkServiceNowOptions(given: ServiceNowOptions): void {
  check.all('servicenow', given, platform)
}

const table = checksAt('table')

/**
 * Fills in the options that a load of tables implies: each row is stored under its `sys_id`, and replaces its earlier
 * state. Throws SluiceError OPTION_INVALID.
 */
export function completeForTables(given: IngestOptions): IngestOptions {
  checkConnectOptions(given)
  const tables = tablesIn(given.source)
  if (tables.length === 0) {
    if (given.table !== undefined) throw invalid('table', 'needs a table as input, as in servicenow:incident')
    checkDeletions(given, 'a table')
    return given
  }
  if (given.servicenow === undefined)
    throw invalid('servicenow', 'is needed for a table: URL and credentials of the instance')
  checkServiceNowOptions(given.servicenow)
  const found = given.table === undefined ? undefined : check.problemIn(given.table, table)
  if (found !== undefined) throw invalid(['table', found.option].filter(Boolean).join('.'), found.problem)
  const { ids = 'field', idField = 'sys_id', op = 'index', format = 'auto', pick } = given
  if (ids !== 'field') throw invalid('ids', `is '${ids}': ${whyField}`)
  if (format === 'json') throw invalid('format', "is 'json', but each row of a table is a line")
  if (pick !== undefined) throw invalid('pick', 'selects inside a JSON document, and a table is not one')
  const { fields } = given.table ?? {}
  checkDeletions(given, 'ids from sys_id', idField === 'sys_id')
  if (fields !== undefined && idField !== 'sys_id' && !fields.includes(idField))
    throw invalid('idField', `is '${idField}', which is not in fields`)
  return { ...given, ids, idField, op }
}

/** `isMet`: whether there is what deletions need. */
function checkDeletions(
  { deletions = 'keep', maxDeleted, reconcileEveryMs }: IngestOptions,
  needed: string,
  isMet = false,
) {
  if (deletions !== 'keep' && !isMet) throw invalid('deletions', `is '${deletions}', which needs ${needed}`)
  const alone =
    maxDeleted !== undefined ? 'maxDeleted' : reconcileEveryMs !== undefined ? 'reconcileEveryMs' : undefined
  if (alone !== undefined && deletions !== 'reconcile') throw invalid(alone, "needs deletions 'reconcile'")
}

const whyField = 'a changed row must find its document, so a table needs ids from a field (sys_id by default)'
