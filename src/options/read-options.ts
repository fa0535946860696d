/** The door: options as an embedder or the command line gives them become sections with every default filled in. */
import { type Ids, isOperation, rowOf, type Script } from '../base/operation.js'
import {
  checkConnectOptions,
  checkFromOptions,
  checkIngestOptions,
  checkRowFields,
  checkServiceNowOptions,
  checkTableOptions,
} from './check-options.js'
import {
  defaults,
  describeOption,
  isOptionName,
  placedIn,
  stagedIn,
  takenApart,
  type Apart,
} from './describe-option.js'
import type { IngestOptions } from './ingest-options.js'
import { type ConnectOptions, openedWith, type ProxyOptions, type ServiceNowConnection } from './connect-options.js'
import type {
  Complete,
  ConnectSection,
  EditSection,
  FromSection,
  InstanceSection,
  Load,
  ProxySection,
  RemoteSection,
  Section,
  TableSection,
} from './load.js'
import type { LoadSection } from './option.js'
import { type Check, copiesMapping, invalid, isMappingWord, isUrl } from './option-checks.js'
import { mappingIn, templateIn } from './mapping-files.js'
import { withMembers } from './archive-paths.js'
import { foreignIndicesIn, tablesIn } from './names.js'
import { splitRemote } from './remote-section.js'
import { asProposed } from '../pipeline/format/formats.js'
import { parseJson } from '../base/json/parse-json.js'
import { isWebAddress } from '../base/addresses.js'
import { isPattern, patternIn } from '../base/text/index-pattern.js'
import { fieldsIn } from '../base/text/shown.js'

/** Checks the options of a load and fills in defaults. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function readOptions(given: IngestOptions): Load {
  const options = completeForIndices(withMembers(completeForTables(takenApart(given))))
  const { source, remote } = splitRemote(options.source, options.remote)
  return loadOf({ ...options, source }, checkIngestOptions(options), tablesIn(options.source), remote)
}

/**
 * Fills in the options that a load of tables implies: each row is stored under its `sys_id`, and replaces its earlier
 * state.
 */
function completeForTables(given: Apart<IngestOptions>): Apart<IngestOptions> {
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
  if (given.table !== undefined) checkTableOptions(given.table)
  checkRowFields(given)
  const { ids = 'field', idField = 'sys_id', op = 'index', format = 'auto', pick } = given
  if (ids !== 'field') {
    const why = 'Sluice must find the document of a changed row, so a table needs ids from a field (sys_id by default)'
    throw invalid('ids', `is '${ids}': ${why}`)
  }
  if (isOperation(op) && !rowOf(op).storesNew)
    throw invalid(
      'op',
      `is '${op}', but a new row of a table has no document yet, and rows stay in the index until you delete them`,
    )
  if (format !== 'auto' && format !== 'ndjson')
    throw invalid('format', `is '${format}', but each row of a table is a line`)
  if (pick !== undefined)
    throw invalid('pick', 'selects an array inside a JSON document, but a table is not a JSON document')
  const { fields } = given.table ?? {}
  const isOneIndex = !isPattern(given.index ?? '')
  checkDeletions(given, isOneIndex ? 'ids from sys_id' : 'one index', isOneIndex && idField === 'sys_id')
  const isRead = (name: string) =>
    name === 'sys_id' || fields?.some(field => `${name}.`.startsWith(`${field}.`)) !== false
  const unread = fieldsIn(idField).find(name => !isRead(name))
  if (unread !== undefined) throw invalid('idField', `is '${unread}', which is not in fields`)
  return { ...given, ids, idField, op }
}

