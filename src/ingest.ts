/** The main job, composed: source → format → bulk → sender → ledger. */
import type { Ids } from './bulk/action-line.js'
import { checkIngestOptions } from './check-ingest-options.js'
import { explain } from './failure/catalogue.js'
import type { Failure } from './failure/failure.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import type { Batch, Outcome, Source } from './flow.js'
import type { IngestOptions } from './ingest-options.js'
import { settledOf, sumOf } from './ledger/account.js'
import { prepareStateDir } from './ledger/checkpoint-file.js'
import { lockCheckpoint } from './ledger/checkpoint-lock.js'
import { composeReceipt } from './ledger/compose-receipt.js'
import type { DeadLetters } from './ledger/dead-letters.js'
import { Ledger } from './ledger/ledger.js'
import { type InputLocks, lockInputs } from './ledger/lock.js'
import type { Plan } from './ledger/plan-run.js'
import type { Receipt } from './ledger/receipt.js'
import { DEFAULT_CONCURRENCY, findWay, openTarget } from './open-target.js'
import { accessOf } from './run/access.js'
import { bindCluster } from './run/bind-cluster.js'
import { endingOf, meterWire } from './run/budgets.js'
import { openLimits } from './run/cluster-limits.js'
import type { Ending } from './run/ending.js'
import { findRun, newRunId, spoolFolder, stateDirOf } from './run/find-run.js'
import { guard } from './run/guarded-load.js'
import { type Tell, listenerOf, tellError, tellPreflight } from './run/listener.js'
import { load } from './run/load.js'
import { DEFAULT_BATCH_BYTES, type Replaying, openBatcher } from './run/open-batcher.js'
import { intoOf, openDeadLetters } from './run/open-dead-letters.js'
import { compresses, openSender } from './run/open-sender.js'
import { StateKeeper } from './run/state-keeper.js'
import { cutFailure, withSpool } from './run/with-spool.js'
import { findSources } from './source/open-sources.js'
import type { Spool } from './source/spool.js'
import { systemClock } from './system-clock.js'

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
 * TOO_MANY_REJECTED, ALIAS_CONFLICT, INDEX_REQUEST_REFUSED, LOAD_CHECK_FAILED, DEAD_LETTERS_UNWRITABLE, STATE_*, RUN_LOCKED,
 * RUN_OPTIONS_CHANGED, RUN_INTERRUPTED, TIME_BUDGET_SPENT or BYTE_BUDGET_SPENT. Once the way was open, `error.receipt` tells
 * what was done.
 */
export async function ingest(options: IngestOptions): Promise<Receipt> {
  return await run(options, checkIngestOptions(options))
}

/** Runs a load whose options were checked. Throws as `ingest` does. */
export async function run(given: IngestOptions, ids: Ids, replaying?: Replaying): Promise<Receipt> {
  using ending = endingOf(given, systemClock)
  const options: IngestOptions = { ...given, signal: ending.signal }
  const tell = listenerOf(options)
  const sources = await findSources(options.source, options.stdin === undefined ? {} : { stdin: options.stdin })
  const stateDir = stateDirOf(options, sources)
  if (stateDir !== undefined) await prepareStateDir(stateDir)
  await using locks =
    stateDir === undefined ? undefined : await lock(options, stateDir, sources, replaying !== undefined)
  // What cannot be written is better known before the way is looked for.
  await openDeadLetters(options, sources, options.runId ?? newRunId())
  return await withSpool(
    options,
    sources,
    { ending, tell, isReplay: replaying !== undefined },
    async (all, spool) =>
      await loadSources({ options, ids, replaying, ending, stateDir, tell, sources: all, spool, locks }),
  )
}

interface Run {
  readonly options: IngestOptions
  readonly ids: Ids
  readonly replaying: Replaying | undefined
  readonly ending: Ending
  readonly stateDir: string | undefined
  readonly tell: Tell
  readonly sources: readonly Source[]
  readonly spool: Spool | undefined
  readonly locks: InputLocks | undefined
}

