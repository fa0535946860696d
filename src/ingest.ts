/** The main job, composed: source → format → bulk → sender → ledger, and what hangs on a run. */
import { completed, noted, type OverConnection } from './route/connect/over-connection.js'
import { guardAlias } from './features/guarded/guard-alias.js'
import { mapIndex } from './features/mapping/map-index.js'
import { loadDumps } from './features/destinations/load-dumps.js'
import { editDocuments } from './features/edits/edit-documents.js'
import { fillIndices } from './features/destinations/fill-indices.js'
import type { Round } from './features/follow/rounds.js'
import type { Receipt } from './pipeline/ledger/receipt.js'
import { learnLimits } from './features/limits/learn-limits.js'
import { limitTraffic, type SharedLimits, sharedLimits } from './features/limits/limit-traffic.js'
import { loadIntoQueue } from './features/destinations/load-into-queue.js'
import { traceRun } from './features/metrics/trace-run.js'
import type { IngestOptions } from './options/ingest-options.js'
import type { Load, TransformSection } from './options/load.js'
import { secretsOf } from './base/secrets.js'
import { readOptions } from './options/read-options.js'
import type { KeptServers, RemoteSections } from './features/remote/read-remote.js'
import type { Feature } from './run/loop/hooks.js'
import { rehearse } from './features/mapping/rehearse.js'
import { recordTimeline } from './features/report/record-timeline.js'
import type { OpenConnection } from './run/loop/locked-run.js'
import { run } from './run/loop/run.js'
import { nameUnread } from './features/rotated/name-unread.js'
import { keptSegments } from './features/spool/segments.js'
import { runScript } from './features/destinations/run-script.js'
import { spoolStdin } from './features/spool/spool-stdin.js'
import type { OpenPlatform } from './features/tables/open-platform.js'
import type { TableSections } from './features/tables/read-tables.js'
import { remindOfRejected } from './features/unreplayed/remind.js'
import { tuneIndex } from './features/tuned/tune-index.js'

/**
 * Loads documents into an index through the static-IP proxy and accounts for every one of them.
 *
 * Resolves to the receipt when every input was read to its end and every document has an outcome. Rejected documents do not make it throw:
 * they are in the dead letters, and counted as `rejected`.
 *
 * ```ts
 * const receipt = await ingest({ source: 'logs/*.ndjson.gz', target: { url, apiKey }, proxy, index: 'logs-app' })
 * ```
 * @throws SluiceError if the run could not start or had to stop. `error.code` is OPTION_INVALID, INDEX_NAME_INVALID,
 * PLAINTEXT_CREDENTIALS, INPUT_*, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED, INDEX_BLOCKED, IDS_REFUSED, REQUEST_REFUSED, SERVICENOW_*,
 * TOO_MANY_REJECTED, DELETIONS_*, ALIAS_CONFLICT, INDEX_REQUEST_REFUSED, LOAD_CHECK_FAILED, DEAD_LETTERS_UNWRITABLE, STATE_*, RUN_LOCKED,
 * RUN_OPTIONS_CHANGED, RUN_INTERRUPTED, TIME_BUDGET_SPENT, BYTE_BUDGET_SPENT, PLAN_SPENT or PLAN_LIMIT_REACHED. If the route was open,
 * `error.receipt` shows the outcome so far.
 */
export async function ingest(options: OverConnection<IngestOptions>): Promise<Receipt>
export async function ingest(options: IngestOptions): Promise<Receipt>
export async function ingest(options: IngestOptions | OverConnection<IngestOptions>): Promise<Receipt> {
  const given = completed(options)
  return await noted(given, async () => await ingestFrom(given, openPlatformWhenRead))
}

/** Loads documents as `ingest` does. `open` opens the tables. */
export async function ingestFrom(options: IngestOptions, open: OpenPlatform): Promise<Receipt> {
  const load = readOptions(options)
  const { follow } = load
  // What all rounds of a followed load share.
  const shared = {
    limits: sharedLimits(load.traffic),
    own: recordTimeline(load),
    planDir: load.state.stateDir,
    reminder: remindOfRejected({ isFollowed: follow !== undefined, ...load }),
  }
  if (follow === undefined) return await loadOnce(load, open, shared)
  const { followInputs } = await import('./features/follow/follow-inputs.js')
  const oneRound = async (round: Round) =>
    await loadOnce({ ...load, stopping: round.stopping, onEvent: round.onEvent }, open, shared, round)
  return await followInputs({ ...load, follow }, oneRound, keptSegments)
}

/** The parts that the loads of one call share. */
interface Shared {
  readonly limits: SharedLimits
  /** The feature that only such loads have. */
  readonly own: Feature
  /** Where Sluice counts for the plan of the proxy. */
  readonly planDir: string | undefined
  /** Absent: the load knows no earlier runs. */
  readonly reminder?: Feature
}

/** A load that is a part of something larger. */
export interface PartOfLoad {
  /** Comes before all others. */
  readonly feature: Feature
  /** Absent: the load opens its own connection. */
  readonly connection?: OpenConnection
  /** Absent: the load opens its own connections to servers of objects. */
  readonly servers?: KeptServers
}

/** Loads what the sections say. */
export async function loadOnce(
  load: Load,
  open: OpenPlatform,
  { limits, own, planDir, reminder }: Shared,
  part?: PartOfLoad,
): Promise<Receipt> {
  return await run({
    command: 'ingest',
    secrets: secretsOf(load),
    load,
    listCopies: keptSegments,
    filesStay: true,
    ...(part?.connection === undefined ? {} : { connection: part.connection }),
    // In the order of their endings.
    features: [
      ...(part === undefined ? [] : [part.feature]),
      traceRun({
        name: 'sluice ingest',
        index: load.documents.indexPattern === undefined ? load.documents.into : undefined,
      }),
      spoolStdin(load),
      fillIndices(load),
      mapIndex(load),
      guardAlias(load),
      ...(load.remote === undefined ? [] : [await remote({ ...load, remote: load.remote }, part?.servers)]),
      ...(load.tables === undefined ? [] : [await tables({ ...load, tables: load.tables }, open)]),
      limitTraffic(load, limits, planDir),
      learnLimits,
      own,
      loadIntoQueue(load),
      runScript(load),
      loadDumps(load),
      ...(load.transform === undefined ? [] : [await transform({ transform: load.transform })]),
      editDocuments(load),
      // The code that opened the connection of a part knows whether its index is tuned.
      ...(part?.connection === undefined ? [tuneIndex(load)] : []),
      rehearse(load),
      ...(part === undefined ? [nameUnread] : []),
      ...(reminder === undefined ? [] : [reminder]),
    ],
  })
}

/** Loads the code that reads tables, which a load of files does not need. */
async function tables(sections: TableSections, open: OpenPlatform): Promise<Feature> {
  const { readTables } = await import('./features/tables/read-tables.js')
  return readTables(sections, open)
}

/** Loads the code that runs functions of the user's. */
async function transform(sections: { readonly transform: TransformSection }): Promise<Feature> {
  const { transformDocuments } = await import('./features/transform/transform-documents.js')
  return transformDocuments(sections)
}

/** Loads the code that reads from servers. */
export async function remote(sections: RemoteSections, kept?: KeptServers): Promise<Feature> {
  const { readRemote } = await import('./features/remote/read-remote.js')
  return readRemote(sections, kept)
}

export const openPlatformWhenRead: OpenPlatform = async (...given) => {
  const platform = await import('./features/tables/open-platform.js')
  return await platform.openPlatform(...given)
}

export type { KeptServers }
