/** The door: options as an embedder or the command line gives them become sections with every default filled in. */
import type { Ids } from '../bulk/action-line.js'
import { fail } from '../failure/fail.js'
import { checkConnectOptions, checkIngestOptions } from './check-ingest-options.js'
import { completeForTables } from './check-servicenow-options.js'
import { defaults } from './defaults.js'
import type {
  ConnectOptions,
  IngestOptions,
  ProxyOptions,
  ServiceNowConnection,
  ServiceNowOptions,
  TableOptions,
} from './ingest-options.js'
import type {
  ConnectSection,
  DeletionSection,
  GuardedSection,
  InstanceSection,
  Load,
  ProxySection,
  SelectionSection,
  TableSection,
} from './load.js'
import { isUrl } from './option-checks.js'
import { tablesIn } from './table-names.js'
import { isWebAddress } from './urls.js'

/** Checks the options of a load and fills in defaults. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function readOptions(given: IngestOptions): Load {
  const options = completeForTables(given)
  return loadOf(options, checkIngestOptions(options), tablesIn(options.source))
}

/** Fills in defaults of options that were checked. `tables`: those among the inputs. */
export function loadOf(given: IngestOptions, ids: Ids, tables: readonly string[] = []): Load {
  const { index, swapAlias, deadLetters, maxRejected, routingField, pipeline } = given
  return freeze({
    connecting: connectSection(given),
    inputs: freeze({
      source: given.source,
      stdin: given.stdin,
      format: given.format ?? defaults.format,
      pick: given.pick,
    }),
    documents: freeze({
      into: index ?? swapAlias ?? '',
      op: given.op ?? defaults.op,
      ids,
      routingField,
      pipeline,
      onConflict: given.onConflict ?? defaults.onConflict,
      deadLetters,
      maxRejected,
    }),
    batching: freeze({
      batchBytes: given.batchBytes ?? defaults.batchBytes,
      batchDocs: given.batchDocs ?? Infinity,
      batchMs: given.batchMs ?? defaults.batchMs,
      compress: given.compress ?? defaults.compress,
    }),
    retrying: freeze({
      maxElapsedMs: given.maxElapsedMs ?? defaults.maxElapsedMs,
      blockWaitMs: blockWaitOf(given.onBlock),
      freshProxyOrigin: takeProxyApart(given.proxy).origin ?? 'refreshCredentials()',
      refreshCredentials: given.refreshCredentials,
    }),
    stopping: freeze({
      signal: given.signal,
      graceMs: given.graceMs ?? defaults.graceMs,
      timeBudgetMs: given.timeBudgetMs,
      startedAt: given.startedAt,
      byteBudget: given.byteBudget,
    }),
    state: freeze({ stateDir: given.stateDir, runId: given.runId, again: given.again ?? false }),
    guarded: guardedSection(given),
    tables: given.servicenow === undefined ? undefined : tableSection(given, given.servicenow, tables),
    spool: given.spool === true ? freeze({ limit: given.spoolLimit }) : undefined,
    dryRun: given.dryRun ?? false,
    onEvent: given.onEvent,
  })
}

/** Checks how to reach a cluster, and fills in defaults. Throws SluiceError OPTION_INVALID. */
export function readConnecting(given: ConnectOptions): ConnectSection {
  checkConnectOptions(given)
  return connectSection(given)
}

/** Takes the proxy apart. A string or a URL is the proxy's own address. */
export function proxySection(given: ConnectOptions['proxy']): ProxySection {
  const proxy = takeProxyApart(given)
  return freeze({
    url: proxy.url === undefined ? undefined : String(proxy.url),
    origin: proxy.origin ?? 'proxy',
    ca: proxy.ca,
    environmentProxy: proxy.environmentProxy,
    environmentOrigin: proxy.environmentOrigin ?? 'HTTPS_PROXY',
    noProxy: proxy.noProxy,
    direct: proxy.direct ?? false,
    requireProxy: proxy.requireProxy ?? false,
  })
}

/** Fills in defaults of how to reach an instance. */
export function instanceSection(given: Omit<ServiceNowConnection, 'onWarning' | 'signal'>): InstanceSection {
  return freeze({
    servicenow: given.servicenow,
    proxy: proxySection(given.proxy),
    concurrency: given.concurrency ?? defaults.concurrency,
    preflightConnections: given.preflightConnections ?? defaults.preflightConnections,
    timeoutMs: given.timeoutMs ?? defaults.timeoutMs,
    maxElapsedMs: given.maxElapsedMs ?? defaults.maxElapsedMs,
  })
}

function selectionSection(given: TableOptions): SelectionSection {
  return freeze({
    query: given.query,
    fields: given.fields,
    displayValue: given.displayValue ?? defaults.displayValue,
    pageSize: given.pageSize ?? defaults.pageSize,
  })
}

function connectSection(given: ConnectOptions): ConnectSection {
  return freeze({
    target: given.target,
    proxy: proxySection(given.proxy),
    concurrency: given.concurrency ?? defaults.concurrency,
    preflightConnections: given.preflightConnections ?? defaults.preflightConnections,
    timeoutMs: given.timeoutMs ?? defaults.timeoutMs,
    staticIps: given.staticIps,
    ipCheckUrl: given.ipCheckUrl === undefined ? undefined : readUrl('ipCheckUrl', given.ipCheckUrl),
  })
}

function takeProxyApart(given: ConnectOptions['proxy']): ProxyOptions {
  return typeof given === 'string' || isUrl(given) ? { url: given } : (given ?? {})
}

function guardedSection({ swapAlias, indexBody, checkQuery, checkHits }: IngestOptions): GuardedSection | undefined {
  if (swapAlias === undefined) return undefined
  return freeze({ alias: swapAlias, indexBody, checkQuery, checkHits: checkHits ?? defaults.checkHits })
}

function tableSection(
  given: IngestOptions,
  servicenow: ServiceNowOptions,
  names: readonly string[],
): TableSection | undefined {
  if (names.length === 0) return undefined
  return freeze({
    names,
    servicenow,
    selection: selectionSection(given.table ?? {}),
    deletions: deletionSection(given),
  })
}

function deletionSection({
  deletions = 'keep',
  maxDeleted,
  reconcileEveryMs,
}: IngestOptions): DeletionSection | undefined {
  if (deletions === 'keep') return undefined
  return freeze({
    mode: deletions,
    maxDeleted: maxDeleted ?? defaults.maxDeleted,
    reconcileEveryMs: reconcileEveryMs ?? 0,
  })
}

function blockWaitOf(onBlock: IngestOptions['onBlock']): number {
  if (typeof onBlock === 'object') return onBlock.waitMs
  return onBlock === 'wait' ? defaults.blockWaitMs : 0
}

/** Throws SluiceError OPTION_INVALID. */
function readUrl(option: string, text: string): URL {
  if (isWebAddress(text)) return new URL(text)
  throw fail('OPTION_INVALID', { option, problem: 'is not an http or https URL' })
}

function freeze<T extends object>(section: T): Readonly<T> {
  return Object.freeze(section)
}