/** Fills in the options that a load from another cluster implies: each document comes as a hit, with its id and routing. */
function completeForIndices<Given extends Pick<IngestOptions, 'from' | 'source' | 'format' | 'pick' | 'mapping'>>(
  given: Given,
): Given & Pick<IngestOptions, 'format'> {
  checkFromOptions(given.from)
  const indices = foreignIndicesIn(given.source)
  if (indices.length === 0) {
    if (given.from !== undefined) throw invalid('from', 'needs an index as input, as in elasticsearch:orders')
    if (copiesMapping(given.mapping))
      throw invalid(
        'mapping',
        "is 'copy', which needs an index of another cluster as input, as in elasticsearch:orders",
      )
    return given
  }
  if (given.from?.url === undefined)
    throw invalid('from', 'is needed for elasticsearch:INDEX: the URL of the cluster that holds it')
  const { format = 'auto', pick } = given
  if (format !== 'auto' && format !== 'elasticdump')
    throw invalid('format', `is '${format}', but documents of another cluster come as they are stored`)
  if (pick !== undefined)
    throw invalid('pick', 'selects an array inside a JSON document, but an index is not a JSON document')
  return { ...given, format: 'elasticdump' }
}

/** `isMet`: whether there is what deletions need. */
function checkDeletions(
  { deletions = 'keep', maxDeleted, reconcileEveryMs }: Apart<IngestOptions>,
  needed: string,
  isMet = false,
) {
  if (deletions !== 'keep' && !isMet) throw invalid('deletions', `is '${deletions}', which needs ${needed}`)
  if (deletions === 'reconcile') return
  if (maxDeleted !== undefined) throw invalid('maxDeleted', "needs deletions 'reconcile'")
  if (reconcileEveryMs !== undefined) throw invalid('reconcileEveryMs', "needs deletions 'reconcile'")
}

/**
 * Reads the options that a checkpoint keeps as text, so that the inputs of its run can be read as they were then. Returns undefined if one
 * of them is not among `known`, because it does not say all. Throws SluiceError OPTION_INVALID.
 */
export function readRecorded(
  recorded: Readonly<Record<string, string>>,
  connect: ConnectOptions,
  known: ReadonlySet<string>,
): Pick<Load, 'inputs' | 'documents' | 'batching' | 'connecting'> | undefined {
  const ofCsv = new Map(placedIn('csv').map(({ name, place, kind }) => [name as string, { name: place.name, kind }]))
  const options: Record<string, unknown> = {}
  const csvOptions: Record<string, unknown> = {}
  for (const [name, text] of Object.entries(recorded)) {
    const csv = ofCsv.get(name)
    if (csv !== undefined) csvOptions[csv.name] = valueIn(text, csv.kind.check)
    else if (known.has(name) && isOptionName(name)) options[name] = valueIn(text, describeOption(name).kind.check)
    else return undefined
  }
  const csv = Object.keys(csvOptions).length === 0 ? {} : { csv: csvOptions }
  // The caller opens the inputs.
  return readOptions({ ...connect, source: 'recorded', index: 'recorded', ...options, ...csv })
}

/** A text stands for itself if the option takes a text, and otherwise for a value in JSON. */
function valueIn(text: string, check: Check): unknown {
  return check(text) === undefined ? text : parseJson(text)
}