async function loadSources(run: Run): Promise<Receipt> {
  const { options, ids, replaying, ending, stateDir, tell, sources, spool, locks } = run
  const {
    concurrency = DEFAULT_CONCURRENCY,
    batchBytes = DEFAULT_BATCH_BYTES,
    batchDocs = Infinity,
    dryRun = false,
  } = options
  const { cluster: open, way } = await openTarget(options).catch((error: unknown) => {
    throw ending.cause(error)
  })
  try {
    const began = performance.now()
    const wire = options.byteBudget === undefined ? undefined : meterWire(options.byteBudget, open, ending)
    const cluster = bindCluster(open, ending.givenUp, wire?.budget)
    const found = await findRun(options, sources, cluster, replaying, async path => {
      const input = sources[0]?.name ?? ''
      if (locks !== undefined) await lockCheckpoint(locks, { path, input, index: intoOf(options) })
    }).catch((error: unknown) => {
      throw ending.cause(error)
    })
    // What the abort cut off was not seen: nothing is to be concluded from it.
    const { plan } = found
    if (ending.signal.aborted) throw new SluiceError(ending.why(settledOf(plan.before.counts)))
    await locks?.name(plan.run)
    const format = { format: options.format ?? 'auto', ...(options.pick === undefined ? {} : { pick: options.pick }) }
    const action = {
      operation: options.op ?? 'create',
      ids,
      ...(options.routingField === undefined ? {} : { routingField: options.routingField }),
    }
    const gzip = compresses(options, way)
    const { inputs } = plan
    const sampling = { format, action, gzip, batchBytes, signal: ending.signal }
    const outlook = await wire?.foresee({ ...sampling, inputs, batchDocs, connections: concurrency })
    const foreseen = outlook ?? { notes: [], warnings: [] }
    tellPreflight(tell, cluster, [...way.notes, ...found.notes, ...foreseen.notes])
    const warnings = [...cluster.warnings, ...found.warnings, ...foreseen.warnings]
    for (const message of warnings) tell({ type: 'warning', message })
    for (const { source, isLoaded } of inputs) if (isLoaded) tell({ type: 'loaded', name: source.name })

    const access = accessOf(options, way, cluster, tell)
    const guarded = guard(options, found, cluster, { ending, access, tell })
    const limits = await openLimits(stateDir, found.target, Date.now)
    const left = inputs.filter(({ isLoaded }) => !isLoaded)
    const planned = inputs.map(({ source }) => source)
    const { index } = found.target
    const before = {
      // A run that has nothing left writes none again, and they may be under repair.
      from: left.length === 0 ? undefined : plan.deadLetters,
      index,
      warn: (message: string) => tell({ type: 'warning', message }),
    }
    await using deadLetters = await openDeadLetters(options, planned, plan.run, before)
    const ledger = new Ledger(deadLetters, {
      maxRejected: options.maxRejected,
      before: plan.before.counts,
      resendsUnanswered: ids.from !== 'cluster',
    })
    const { path } = found
    const { givenUp } = ending
    const keeper =
      path === undefined || plan.isDone
        ? undefined
        : new StateKeeper({
            found,
            path,
            cluster: open,
            ledger,
            deadLetters,
            givenUp,
            ...(spool === undefined ? {} : { spool }),
          })
    await keeper?.start()
    await guarded?.prepare().catch(async (error: unknown) => {
      await keeper?.finish(isSluiceError(error) ? statusOf(error.failure) : 'failed')
      throw error
    })
    const notes: string[] = []
    const sender = openSender({ options, ids, found, way, cluster, access, limits, wire, givenUp, notes, tell })
    const batcher = openBatcher({ options, action, replaying, ledger, bodyBytes: () => sender.bodyBytes })
    const loaded = await load({
      inputs: left,
      format,
      batcher,
      send: dryRun ? leaveUnsent : async batch => await sender.send(batch),
      room: async () => await sender.room(),
      halt: () => sender.halt(),
      ledger,
      ...(keeper === undefined
        ? {}
        : {
            begin: async input => {
              await spool?.begun(input)
              await keeper.begin(input)
            },
            settled: () => keeper.touch(),
          }),
      ending,
      ...(wire === undefined ? {} : { wire: wire.use }),
      tell,
    })
    const why = loaded.failure?.code === 'INPUT_UNENDED' ? otherBrokenInput(ledger) : loaded.failure
    const { counts } = sumOf(plan.before, ledger)
    const named = why === undefined ? cutFailure(spool, counts) : why
    const save = async () => await keeper?.finish('interrupted')
    const written = writtenTo(deadLetters, plan)
    const unswitched = named ?? (await guarded?.complete(counts, written.deadLetters, save))
    const unkept = await keeper?.finish(statusOf(unswitched))
    await limits.keep(sender.learnt)
    const stopped = unswitched ?? unkept
    // What was not switched in is loaded, and checked, once more.
    const isOver = plan.isDone || (keeper?.isComplete === true && guarded?.receipt.switched !== false)
    const isGone = isOver && (await spool?.settle().catch(tellError(tell))) === true
    const receipt = composeReceipt({
      plan,
      ledger,
      cluster,
      ...(guarded === undefined ? {} : { alias: guarded.receipt }),
      notes,
      ...(path === undefined ? {} : { checkpoint: path }),
      ...(spool === undefined || isGone ? {} : { spool: spool.path }),
      ...written,
      requests: sender.requests,
      retries: sender.retries,
      bytesRead: loaded.bytesRead,
      elapsedMs: performance.now() - began,
      ...(stopped === undefined ? {} : { failure: stopped }),
    })
    if (stopped !== undefined) throw new SluiceError(stopped, { receipt })
    return receipt
  } finally {
    await open.route.destroy()
  }
}

/** Before anything is asked of anybody: a second run of the same inputs leaves no trace. */
async function lock(options: IngestOptions, stateDir: string, sources: readonly Source[], isReplay: boolean) {
  const { url } = findWay(options.target, options.proxy)
  const spool = options.spool === true ? { spool: spoolFolder(options, stateDir, url, isReplay) } : {}
  return await lockInputs({ stateDir, cluster: url.href, index: intoOf(options), sources, ...spool })
}

/** Why an input could not be read to its end, but for one that was spooled so. */
function otherBrokenInput({ inputs }: Ledger): Failure | undefined {
  return inputs
    .map(({ failure: broken }) => broken)
    .find(broken => broken !== undefined && broken.code !== 'INPUT_UNENDED')
}

/** The file of dead letters, if the run has any: where this process wrote none, that of before. */
function writtenTo({ records, path }: DeadLetters, { before, deadLetters }: Plan): { readonly deadLetters?: string } {
  const file =
    records > 0 ? path : before.counts.rejected > 0 && path !== undefined ? (deadLetters?.path ?? path) : undefined
  return file === undefined ? {} : { deadLetters: file }
}

function statusOf(stopped: Failure | undefined): 'finished' | 'interrupted' | 'failed' {
  if (stopped === undefined) return 'finished'
  return explain(stopped.code).exit === 5 ? 'interrupted' : 'failed'
}

async function leaveUnsent(batch: Batch): Promise<Outcome> {
  const docs = batch.docs + batch.refused.length
  const outcome = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: batch.docs }
  return { docs, ...outcome, rejected: batch.refused }
}
