import type { PullOptions, ServiceNowConnection, ServiceNowOptions } from './ingest-options.js'
import { checkProxyOptions } from './check-ingest-options.js'
import { invalid } from './candidate.js'
import { checksAt } from './view.js'
import * as check from './option-checks.js'

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