/** Fills in defaults of options that were checked. `tables`: those among the inputs. */
export function loadOf(whole: IngestOptions, ids: Ids, tables: readonly string[] = [], remote?: RemoteSection): Load {
  const given = takenApart(whole)
  const options = filled(given, defaults)
  const { index, swapAlias, spool, spoolLimit, mapping, template } = options
  return Object.freeze({
    ...take(options, 'dryRun', 'onEvent'),
    connecting: connectSection(given),
    inputs: Object.freeze({ ...take(options, 'source', 'stdin'), csv: csvOf(options), ...section(options, 'inputs') }),
    documents: Object.freeze({
      ...section(options, 'documents'),
      into: index ?? swapAlias ?? '',
      indexPattern: patternIn(index ?? ''),
      ids,
      script: scriptOf(options),
    }),
    batching: Object.freeze({
      ...section(options, 'batching'),
      batchDocs: Math.min(options.batchDocs, docsPerSecond(given.maxRate)),
    }),
    retrying: Object.freeze({
      ...take(options, 'refreshCredentials'),
      ...section(options, 'retrying'),
      blockWaitMs: blockWaitOf(given.onBlock),
      freshProxyOrigin: takeProxyApart(given.proxy).origin ?? 'refreshCredentials()',
    }),
    stopping: Object.freeze({ ...take(options, 'signal', 'startedAt'), ...section(options, 'stopping') }),
    traffic: section(options, 'traffic'),
    state: section(options, 'state'),
    preparing: Object.freeze({
      ...section(options, 'preparing'),
      mapping: mapping === undefined || isMappingWord(mapping) ? mapping : mappingIn(mapping),
      template: template === undefined ? undefined : templateIn(template),
    }),
    guarded: swapAlias === undefined ? undefined : Object.freeze({ ...section(options, 'guarded'), alias: swapAlias }),
    tables: tables.length === 0 ? undefined : tableSection(given, tables),
    remote,
    from: fromSection(given),
    spool: spool === true ? Object.freeze({ limit: spoolLimit }) : undefined,
    edits: editSection(given.edits),
    follow: options.follow === true ? section(options, 'follow') : undefined,
    transform:
      options.transform === undefined
        ? undefined
        : Object.freeze({ transform: options.transform, timeoutMs: options.transformTimeoutMs }),
  })
}

/** Reads how indices of another cluster are pulled. Throws SluiceError OPTION_INVALID. */
export function readFrom(given: Pick<IngestOptions, FromPart>): FromSection {
  const section = fromSection(completeForIndices(given))
  if (section === undefined) throw invalid('source', 'is no index of another cluster')
  return section
}

type FromPart = 'from' | 'source' | 'timeoutMs' | 'concurrency' | 'signal'

function fromSection(given: Pick<IngestOptions, FromPart>): FromSection | undefined {
  const { from, source, timeoutMs, concurrency, signal } = given
  const names = foreignIndicesIn(source)
  if (from === undefined || names.length === 0) return undefined
  const { url, apiKey, username, password, ca, proxy, query } = from
  const connecting = connectSection({
    target: { url: String(url), apiKey, username, password, ca },
    proxy: proxy === undefined ? { direct: true } : { url: proxy, origin: 'from.proxy' },
    timeoutMs,
    concurrency,
    signal,
  })
  return Object.freeze({ names, connecting, query })
}

/** Returns how tables are read. */
function csvOf({ csv, mapping, format = 'auto' }: IngestOptions): IngestOptions['csv'] {
  const mayBeTable = format === 'auto' || format === 'csv' || format === 'tsv'
  return mapping === 'infer' && mayBeTable ? asProposed(csv) : csv
}

function scriptOf({ script: source, scriptId: id }: Apart<IngestOptions>): Script | undefined {
  if (source !== undefined) return { source }
  return id === undefined ? undefined : { id }
}

/** Checks how to reach a cluster, and fills in defaults. Throws SluiceError OPTION_INVALID. */
export function readConnecting(given: ConnectOptions): ConnectSection {
  checkConnectOptions(given)
  return connectSection(given)
}

/** Takes the proxy apart. A string or a URL is the proxy's own address. */
export function proxySection(given: ConnectOptions['proxy']): ProxySection {
  const proxy = filled(takeProxyApart(given), { ...defaults, origin: 'proxy', environmentOrigin: 'HTTPS_PROXY' })
  return Object.freeze({
    ...placed('proxy', proxy),
    ...take(proxy, 'origin', 'environmentOrigin'),
    url: proxy.url === undefined ? undefined : String(proxy.url),
  })
}

