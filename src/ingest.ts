/** The main job, composed: source → format → bulk → sender → ledger. */
import type { Ids } from './bulk/action-line.js'
import { Batcher } from './bulk/batcher.js'
import { SlotPool } from './bulk/slots.js'
import { MAX_DOCUMENT_BYTES, checkIngestOptions } from './check-ingest-options.js'
import { isLoopback } from './cluster/loopback.js'
import type { Cluster } from './cluster/open-cluster.js'
import { cutShort } from './cut-short.js'
import { explain } from './failure/catalogue.js'
import type { Failure } from './failure/failure.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import { type FoundRun, findRun, newRunId, stateDirOf } from './find-run.js'
import type { Batch, Outcome, Source } from './flow.js'
import type { IngestEvent, IngestOptions } from './ingest-options.js'
import { prepareStateDir } from './ledger/checkpoint-file.js'
import { composeReceipt } from './ledger/compose-receipt.js'
import { DeadLetters } from './ledger/dead-letters.js'
import { Ledger } from './ledger/ledger.js'
import { type InputLocks, lockInputs } from './ledger/lock.js'
import { takeBack } from './ledger/take-back.js'
import type { Receipt } from './ledger/receipt.js'
import { keepApart } from './keep-apart.js'
import { load } from './load.js'
import { DEFAULT_CONCURRENCY, type Way, findWay, openTarget } from './open-target.js'
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
 * TOO_MANY_REJECTED, DEAD_LETTERS_UNWRITABLE, STATE_*, RUN_LOCKED, RUN_OPTIONS_CHANGED or RUN_INTERRUPTED. Once the way was open, `error.receipt` tells what was done.
 */
export async function ingest(options: IngestOptions): Promise<Receipt> {
  const ids = checkIngestOptions(options)
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
    tell,
    async (all, spool) => await run({ options, ids, tell, sources: all, spool, locks }),
  )
}

interface Run {
  readonly options: IngestOptions
  readonly ids: Ids
  readonly tell: (event: IngestEvent) => void
  readonly sources: readonly Source[]
  readonly spool: Spool | undefined
  readonly locks: InputLocks | undefined
}

async function run({ options, ids, tell, sources, spool, locks }: Run): Promise<Receipt> {
  const { concurrency = DEFAULT_CONCURRENCY, batchBytes = 5_000_000, dryRun = false, signal } = options
  const { cluster, way } = await openTarget(options).catch((error: unknown) => {
    throw cutShort(error, signal)
  })
  try {
    const began = performance.now()
    const found = await findRun(options, sources, cluster)
    const { plan } = found
    await locks?.name(plan.run)
    tellPreflight(tell, cluster, [...way.notes, ...found.notes])
    for (const message of found.warnings) tell({ type: 'warning', message })
    for (const { source, isLoaded } of plan.inputs) if (isLoaded) tell({ type: 'loaded', name: source.name })

    const left = plan.inputs.filter(({ isLoaded }) => !isLoaded)
    await using deadLetters = await openDeadLetters(options, sources, plan.run, found)
    const ledger = new Ledger(deadLetters, {
      maxRejected: options.maxRejected,
      before: plan.before.counts,
      resendsUnanswered: ids.from !== 'cluster',
    })
    const { path } = found
    const keeper =
      path === undefined || plan.isDone
        ? undefined
        : new StateKeeper({ found, path, cluster, ledger, deadLetters, ...(spool === undefined ? {} : { spool }) })
    await keeper?.start()
    const notes: string[] = []
    const { behind } = found.target
    const sender = new Sender({
      cluster,
      index: options.index,
      ...(options.pipeline === undefined ? {} : { pipeline: options.pipeline }),
      ownIds: ids.from === 'run',
      safeToResend: ids.from !== 'cluster',
      sentBefore: maySendAgain(options, found, ids.from === 'run'),
      onConflict: options.onConflict ?? 'reject',
      // Who sent them before, and where to, is known from the checkpoint alone.
      ...(behind === undefined || (options.runId !== undefined && plan.began === undefined) ? {} : { behind }),
      concurrency,
      batchBytes,
      gzip: compresses(options.compress ?? 'auto', way),
      maxElapsedMs: options.maxElapsedMs ?? 900_000,
      clock: systemClock,
      wallClock: Date.now,
      random: Math.random,
      onDoubt: message => {
        notes.push(message)
        tell({ type: 'warning', message })
      },
      onRetry: (why, documents, waitMs) => tell({ type: 'retry', failure: why, documents, waitMs }),
    })
    const batcher = new Batcher({
      operation: options.op ?? 'create',
      ids,
      ...(options.routingField === undefined ? {} : { routingField: options.routingField }),
      batchBytes,
      bodyBytes: () => sender.bodyBytes,
      batchDocs: options.batchDocs ?? Infinity,
      batchMs: options.batchMs ?? 1000,
      maxDocumentBytes: MAX_DOCUMENT_BYTES,
      // One is filled while the others are being sent. Which are not needed are never touched.
      slots: new SlotPool(concurrency + 1, batchBytes),
      clock: systemClock,
      longLine: async (input, origin, operation) => await ledger.longLine(input, origin, operation, MAX_DOCUMENT_BYTES),
    })
    const loaded = await load({
      inputs: left,
      format: { format: options.format ?? 'auto', ...(options.pick === undefined ? {} : { pick: options.pick }) },
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
      ...(signal === undefined ? {} : { signal }),
      tell,
    })
    const why = loaded.failure?.code === 'INPUT_UNENDED' ? otherBrokenInput(ledger) : loaded.failure
    const named = why === undefined ? cutFailure(spool, ledger.counts) : await nameBlock(why, cluster)
    const unkept = await keeper?.finish(statusOf(named))
    const stopped = named ?? unkept
    const isOver = plan.isDone || keeper?.isComplete === true
    if (isOver) await spool?.remove().catch(tellError(tell))
    const receipt = composeReceipt({
      plan,
      ledger,
      cluster,
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
  return await lockInputs({ stateDir, cluster: url.href, index: options.index, sources })
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
  found?: FoundRun,
): Promise<DeadLetters> {
  const deadLetters = new DeadLetters(deadLettersPath(options, run))
  await keepApart(sources, deadLetters.path)
  const before = found?.plan.deadLetters
  if (before !== undefined) await takeBack(before.path, before.length, new Set(sources.map(({ name }) => name)))
  await deadLetters.check()
  return deadLetters
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
  return stopped.code === 'RUN_INTERRUPTED' ? 'interrupted' : 'failed'
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

/** One refused bulk request does not tell whether the filter knows both addresses, one, or none: fresh connections do. */
async function nameBlock(stopped: Failure, cluster: Cluster): Promise<Failure> {
  if (stopped.code !== 'EGRESS_NOT_ALLOWED') return stopped
  try {
    await cluster.probe()
    return stopped
  } catch (error) {
    const seen = isSluiceError(error) && explain(error.code).stage === 'egress'
    return seen ? error.failure : stopped
  }
}
