/** The main job, composed: source → format → bulk → sender → ledger. */
import type { Ids } from './bulk/action-line.js'
import { Batcher } from './bulk/batcher.js'
import { ReplayBatcher } from './bulk/replay-batcher.js'
import { SlotPool } from './bulk/slots.js'
import { endingOf, meterWire } from './budgets.js'
import { MAX_DOCUMENT_BYTES, checkIngestOptions } from './check-ingest-options.js'
import { isLoopback } from './cluster/loopback.js'
import type { Cluster } from './cluster/open-cluster.js'
import { openLimits } from './cluster-limits.js'
import type { Ending } from './ending.js'
import { explain } from './failure/catalogue.js'
import type { Failure } from './failure/failure.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import { type FoundRun, findRun, newRunId, stateDirOf } from './find-run.js'
import { guard } from './guarded-load.js'
import type { Batch, Destination, Input, Operation, Origin, Outcome, Source } from './flow.js'
import type { IngestEvent, IngestOptions } from './ingest-options.js'
import { prepareStateDir } from './ledger/checkpoint-file.js'
import { composeReceipt } from './ledger/compose-receipt.js'
import { DeadLetters } from './ledger/dead-letters.js'
import { sumOf } from './ledger/account.js'
import { Ledger } from './ledger/ledger.js'
import { type InputLocks, lockInputs } from './ledger/lock.js'
import { takeBack } from './ledger/take-back.js'
import type { Plan } from './ledger/plan-run.js'
import type { Receipt } from './ledger/receipt.js'
import { keepApart } from './keep-apart.js'
import { load } from './load.js'
import { DEFAULT_CONCURRENCY, type Way, findWay, openTarget } from './open-target.js'
import { renewCredentials } from './renew-credentials.js'
import { Sender } from './sender/sender.js'
import { findSources } from './source/open-sources.js'
import type { Spool } from './source/spool.js'
import { StateKeeper } from './state-keeper.js'
import { systemClock } from './system-clock.js'
import { cutFailure, withSpool } from './with-spool.js'

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
 * PLAINTEXT_CREDENTIALS, INPUT_*, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED, INDEX_BLOCKED, REQUEST_REFUSED,
 * TOO_MANY_REJECTED, ALIAS_CONFLICT, INDEX_REQUEST_REFUSED, LOAD_CHECK_FAILED, DEAD_LETTERS_UNWRITABLE, STATE_*, RUN_LOCKED,
 * RUN_OPTIONS_CHANGED, RUN_INTERRUPTED, TIME_BUDGET_SPENT or BYTE_BUDGET_SPENT. Once the way was open, `error.receipt` tells
 * what was done.
 */
export async function ingest(options: IngestOptions): Promise<Receipt> {
  return await run(options, checkIngestOptions(options))
}

/** What is sent are dead letters. With an index or a pipeline: to that, whatever they say. */
export interface Replaying {
  readonly index?: string
  readonly pipeline?: string
}

