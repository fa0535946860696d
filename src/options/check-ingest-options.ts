import * as check from './option-checks.js'
import type { Ids } from '../bulk/action-line.js'
import type { ConnectOptions, FreshCredentials, IngestOptions, ReplayOptions } from './ingest-options.js'
import { invalid } from './option-checks.js'
import { guardedProblem } from './guarded.js'
import { checkIndexName } from './names.js'
import { checksAt } from './view.js'

/** Elasticsearch's default limit of a request (http.max_content_length, 100mb) less room for an action line. */
export const MAX_DOCUMENT_BYTES = 104_857_600 - 4096

const target = checksAt('target')
const proxy = { ...checksAt('proxy'), origin: check.string, environmentOrigin: check.string }

const fresh = {
  apiKey: check.token,
  username: check.secret,
  password: check.secret,
  proxy: check.url,
} satisfies Record<keyof FreshCredentials, check.Check>

/** `connect` takes the same object as `ingest`, so both check these options alike. */
const options = {
  ...checksAt(''),
  source: check.anything,
  target: check.anything,
  servicenow: check.anything,
  table: check.anything,
  proxy: check.anything,
  stdin: check.stream,
  signal: check.signal,
  startedAt: check.whole(0, Number.MAX_SAFE_INTEGER),
  refreshCredentials: check.listener,
  onEvent: check.listener,
}

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

const fix = "use ids 'run' or 'field', or no name"

/**
 * Returns the source of ids. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID if options contradict each other.
 */
export function checkIngestOptions(given: IngestOptions): Ids {
  checkConnectOptions(given)
  const { ids = 'run', idField, spool, stateDir } = given
  checkTarget(given)
  if (given.again === true && given.runId !== undefined && ids === 'run')
    throw invalid('again', 'makes no new ids for a run with a name: pass another name instead')
  if (given.runId !== undefined && ids === 'cluster')
    throw invalid(
      'runId',
      `promises that a repeated run stores nothing twice, which is impossible with ids of the cluster: ${fix}`,
    )
  if (spool === true && stateDir === undefined) throw invalid('spool', 'needs stateDir, where Sluice writes it')
  if (ids !== 'field') {
    if (idField !== undefined) throw invalid('idField', "needs ids 'field'")
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
  checkIndexName(name)
  const alone = (['indexBody', 'checkQuery', 'checkHits'] as const).find(option => given[option] !== undefined)
  if (swapAlias === undefined && alone !== undefined) throw invalid(alone, 'needs swapAlias')
  const found = guardedProblem({ swapAlias: name, indexBody, checkQuery })
  if (found !== undefined) throw invalid(found.option, found.problem)
}

const said = 'is not an option of replay: the dead letters contain it'
const guarded = 'is not an option of replay: dead letters go to the index of their load'

/** Options that only `ingest` takes, with the reason. */
const others: Readonly<Record<Exclude<keyof IngestOptions, keyof ReplayOptions>, string>> = {
  op: said,
  ids: said,
  idField: said,
  routingField: said,
  format: said,
  pick: said,
  swapAlias: guarded,
  indexBody: guarded,
  checkQuery: guarded,
  checkHits: guarded,
}

/** Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function checkReplayOptions(given: ReplayOptions): void {
  const { source, index, spool, stateDir } = given
  const values: Readonly<Record<string, unknown>> = { ...given }
  for (const [name, problem] of Object.entries(others)) if (values[name] !== undefined) throw invalid(name, problem)
  checkConnectOptions(given)
  if (spool === true && stateDir === undefined) throw invalid('spool', 'needs stateDir, where Sluice writes it')
  const names: readonly unknown[] = Array.isArray(source) ? source : [source]
  if (names.length === 0 || names.some(name => typeof name !== 'string' || name === ''))
    throw invalid('source', 'is not a path of dead letters or an array of paths')
  checkIndexName(index)
}
