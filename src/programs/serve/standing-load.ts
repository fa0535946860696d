/** Loads one file after the other over one connection that stays open. */
import { checkFreshCredentials, checkIngestOptions } from '../../options/check-options.js'
import type { IngestOptions } from '../../options/ingest-options.js'
import type { IngestEvent } from '../../options/run-events.js'
import { loadOf, proxySection, readConnecting } from '../../options/read-options.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import { noted } from '../../route/connect/over-connection.js'
import { featuresOf, sharedOf } from '../../features/features-of.js'
import { openUnspentPlan } from '../../features/limits/traffic-plan/plan-use.js'
import { openSlots } from '../../pipeline/bulk/slots.js'
import { run } from '../../run/loop/run.js'
import type { ServeOptions } from './serve-options.js'

interface LoadedFile {
  readonly path: string
  /** The part of the ids that belongs to this file. A second load with the same token doubles nothing. */
  readonly token: string
  readonly name: string
  /** False to load without a checkpoint: none can be written, or the old one does not fit. Default true. */
  readonly isKept?: boolean
}

export interface StandingLoad {
  /** `https://HOST:PORT`, without credentials. */
  readonly cluster: string
  /** Throws what `ingest` throws. */
  load(
    file: LoadedFile,
    heard: { readonly signal: AbortSignal; readonly onEvent: (event: IngestEvent) => void },
  ): Promise<Receipt>
  close(): Promise<void>
}

/** Opens the connection, with its preflight. `planDir`: where Sluice counts for the plan. `warn`: hears that a target may come back, and Sluice waits for it. Absent: it does not wait. Throws SluiceError: PLAN_SPENT, OPTION_INVALID, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED. */
export async function openStandingLoad(
  options: Omit<IngestOptions, 'source'>,
  planDir: string | undefined,
  warn?: (message: string) => void,
): Promise<StandingLoad> {
  const ids = checkIngestOptions({ ...options, source: [] })
  const standing = loadOf({ ...options, source: [] }, ids)
  const { connecting, batching, traffic } = standing
  // Counts also what is sent between two loads. Sends nothing if the plan is spent.
  const plan = await openUnspentPlan({ traffic, connecting }, planDir)
  const patience = warn && { maxElapsedMs: standing.retrying.maxElapsedMs, warn }
  const opening = openClusterItself(readConnecting(options), options.signal, { patience })
  const { cluster, way } = await opening.catch((error: unknown) => {
    plan?.[Symbol.dispose]()
    throw error
  })
  const slots = openSlots(connecting, batching)
  const shared = sharedOf(standing, planDir)
  let isTold = false
  return {
    cluster: cluster.display,
    load: async ({ path, token, name, isKept = true }, { signal, onEvent }) => {
      // The connection is opened once, and each run reports it.
      const tell = (event: IngestEvent) => {
        if (event.type === 'preflight' && isTold) return
        isTold ||= event.type === 'preflight'
        onEvent(event)
      }
      const given = {
        ...options,
        source: path,
        format: 'ndjson' as const,
        runId: name,
        stateDir: isKept ? options.stateDir : undefined,
        signal,
        onEvent: tell,
      }
      const connection = { cluster, way, slots, token }
      const load = loadOf(given, ids)
      const spans = { name: 'sluice serve', index: load.documents.into }
      const hung = await featuresOf('serve', { load, shared, spans })
      return await noted(options, async () => await run({ command: 'serve', secrets: [], load, connection, ...hung }))
    },
    close: async () => {
      await cluster.route.destroy()
      plan?.[Symbol.dispose]()
    },
  }
}

/** How long one bulk request may be refused or unanswered. Then Sluice connects again, and the preflight names the problem. */
const MAX_ELAPSED_MS = 60_000

/** Returns the options to load one segment with: those of the receiver that a load has too, with the current credentials. */
export async function loadWith(
  options: ServeOptions,
  more: Pick<IngestOptions, 'stateDir' | 'signal' | 'graceMs'>,
): Promise<Omit<IngestOptions, 'source'>> {
  const {
    token: _token,
    listen: _listen,
    tls: _tls,
    path: _path,
    maxBody: _maxBody,
    maxDocuments: _maxDocuments,
    spoolLimit: _spoolLimit,
    acceptAnyway: _acceptAnyway,
    metrics: _metrics,
    onEvent: _onEvent,
    refreshCredentials,
    ...load
  } = options
  // While a file is being replaced it may be missing. Then the old credentials are used again.
  const { proxy, ...fresh } = (await askFor(refreshCredentials)) ?? {}
  const target = { ...load.target, ...present(fresh) }
  return {
    ...load,
    ...more,
    target,
    ...(proxy === undefined ? {} : { proxy: { ...proxySection(load.proxy), url: proxy } }),
    deadLetters: load.deadLetters ?? `sluice-dead-letters-serve-${load.index}.ndjson`,
    maxElapsedMs: MAX_ELAPSED_MS,
  }
}

async function askFor(refresh: ServeOptions['refreshCredentials']) {
  try {
    const fresh = await refresh?.()
    if (fresh !== undefined) checkFreshCredentials(fresh)
    return fresh
  } catch {
    return undefined
  }
}

function present<T extends object>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>
}
