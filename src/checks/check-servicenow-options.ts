import type { ServiceNowConnection } from '../connect-servicenow.js'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { ServiceNowOptions } from '../ingest-options.js'
import { checkProxyOptions } from './check-ingest-options.js'
import * as check from './option-checks.js'
import type { PullOptions } from '../pull.js'

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
  checkAll('', given, connection)
  checkProxyOptions(given.proxy)
}

/** Throws SluiceError OPTION_INVALID as `checkServiceNowConnection` does. */
export function checkPullOptions(given: PullOptions): void {
  checkAll('', given, pulling)
  if (given.table === undefined)
    throw new SluiceError(failure('OPTION_INVALID', { option: 'table', problem: 'is not set' }))
  checkServiceNowOptions(given.servicenow)
  checkProxyOptions(given.proxy)
}

/** Throws SluiceError OPTION_INVALID. */
export function checkServiceNowOptions(given: ServiceNowOptions): void {
  checkAll('servicenow', given, platform)
}

function checkAll(whole: string, given: unknown, checks: Readonly<Record<string, check.Check>>): void {
  const found = check.problemIn(given, checks)
  if (found === undefined) return
  const path = [whole, found.option ?? ''].filter(part => part !== '').join('.') || 'options'
  throw new SluiceError(failure('OPTION_INVALID', { option: path, problem: found.problem }))
}
