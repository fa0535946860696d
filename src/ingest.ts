/** The main job, composed: source → format → bulk → sender → ledger, and what hangs on a run. */
import { completed, noted, type OverConnection } from './route/connect/over-connection.js'
import { featuresOf, type Given, type Program, sharedOf } from './features/features-of.js'
import type { Receipt } from './pipeline/ledger/receipt.js'
import type { IngestOptions } from './options/ingest-options.js'
import { secretsOf } from './base/secrets.js'
import { readOptions } from './options/read-options.js'
import { systemClock } from './base/time/clock.js'
import type { InferOptions, LookOfInputs } from './features/mapping/infer-mapping.js'
import type { OpenConnection } from './run/loop/hooks.js'
import { stopSignalsOf } from './run/loop/stop-signals.js'
import { run } from './run/loop/run.js'
import { keptSegments } from './features/spool/segments.js'
import type { OpenPlatform } from './features/tables/open-platform.js'

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
  return await noted(given, async () => await ingestFrom(given))
}

/** Loads documents as `ingest` does. `platform` opens the tables. */
export async function ingestFrom(options: IngestOptions, platform?: OpenPlatform): Promise<Receipt> {
  const load = readOptions(options)
  const { follow } = load
  const shared = sharedOf(load, load.state.stateDir)
  if (follow === undefined) return await loadOnce('ingest', { load, shared, platform })
  const { followInputs } = await import('./features/follow/follow-inputs.js')
  return await followInputs(
    { ...load, follow },
    async ({ stopping, onEvent, connection, feature: own }) =>
      await loadOnce('follow', { load: { ...load, stopping, onEvent }, shared, platform, own }, connection),
    keptSegments,
  )
}

/** Loads what the sections say. `connection`: absent if the load opens its own one. */
export async function loadOnce(
  program: Program,
  given: Omit<Given, 'spans'>,
  connection?: OpenConnection,
): Promise<Receipt> {
  const { load } = given
  const { into, indexPattern } = load.documents
  const spans = { name: 'sluice ingest', index: indexPattern === undefined ? into : undefined }
  return await run({
    command: 'ingest',
    secrets: secretsOf(load),
    load,
    listCopies: keptSegments,
    filesStay: true,
    ...(connection === undefined ? {} : { connection }),
    ...(await featuresOf(program, { ...given, spans })),
  })
}

/**
 * Looks at the beginning of inputs, as `ingest` with the same options would read them. Asks no cluster, and opens only servers of inputs.
 *
 * @throws SluiceError OPTION_INVALID, INPUT_*, SOURCE_*
 */
export async function lookAtInputs(options: InferOptions): Promise<LookOfInputs> {
  const { lookAt } = await import('./features/mapping/infer-mapping.js')
  const { source, signal } = options
  // Nothing is sent to this target.
  const load = readOptions({ source, signal, target: { url: 'http://localhost' }, index: 'documents' })
  const { remote, inputs, connecting, retrying, stopping } = load
  if (remote === undefined) return await lookAt(options)
  const { openRemote } = await import('./features/remote/read-remote.js')
  using stop = stopSignalsOf(stopping, systemClock)
  await using servers = openRemote({ connecting, retrying, remote }, { stop, tell: () => {} })
  return await lookAt({ ...options, source: inputs.source as InferOptions['source'] }, servers.elsewhere)
}
