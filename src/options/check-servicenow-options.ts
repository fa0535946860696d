import type { PullOptions, ServiceNowConnection, ServiceNowOptions } from './ingest-options.js'
import { checkProxyOptions } from './check-ingest-options.js'
import { invalid } from './candidate.js'
import * as check from './option-checks.js'

const platform = {
  url: check.url,
  username: check.secret,
  password: check.secret,
  clientId: check.name,
  clientSecret: check.secret,
  refreshToken: check.secret,
  grant: check.oneOf('basic', 'password', 'client_credentials', 'refresh_token', 'authorization_code'),
  tokenFile: check.name,
  ca: check.pem,
} satisfies Record<keyof ServiceNowOptions, check.Check>

const connection = {
  servicenow: check.anything,
  proxy: check.anything,
  concurrency: check.whole(1, 256),
  preflightConnections: check.whole(0, 64),
  timeoutMs: check.whole(1, 2 ** 31 - 1),
  signal: check.signal,
  maxElapsedMs: check.whole(0, Number.MAX_SAFE_INTEGER),
  onWarning: check.listener,
} satisfies Record<keyof ServiceNowConnection, check.Check>

const pulling = {
  ...connection,
  table: check.name,
  query: check.string,
  fields: check.strings,
  displayValue: check.oneOf('false', 'true', 'all'),
  pageSize: check.whole(1, 10_000),
  onProgress: check.listener,
  onSecret: check.listener,
} satisfies Record<keyof PullOptions, check.Check>

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
