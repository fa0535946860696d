/** Checks what a program passes. All throw SluiceError OPTION_INVALID, and INDEX_NAME_INVALID for a load. */
import * as check from './option-checks.js'
import { DEFAULT_SEPARATOR, type Ids } from '../base/operation.js'
import type { IngestOptions, InputOptions, RemoteOptions, ReplayOptions } from './ingest-options.js'
import type {
  ConnectOptions,
  FreshCredentials,
  ProxyOptions,
  PullOptions,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
} from './connect-options.js'
import { withMembers } from './archive-paths.js'
import { checkCompanions, checkExcludes, checkNeeds } from './check-across.js'
import { checkDocuments, checkDump, checkTableFormat } from './check-documents.js'
import { checkFollow, checkFollowedFormat } from './check-follow.js'
import { invalid } from './option-checks.js'
import { checkIndexName } from './names.js'
import { checksAt, describeOption, type OptionName, optionNames, type Settings } from './describe-option.js'
import { checkEdits } from './edit-kinds.js'
import { isPattern } from '../base/text/index-pattern.js'
import { isSourceUrl } from '../base/text/source-url.js'
import { isObject } from '../base/json/parse-json.js'

/** Elasticsearch's default limit of a request (http.max_content_length, 100mb) less room for an action line. */
export const MAX_DOCUMENT_BYTES = 104_857_600 - 4096

const top = checksAt('')
const target = checksAt('target')
const proxy = { ...checksAt('proxy'), origin: check.string, environmentOrigin: check.string }
const servicenow = checksAt('servicenow')
const csv = checksAt('csv')
const remote = checksAt('remote')
const from = checksAt('from')
const edits = checksAt('edits')
const table = checksAt('table')

const fresh = {
  apiKey: check.token,
  username: check.secret,
  password: check.secret,
  proxy: check.url,
} satisfies Record<keyof FreshCredentials, check.Check>

/** `connect` takes the same object as `ingest`, so both check these options alike. */
const options = {
  ...top,
  source: check.anything,
  target: check.anything,
  servicenow: check.anything,
  table: check.anything,
  csv: check.anything,
  remote: check.anything,
  from: check.anything,
  edits: check.anything,
  proxy: check.anything,
  stdin: check.stream,
  signal: check.signal,
  startedAt: check.whole(0, Number.MAX_SAFE_INTEGER),
  refreshCredentials: check.listener,
  onEvent: check.listener,
}

/** Checks the settings of a command that depend on each other. `said`: returns how the user named an option. */
export function checkSettings(values: Settings, said: (name: OptionName) => string): void {
  checkDocuments(values, said)
  checkDump(values, said)
  checkCompanions(values, said)
  checkTableFormat(values, said)
  checkEdits(values, said)
  checkExcludes(values, said)
  checkFollowedFormat(values, said('follow'))
}

/** Checks options of a proposed mapping, and returns them with `members` instead of paths into archives. */
export function checkInferOptions<
  Options extends InputOptions & { readonly sample?: unknown; readonly signal?: unknown },
>(given: Options): Options {
  const { format = check.anything, pick = check.anything, members = check.anything, sheet = check.anything } = top
  const { source, csv: anyCsv, stdin, signal } = options
  check.all('options', given, {
    format,
    pick,
    members,
    sheet,
    source,
    csv: anyCsv,
    stdin,
    signal,
    sample: check.whole(0, Number.MAX_SAFE_INTEGER),
  })
  checkCsv(given)
  return withMembers(given)
}

/** Refuses an option that is unknown, or of another kind than its type says. */
export function checkConnectOptions(given: ConnectOptions): void {
  check.all('options', given, options)
  check.all('target', given.target, target)
  checkProxyOptions(given.proxy)
}

function checkProxyOptions(given: ConnectOptions['proxy']): void {
  if (given === undefined || check.isUrl(given)) return
  const problem = typeof given === 'string' ? check.string(given) : undefined
  if (problem !== undefined) throw invalid('proxy', problem)
  if (typeof given !== 'string') check.all('proxy', given, proxy)
}

/** Refuses credentials that no request could carry. */
export function checkFreshCredentials(given: FreshCredentials): void {
  check.all('refreshCredentials()', given, fresh)
}

