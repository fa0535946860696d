/** The main job, composed: source → format → bulk → sender → ledger. */
import { completeForTables } from './options/check-table-options.js'
import type { Load } from './options/load.js'
import { readOptions } from './options/read-options.js'
import type { Batch, Outcome, Source } from './flow.js'
import type { IngestOptions } from './options/ingest-options.js'
import { prepareStateDir } from './state/checkpoint-file.js'
import { lockInputs } from './state/lock.js'
import type { Receipt } from './ledger/receipt.js'
import { resolveTarget, openTarget } from './connect/open-target.js'
import { begin } from './run/begin.js'
import { endingOf } from './run/budgets.js'
import { conclude } from './run/conclude.js'
import { formatOf } from './run/documents.js'
import { type OpenPlatform, findInputs } from './run/find-inputs.js'
import { areRepeatable, namesOfInputs, newRunId, stateDirOf } from './state/find-run.js'
import { forgetRows } from './tables/forget-rows.js'
import { listenerOf } from './run/listener.js'
import { load } from './run/load.js'
import type { Replaying } from './run/open-batcher.js'
import { intoOf, openDeadLetters } from './run/open-dead-letters.js'
import { openPipeline, openRunsDeadLetters } from './run/open-pipeline.js'
import type { Run, Standing } from './run/run.js'
import { spoolStdin } from './spool/spool-stdin.js'
import { systemClock } from './time/system-clock.js'
import { instanceOf } from './options/table-names.js'

/**
 * Loads documents into an index through the static-IP proxy and accounts for every one of them.
 *
 * Resolves to the receipt when every input was read to its end and every document has an outcome. Refused documents do not
 * make it throw: they are in the dead letters, and counted as `rejected`.
 *
 * ```ts
 * const receipt = await ingest({ source: 'logs/*.ndjson.gz', target: { url, apiKey }, proxy, index: 'logs-app' })
 * ```
 * @throws SluiceError when the run could not start or had to stop. `error.code` is OPTION_INVALID, INDEX_NAME_INVALID,
 * PLAINTEXT_CREDENTIALS, INPUT_*, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED, INDEX_BLOCKED, IDS_REFUSED, REQUEST_REFUSED,
 * SERVICENOW_*, TOO_MANY_REJECTED, DELETIONS_*, ALIAS_CONFLICT, INDEX_REQUEST_REFUSED, LOAD_CHECK_FAILED, DEAD_LETTERS_UNWRITABLE, STATE_*, RUN_LOCKED,
 * RUN_OPTIONS_CHANGED, RUN_INTERRUPTED, TIME_BUDGET_SPENT or BYTE_BUDGET_SPENT. Once the way was open, `error.receipt` tells
 * what was done.
 */
export async function ingest(options: IngestOptions): Promise<Receipt> {
  return await ingestFrom(options, openPlatform)
}

/** A load of files does not wait for what reads tables. */
const openPlatform: OpenPlatform = async (tables, options) => {
  const platform = await import('./tables/open-platform.js')
  return await platform.openPlatform(tables, options)
}

/** A load whose tables are opened by `open`. */
export async function ingestFrom(given: IngestOptions, open: OpenPlatform): Promise<Receipt> {
  return await run(completeForTables(given), readOptions(given), { open })
}

/** What a run may have besides its options. */
interface Beside {
  /** Where tables may be among its inputs. */
  readonly open?: OpenPlatform
  readonly replaying?: Replaying
  /** A way that stands. Absent: one of its own. */
  readonly standing?: Standing
}

/** Runs a load whose options were checked. Throws as `ingest` does. */
export async function run(given: IngestOptions, asked: Load, { open, replaying, standing }: Beside): Promise<Receipt> {
  using ending = endingOf(given, systemClock)
  const options: IngestOptions = { ...given, signal: ending.signal }
  const { ids } = asked.documents
  const tell = listenerOf(options)
  const { sources, platform } = await findInputs(options, open)
  await using _ = platform
  const spool = spoolStdin({ load: asked, ending, tell })
  const stateDir = stateDirOf(options, spool?.keepsInputs ?? areRepeatable(sources))
  if (stateDir !== undefined) await prepareStateDir(stateDir)
  const { url } = resolveTarget(asked.connecting)
  const identity = {
    into: options.swapAlias === undefined ? intoOf(options) : `alias ${options.swapAlias}`,
    sources: namesOfInputs(options),
    ...(replaying === undefined ? {} : { kind: 'replay' }),
  }
  const folder = stateDir === undefined ? undefined : spool?.folder({ stateDir, url, identity })
  await using locks = stateDir === undefined ? undefined : await lock(options, stateDir, url, sources, folder)
  // What cannot be written is better known before the way is looked for.
  await openDeadLetters(options, sources, options.runId ?? newRunId())
  const first = { options, asked, ids, replaying, ending, stateDir, tell, platform, spool, locks, standing }
  try {
    return await loadSources({ ...first, sources: (await spool?.inputs(sources, folder)) ?? sources })
  } catch (error) {
    throw spool === undefined ? error : await spool.failed(error)
  } finally {
    await spool?.dispose()
  }
}

async function loadSources(run: Run): Promise<Receipt> {
  const { options, ending, tell, spool, standing } = run
  const { cluster, way } =
    standing ??
    (await openTarget(run.asked.connecting, options.signal).catch((error: unknown) => {
      throw ending.cause(error)
    }))
  try {
    const began = performance.now()
    const begun = await begin(run, cluster, way)
    await using deadLetters = await openRunsDeadLetters(run, begun)
    const pipeline = await openPipeline(run, begun, deadLetters)
    const { batcher, sender, ledger, keeper } = pipeline
    const loaded = await load({
      inputs: begun.found.plan.inputs.filter(({ isLoaded }) => !isLoaded),
      format: formatOf(options),
      batcher,
      send: options.dryRun === true ? leaveUnsent : async batch => await sender.send(batch),
      room: async () => await sender.room(),
      halt: () => sender.halt(),
      ledger,
      begin: async input => await keeper?.begin(input),
      opened: (input, kind) => spool?.inputOpened(input, kind),
      settled: () => {
        if (keeper === undefined) forgetRows(run.sources, ledger)
        return keeper?.touch()
      },
      ending,
      ...(begun.wire === undefined ? {} : { wire: begun.wire.use }),
      tell,
    })
    return await conclude(run, begun, pipeline, loaded, performance.now() - began)
  } finally {
    if (standing === undefined) await cluster.route.destroy()
  }
}

/** Before anything is asked of anybody: a second run of the same inputs leaves no trace. */
async function lock(
  options: IngestOptions,
  stateDir: string,
  url: URL,
  sources: readonly Source[],
  folder: string | undefined,
) {
  const instance = options.servicenow === undefined ? undefined : instanceOf(options.servicenow)
  return await lockInputs({ stateDir, cluster: url.href, index: intoOf(options), sources, instance, folder })
}

/** A dry run sends nothing. */
async function leaveUnsent(batch: Batch): Promise<Outcome> {
  const docs = batch.docs + batch.refused.length
  const outcome = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: batch.docs }
  return { docs, ...outcome, rejected: batch.refused }
}