/** Runs a load whose options were checked. Throws as `ingest` does. */
export async function run(given: IngestOptions, ids: Ids, replaying?: Replaying): Promise<Receipt> {
  using ending = endingOf(given, systemClock)
  const options: IngestOptions = { ...given, signal: ending.signal }
  const tell = listenerOf(options)
  const sources = await findSources(options.source, options.stdin === undefined ? {} : { stdin: options.stdin })
  const stateDir = stateDirOf(options, sources)
  if (stateDir !== undefined) await prepareStateDir(stateDir)
  await using locks = stateDir === undefined ? undefined : await lock(options, stateDir, sources)
  // What cannot be written is better known before the way is looked for.
  await openDeadLetters(options, sources, options.runId ?? newRunId())
  return await withSpool(
    options,
    sources,
    { ending, tell },
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
  readonly tell: (event: IngestEvent) => void
  readonly sources: readonly Source[]
  readonly spool: Spool | undefined
  readonly locks: InputLocks | undefined
}

async function loadSources(run: Run): Promise<Receipt> {
  const { options, ids, replaying, ending, stateDir, tell, sources, spool, locks } = run
  const { concurrency = DEFAULT_CONCURRENCY, batchBytes = 5_000_000, batchDocs = Infinity, dryRun = false } = options
  const { cluster, way } = await openTarget(options).catch((error: unknown) => {
    throw ending.cause(error)
  })
  try {
    const began = performance.now()
    const wire = options.byteBudget === undefined ? undefined : meterWire(options.byteBudget, cluster, ending)
    const found = await findRun(options, sources, cluster, replaying !== undefined)
    // What the abort cut off was not seen: nothing is to be concluded from it.
    if (ending.signal.aborted) throw new SluiceError(ending.why(0))
    const { plan } = found
    await locks?.name(plan.run)
    const format = { format: options.format ?? 'auto', ...(options.pick === undefined ? {} : { pick: options.pick }) }
    const action = {
      operation: options.op ?? 'create',
      ids,
      ...(options.routingField === undefined ? {} : { routingField: options.routingField }),
    }
    const gzip = compresses(options.compress ?? 'auto', way)
    const { inputs } = plan
    const sampling = { format, action, gzip, batchBytes, signal: ending.signal }
    const outlook = await wire?.foresee({ ...sampling, inputs, batchDocs, connections: concurrency })
    const foreseen = outlook ?? { notes: [], warnings: [] }
    tellPreflight(tell, cluster, [...way.notes, ...found.notes, ...foreseen.notes])
    for (const message of [...found.warnings, ...foreseen.warnings]) tell({ type: 'warning', message })
    for (const { source, isLoaded } of inputs) if (isLoaded) tell({ type: 'loaded', name: source.name })

    const guarded = guard(options, found, cluster, tell)
    const limits = await openLimits(stateDir, found.target, Date.now)
    const left = inputs.filter(({ isLoaded }) => !isLoaded)
    const planned = inputs.map(({ source }) => source)
    const { index } = found.target
    const before = { from: plan.deadLetters, inputs: replaying === undefined ? planned : undefined, index }
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
            cluster,
            ledger,
            deadLetters,
            givenUp,
            ...(spool === undefined ? {} : { spool }),
          })
    await keeper?.start()
    await guarded?.prepare()
    const notes: string[] = []
    const { behind } = found.target
    const sender = new Sender({
      cluster,
      index,
      ...(options.pipeline === undefined ? {} : { pipeline: options.pipeline }),
      ownIds: ids.from === 'run',
      safeToResend: ids.from !== 'cluster',
      sentBefore: maySendAgain(options, found, ids.from === 'run'),
      onConflict: options.onConflict ?? 'reject',
      // Who sent them before, and where to, is known from the checkpoint alone.
      ...(behind === undefined || (options.runId !== undefined && plan.began === undefined) ? {} : { behind }),
      concurrency,
      batchBytes,
      gzip,
      maxElapsedMs: options.maxElapsedMs ?? 900_000,
      access: {
        waitMs: waitOf(options.onBlock),
        renew: async () => await renewCredentials(options, way, cluster),
        onBlocked: blocked => tell({ type: 'blocked', ...blocked }),
        onUnblocked: (what, waitedMs) => tell({ type: 'unblocked', failure: what, waitedMs }),
      },
      clock: systemClock,
      wallClock: Date.now,
      random: Math.random,
      learnt: limits.learnt,
      ...(wire === undefined ? {} : { budget: wire.budget }),
      givenUp,
      onDoubt: message => {
        notes.push(message)
        tell({ type: 'warning', message })
      },
      onRetry: (why, documents, waitMs) => tell({ type: 'retry', failure: why, documents, waitMs }),
    })
    const framing = {
      batchBytes,
      bodyBytes: () => sender.bodyBytes,
      batchDocs,
      batchMs: options.batchMs ?? 1000,
      maxDocumentBytes: MAX_DOCUMENT_BYTES,
      // One is filled while the others are being sent. Which are not needed are never touched.
      slots: new SlotPool(concurrency + 1, batchBytes),
      clock: systemClock,
      longLine: async (input: Input, origin: Origin, operation: Operation, id?: string) =>
        await ledger.longLine(input, origin, operation, MAX_DOCUMENT_BYTES, id),
    }
    const batcher =
      replaying === undefined
        ? new Batcher({ ...framing, ...action })
        : new ReplayBatcher({
            ...framing,
            ...replaying,
            longRecord: async (input, head) => await ledger.longRecord(input, head),
          })
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
    const named = why === undefined ? cutFailure(spool, ledger.counts) : why
    const { counts } = sumOf(plan.before, ledger)
    const save = async () => await keeper?.finish('interrupted')
    const unswitched = named ?? (await guarded?.complete(counts, save))
    const unkept = await keeper?.finish(statusOf(unswitched))
    await limits.keep(sender.learnt)
    const stopped = unswitched ?? unkept
    const isOver = plan.isDone || keeper?.isComplete === true
    if (isOver) await spool?.remove().catch(tellError(tell))
    const receipt = composeReceipt({
      plan,
      ledger,
      cluster,
      ...(guarded === undefined ? {} : { alias: guarded.receipt }),
      notes,
      ...(path === undefined ? {} : { checkpoint: path }),
      ...(spool === undefined || isOver ? {} : { spool: spool.path }),
      ...((deadLetters.records > 0 || plan.before.counts.rejected > 0) && deadLetters.path !== undefined
        ? { deadLetters: deadLetters.path }
        : {}),
      requests: sender.requests,
      retries: sender.retries,
      bytesRead: loaded.bytesRead,
      elapsedMs: performance.now() - began,
      ...(stopped === undefined ? {} : { failure: stopped }),
    })
    if (stopped !== undefined) throw new SluiceError(stopped, { receipt })
    return receipt
  } finally {
    await cluster.route.destroy()
  }
}

