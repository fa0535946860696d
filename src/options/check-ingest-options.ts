import type { Ids } from '../bulk/action-line.js'
import type { ConnectOptions, FreshCredentials, IngestOptions, ProxyOptions, TargetOptions } from './ingest-options.js'
import { invalid } from './candidate.js'
import * as check from './option-checks.js'
import { guardedProblem } from './guarded.js'
import { indexNameProblem } from './index-name.js'
import { fail } from '../failure/fail.js'

/** Elasticsearch's default limit of a request (http.max_content_length, 100mb) less room for an action line. */
export const MAX_DOCUMENT_BYTES = 104_857_600 - 4096

const target = {
  url: check.url,
  cloudId: check.name,
  apiKey: check.token,
  username: check.secret,
  password: check.secret,
  ca: check.pem,
  caFingerprint: check.name,
  cert: check.pem,
  key: check.pem,
  allowPlaintext: check.flag,
} satisfies Record<keyof TargetOptions, check.Check>

const proxy = {
  url: check.url,
  origin: check.string,
  ca: check.pem,
  environmentProxy: check.string,
  environmentOrigin: check.string,
  noProxy: check.string,
  direct: check.flag,
  requireProxy: check.flag,
} satisfies Record<keyof ProxyOptions, check.Check>

const fresh = {
  apiKey: check.token,
  username: check.secret,
  password: check.secret,
  proxy: check.url,
} satisfies Record<keyof FreshCredentials, check.Check>

/** `connect` takes the options of `ingest`, too: both are given one object. What they share is checked alike. */
const options = {
  source: check.anything,
  target: check.anything,
  servicenow: check.anything,
  table: check.anything,
  deletions: check.oneOf('keep', 'audit', 'reconcile'),
  maxDeleted: check.limit,
  reconcileEveryMs: check.whole(1, Number.MAX_SAFE_INTEGER),
  proxy: check.anything,
  index: check.name,
  swapAlias: check.name,
  indexBody: check.jsonObject,
  checkQuery: check.jsonObject,
  checkHits: check.whole(1, Number.MAX_SAFE_INTEGER),
  stdin: check.stream,
  concurrency: check.whole(1, 256),
  preflightConnections: check.whole(0, 64),
  timeoutMs: check.whole(1, 2 ** 31 - 1),
  staticIps: check.addresses,
  ipCheckUrl: check.string,
  signal: check.signal,
  op: check.oneOf('create', 'index'),
  ids: check.oneOf('run', 'field', 'cluster'),
  idField: check.name,
  routingField: check.name,
  pipeline: check.name,
  format: check.oneOf('auto', 'ndjson', 'json'),
  pick: check.name,
  batchBytes: check.whole(1000, 100_000_000),
  batchDocs: check.whole(1, Number.MAX_SAFE_INTEGER),
  batchMs: check.whole(1, 2 ** 31 - 1),
  compress: check.oneOf('auto', 'gzip', 'none'),
  deadLetters: check.file,
  maxRejected: check.limit,
  maxElapsedMs: check.whole(0, Number.MAX_SAFE_INTEGER),
  timeBudgetMs: check.whole(1, 2 ** 31 - 1),
  startedAt: check.whole(0, Number.MAX_SAFE_INTEGER),
  byteBudget: check.whole(1, Number.MAX_SAFE_INTEGER),
  graceMs: check.whole(0, 2 ** 31 - 1),
  onBlock: check.onBlock,
  refreshCredentials: check.listener,
  onConflict: check.oneOf('reject', 'skip'),
  stateDir: check.name,
  spool: check.flag,
  spoolLimit: check.whole(1_000_000, Number.MAX_SAFE_INTEGER),
  runId: check.runId,
  again: check.flag,
  dryRun: check.flag,
  onEvent: check.listener,
} satisfies Record<keyof IngestOptions, check.Check>

/** Throws SluiceError OPTION_INVALID for an option that is unknown, or of another kind than its type says. */
export function checkConnectOptions(given: ConnectOptions): void {
  check.all('options', given, options)
  check.all('target', given.target, target)
  checkProxyOptions(given.proxy)
}

/** Throws SluiceError OPTION_INVALID. */
export function checkProxyOptions(given: ConnectOptions['proxy']): void {
  if (given === undefined || typeof given === 'string' || check.isUrl(given)) return
  check.all('proxy', given, proxy)
}

/** Throws SluiceError OPTION_INVALID for credentials that no request could carry. */
export function checkFreshCredentials(given: FreshCredentials): void {
  check.all('refreshCredentials()', given, fresh)
}

const fix = "use ids 'run' or 'field', or give it no name"

/** Where ids come from. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID for options that cannot be used together. */
export function checkIngestOptions(given: IngestOptions): Ids {
  checkConnectOptions(given)
  const { ids = 'run', idField, spool, stateDir } = given
  checkTarget(given)
  if (given.again === true && given.runId !== undefined && ids === 'run')
    throw invalid('again', 'makes no new ids for a run that has a name: give another name instead')
  if (given.runId !== undefined && ids === 'cluster')
    throw invalid('runId', `promises that a repeated run doubles nothing, which ids of the cluster cannot keep: ${fix}`)
  if (spool === true && stateDir === undefined) throw invalid('spool', 'needs stateDir, where it is written')
  if (ids !== 'field') {
    if (idField !== undefined) throw invalid('idField', "is used with ids 'field' alone")
    return { from: ids }
  }
  if (idField === undefined) throw invalid('idField', "is needed with ids 'field'")
  return { from: 'field', field: idField }
}

function checkTarget(given: IngestOptions): void {
  const { index, swapAlias, indexBody, checkQuery } = given
  if (index !== undefined && swapAlias !== undefined) throw invalid('swapAlias', 'cannot be combined with index')
  const name = index ?? swapAlias
  if (name === undefined) throw invalid('index', 'is not set')
  const problem = indexNameProblem(name)
  if (problem !== undefined) throw fail('INDEX_NAME_INVALID', { index: name, problem })
  const alone = (['indexBody', 'checkQuery', 'checkHits'] as const).find(option => given[option] !== undefined)
  if (swapAlias === undefined && alone !== undefined) throw invalid(alone, 'is used with swapAlias alone')
  const found = guardedProblem({ swapAlias: name, indexBody, checkQuery })
  if (found !== undefined) throw invalid(found.option, found.problem)
}