/** Fills in defaults of how to reach an instance. */
export function instanceSection(given: Omit<ServiceNowConnection, 'onWarning' | 'signal'>): InstanceSection {
  return Object.freeze({
    ...take(filled(given, defaults), 'servicenow', 'concurrency', 'preflightConnections', 'timeoutMs', 'maxElapsedMs'),
    proxy: proxySection(given.proxy),
    connectTimeoutMs: connectTimeoutOf(given.timeoutMs),
  })
}

function connectSection(given: ConnectOptions & { readonly [openedWith]?: unknown }): ConnectSection {
  const { ipCheckUrl, timeoutMs } = given
  return Object.freeze({
    ...section(filled(given, defaults), 'connecting'),
    target: given.target,
    proxy: proxySection(given.proxy),
    openedWith: given[openedWith],
    connectTimeoutMs: connectTimeoutOf(timeoutMs),
    ipCheckUrl: ipCheckUrl === undefined ? undefined : readUrl('ipCheckUrl', ipCheckUrl),
  })
}

/** Returns the time limit of a connection. A user who sets a time limit may have a slow proxy. Otherwise connections need much less time than answers. */
function connectTimeoutOf(timeoutMs: number | undefined): number | undefined {
  return timeoutMs === undefined ? undefined : Math.max(10_000, timeoutMs)
}

function takeProxyApart(given: ConnectOptions['proxy']): ProxyOptions {
  return typeof given === 'string' || isUrl(given) ? { url: given } : (given ?? {})
}

function tableSection(given: Apart<IngestOptions>, names: readonly string[]): TableSection | undefined {
  const { servicenow, table = {}, deletions } = filled(given, defaults)
  if (servicenow === undefined) return undefined
  return Object.freeze({
    names,
    servicenow,
    selection: placed('table', filled(table, defaults)),
    deletions: deletions === 'keep' ? undefined : section(filled(given, defaults), 'deletions'),
  })
}

function editSection(given: IngestOptions['edits']): EditSection | undefined {
  const isAny = Object.values(given ?? {}).some(value => value !== undefined)
  return given === undefined || !isAny ? undefined : placed('edits', given)
}

/** Returns the most documents of a request: a second's worth, so that requests are no bursts. */
function docsPerSecond(rate: IngestOptions['maxRate']): number {
  return rate !== undefined && 'documents' in rate ? rate.documents : Infinity
}

/** How long `wait` waits. */
const WAIT_MS = 1_800_000

/** Returns how long a load waits for access that it lost, in milliseconds. */
export function blockWaitOf(onBlock: IngestOptions['onBlock']): number {
  if (typeof onBlock === 'object') return onBlock.waitMs
  return onBlock === 'wait' ? WAIT_MS : 0
}

function readUrl(option: string, text: string): URL {
  if (isWebAddress(text)) return new URL(text)
  throw invalid(option, 'is not an http or https URL')
}

/** Returns the options that the table puts into a section. */
function section<S extends LoadSection>(options: object, stage: S): Section<S> {
  const values = options as Readonly<Record<string, unknown>>
  // The type follows from the table, as the names do.
  return Object.freeze(Object.fromEntries(stagedIn(stage).map(name => [name, values[name]]))) as unknown as Section<S>
}

/** Returns the options in a section of the library's. */
function placed<T extends object>(section: string, given: T): Complete<T> {
  const values = given as Readonly<Record<string, unknown>>
  const names = placedIn(section).map(({ place }) => place.name)
  // A type test compares their names with those of the library.
  return Object.freeze(Object.fromEntries(names.map(name => [name, values[name]]))) as unknown as Complete<T>
}

/** An option that is undefined is not set. */
function filled<T extends object, D extends object>(given: T, defaults: D): T & D {
  return { ...defaults, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) } as T &
    D
}

function take<T extends object, K extends keyof T>(options: T, ...names: readonly K[]): Readonly<Required<Pick<T, K>>> {
  return Object.freeze(Object.fromEntries(names.map(name => [name, options[name]]))) as Required<Pick<T, K>>
}