/** Before anything is asked of anybody: a second run of the same inputs leaves no trace. */
async function lock(options: IngestOptions, stateDir: string, sources: readonly Source[]) {
  const { url } = findWay(options.target, options.proxy)
  return await lockInputs({ stateDir, cluster: url.href, index: intoOf(options), sources })
}

/** A listener that throws loses its place, not the run. */
function listenerOf({ onEvent }: IngestOptions): (event: IngestEvent) => void {
  let listen: ((event: IngestEvent) => unknown) | undefined = onEvent
  const stop = () => void (listen = undefined)
  return event => {
    try {
      const told = listen?.(event)
      if (told instanceof Promise) told.catch(stop)
    } catch {
      stop()
    }
  }
}

function deadLettersPath({ deadLetters, dryRun }: IngestOptions, run: string): string | undefined {
  if (dryRun === true || deadLetters === false) return undefined
  return deadLetters ?? `sluice-dead-letters-${run}.ndjson`
}

/** Dead letters that can be written, and are no input. Those that a resume will write again are taken out of the file first. */
async function openDeadLetters(
  options: IngestOptions,
  sources: readonly Source[],
  run: string,
  before: {
    readonly from?: Plan['deadLetters']
    readonly inputs?: readonly Source[] | undefined
    readonly index?: string
  } = {},
): Promise<DeadLetters> {
  const { from, inputs, index = intoOf(options) } = before
  const destination = destinationOf(index, options)
  const deadLetters = new DeadLetters(deadLettersPath(options, run), { run, destination })
  await keepApart(sources, deadLetters.path)
  if (from !== undefined) {
    const names = inputs === undefined ? {} : { inputs: new Set(inputs.map(({ name }) => name)) }
    await takeBack(from.path, from.length, { run, ...names })
  }
  await deadLetters.check()
  return deadLetters
}

/** The name that the user gave: of what is loaded into, or of the alias that will be switched to it. */
function intoOf({ index, swapAlias }: IngestOptions): string {
  return index ?? swapAlias ?? ''
}

/** How long access that was lost is waited for, in milliseconds. */
function waitOf(onBlock: IngestOptions['onBlock'] = 'stop'): number {
  if (typeof onBlock === 'object') return onBlock.waitMs
  return onBlock === 'stop' ? 0 : 1_800_000
}

/** What a replay has to know of documents that were refused. */
function destinationOf(index: string, { pipeline, idField, routingField }: IngestOptions): Destination {
  return {
    index,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(idField === undefined ? {} : { idField }),
    ...(routingField === undefined ? {} : { routingField }),
  }
}

/** Whether a document may already be stored under the id that it will be sent with. */
function maySendAgain({ runId }: IngestOptions, { plan }: FoundRun, ownIds: boolean): boolean {
  if (!ownIds) return plan.isDoubtful
  return runId !== undefined || plan.began !== undefined || plan.inputs.some(({ from }) => from !== undefined)
}

/** Why an input could not be read to its end, but for one that was spooled so. */
function otherBrokenInput({ inputs }: Ledger): Failure | undefined {
  return inputs
    .map(({ failure: broken }) => broken)
    .find(broken => broken !== undefined && broken.code !== 'INPUT_UNENDED')
}

/** For what is not worth stopping for. Throws a bug. */
function tellError(tell: Run['tell']): (error: unknown) => void {
  return error => {
    if (!isSluiceError(error)) throw error
    tell({ type: 'warning', message: error.message })
  }
}

function statusOf(stopped: Failure | undefined): 'finished' | 'interrupted' | 'failed' {
  if (stopped === undefined) return 'finished'
  return explain(stopped.code).exit === 5 ? 'interrupted' : 'failed'
}

function tellPreflight(tell: NonNullable<IngestOptions['onEvent']>, cluster: Cluster, notes: readonly string[]): void {
  const { preflight, route, display, egress } = cluster
  tell({
    type: 'preflight',
    cluster: display,
    ...(preflight.info === undefined ? {} : { version: preflight.info.version }),
    route: route.proxy === undefined ? 'direct' : `${route.form} through ${route.proxy}`,
    probes: preflight.probes,
    missChance: preflight.missChance,
    egress,
    notes,
  })
}

/** Bytes through a proxy are metered and slow; on loopback only the CPU counts. */
function compresses(compress: 'auto' | 'gzip' | 'none', { url, proxy }: Way): boolean {
  if (compress !== 'auto') return compress === 'gzip'
  return !isLoopback(url.hostname) || (proxy !== undefined && !isLoopback(proxy.host))
}

async function leaveUnsent(batch: Batch): Promise<Outcome> {
  const docs = batch.docs + batch.refused.length
  const outcome = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: batch.docs }
  return { docs, ...outcome, rejected: batch.refused }
}