/** Returns the source of ids. */
export function checkIngestOptions(given: IngestOptions): Ids {
  checkConnectOptions(given)
  checkCsv(given)
  if (given.edits !== undefined) {
    check.all('edits', given.edits, edits)
    checkEdits(given.edits, name => `edits.${name}`)
  }
  const { ids = 'run', idField = '', idSeparator, runId, index, swapAlias, indexBody, checkQuery } = given
  checkDocuments(given)
  checkDump(given)
  const name = index ?? swapAlias
  if (name === undefined) throw invalid('index', 'is not set')
  if (given.mapping !== undefined && indexBody?.['mappings'] !== undefined)
    throw invalid('mapping', 'cannot be combined with a mapping in indexBody')
  const aliases = indexBody?.['aliases']
  if (isObject(aliases) && Object.hasOwn(aliases, name))
    throw invalid('indexBody', `contains the alias ${name}, which Sluice switches only after the load`)
  const others = Object.keys(checkQuery ?? {}).filter(key => key !== 'query')
  if (checkQuery !== undefined && (!isObject(checkQuery['query']) || others.length > 0))
    throw invalid('checkQuery', 'is not an object with only a query, as in {"query":{"match_all":{}}}')
  if (given.again === true && runId !== undefined && ids === 'run')
    throw invalid('again', 'makes no new ids for a run with a name. Pass another name instead')
  if (runId !== undefined && ids === 'cluster') {
    const problem = 'promises that a repeated run stores nothing twice, which is impossible if the cluster makes ids'
    throw invalid('runId', `${problem}. Use ids 'run', 'field' or 'hash', or no name`)
  }
  checkNeeds(given)
  checkExcludes(given)
  checkFollow(given)
  if (ids === 'run' || ids === 'cluster') return { from: ids }
  // The default has no name in checkpoints and dead letters.
  const isUsual = idSeparator === undefined || idSeparator === DEFAULT_SEPARATOR
  return { from: ids, field: idField, ...(isUsual ? {} : { separator: idSeparator }) }
}

function checkCsv({ csv: given, format, pick }: InputOptions): void {
  if (given !== undefined) check.all('csv', given, csv)
  checkTableFormat({ ...given, format, pick }, name => (name === 'pick' || name === 'format' ? name : `csv.${name}`))
}

export function checkReplayOptions(given: ReplayOptions): void {
  const { source, index } = given
  const values: Readonly<Record<string, unknown>> = { ...given }
  for (const { place, commands, notInReplay } of optionNames.map(describeOption)) {
    if (place === undefined || notInReplay === undefined || commands.includes('replay')) continue
    const name = place.section === '' ? place.name : place.section
    if (values[name] !== undefined) throw invalid(name, notInReplay)
  }
  checkConnectOptions(given)
  checkNeeds(given)
  const names: readonly unknown[] = Array.isArray(source) ? source : [source]
  if (index !== undefined && isPattern(index))
    throw invalid('index', 'has a field in it, but each dead letter names its own index. Leave the option out')
  if (names.length === 0 || names.some(name => typeof name !== 'string' || name === ''))
    throw invalid('source', 'is not a path of dead letters or an array of paths')
  if (names.some(one => isSourceUrl(String(one)))) throw invalid('source', 'is a URL. Fetch the dead letters first')
  checkIndexName(index)
}

const { concurrency, preflightConnections, timeoutMs, maxElapsedMs } = top

/** Checks how a client that Sluice does not make leaves through the proxy. */
export function checkThroughOptions(given: {
  readonly proxy?: ConnectOptions['proxy'] | Pick<ProxyOptions, 'url' | 'ca' | 'origin'>
}): void {
  check.all('options', given, {
    ...(concurrency === undefined ? {} : { concurrency }),
    proxy: check.anything,
    connectTimeoutMs: check.whole(1_000, 600_000),
    allowPlaintext: check.flag,
  })
  checkProxyOptions(given.proxy)
}

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
  ...table,
  query: check.string,
  table: check.name,
  attachments: check.name,
  onProgress: check.listener,
  onSecret: check.listener,
}

export function checkServiceNowConnection(given: ServiceNowConnection): void {
  check.all('options', given, connection)
  checkProxyOptions(given.proxy)
}

export function checkPullOptions(given: PullOptions): void {
  check.all('options', given, pulling)
  if (given.table === undefined) throw invalid('table', 'is not set')
  checkServiceNowOptions(given.servicenow)
  checkProxyOptions(given.proxy)
}

/** Checks how inputs on servers are reached. */
export function checkFromOptions(given: IngestOptions['from']): void {
  if (given !== undefined) check.all('from', given, from)
}

export function checkRemoteOptions(given: RemoteOptions): void {
  check.all('remote', given, remote)
}

export function checkServiceNowOptions(given: ServiceNowOptions): void {
  check.all('servicenow', given, servicenow)
}

export function checkTableOptions(given: TableOptions): void {
  check.all('table', given, table)
}

/** Returns whether an option has a value, or a value in it. */
function isSet(value: unknown): boolean {
  return value !== undefined && (!isObject(value) || Object.values(value).some(one => one !== undefined))
}

/** What may take two such fields apart, or lets an index hold both. */
const reshaping = ['edits', 'transform', 'pipeline', 'mapping', 'template', 'indexBody'] as const

/** Refuses a reference beside a field behind it: an index would reject each row. Shown in both forms, a reference has fields too. */
export function checkRowFields(given: IngestOptions): void {
  const { fields = [], displayValue } = given.table ?? {}
  if (displayValue === 'all' || reshaping.some(name => isSet(given[name]))) return
  const behind = fields.find(field => fields.some(one => field.startsWith(`${one}.`)))
  if (behind === undefined) return
  const reference = fields.find(one => behind.startsWith(`${one}.`)) ?? ''
  const fix = `Leave one out, or rename one with --rename ${behind}=${behind.replaceAll('.', '_')}`
  throw invalid(
    'table.fields',
    `name ${reference} and ${behind}. An index cannot hold a value and fields under one name. ${fix}`,
  )
}
