/** The main job, composed: source → format → bulk → sender → ledger. */
import { randomBytes } from 'node:crypto'
import { Batcher } from './bulk/batcher.js'
import { SlotPool } from './bulk/slots.js'
import { MAX_DOCUMENT_BYTES, checkIngestOptions } from './check-ingest-options.js'
import { isLoopback } from './cluster/loopback.js'
import type { Cluster } from './cluster/open-cluster.js'
import { explain } from './failure/catalogue.js'
import { type Failure, failure } from './failure/failure.js'
import { SluiceError, isSluiceError } from './failure/sluice-error.js'
import type { Batch, Outcome } from './flow.js'
import type { IngestEvent, IngestOptions } from './ingest-options.js'
import { composeReceipt } from './ledger/compose-receipt.js'
import { DeadLetters } from './ledger/dead-letters.js'
import { Ledger } from './ledger/ledger.js'
import type { Receipt } from './ledger/receipt.js'
import { keepApart } from './keep-apart.js'
import { load } from './load.js'
import { DEFAULT_CONCURRENCY, type Way, openTarget } from './open-target.js'
import { Sender } from './sender/sender.js'
import { findSources } from './source/open-sources.js'
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
 * PLAINTEXT_CREDENTIALS, INPUT_*, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED, INDEX_BLOCKED, REQUEST_REFUSED,
 * TOO_MANY_REJECTED, DEAD_LETTERS_UNWRITABLE or RUN_INTERRUPTED. Once the way was open, `error.receipt` tells what was done.
 */
export async function ingest(options: IngestOptions): Promise<Receipt> {
  const ids = checkIngestOptions(options)
  const { concurrency = DEFAULT_CONCURRENCY, batchBytes = 5_000_000, dryRun = false, signal } = options
  const tell = listenerOf(options)
  const sources = await findSources(options.source, options.stdin === undefined ? {} : { stdin: options.stdin })
  const run = newRunId()
  await using deadLetters = new DeadLetters(deadLettersPath(options, run))
  await keepApart(sources, deadLetters.path)
  await deadLetters.check()
  const { cluster, way } = await openTarget(options).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error
    const reason: unknown = signal.reason
    throw new SluiceError(
      failure('RUN_INTERRUPTED', { reason: typeof reason === 'string' ? reason : 'aborted', settled: 0 }),
    )
  })
  try {
    const began = performance.now()
    tellPreflight(tell, cluster, way)

    const ledger = new Ledger(deadLetters, options.maxRejected)
    const sender = new Sender({
      cluster,
      index: options.index,
      ...(options.pipeline === undefined ? {} : { pipeline: options.pipeline }),
      ownIds: ids.from === 'run',
      safeToResend: ids.from !== 'cluster',
      onConflict: options.onConflict ?? 'reject',
      concurrency,
      batchBytes,
      gzip: compresses(options.compress ?? 'auto', way),
      maxElapsedMs: options.maxElapsedMs ?? 900_000,
      clock: systemClock,
      wallClock: Date.now,
      random: Math.random,
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
      sources,
      format: { format: options.format ?? 'auto', ...(options.pick === undefined ? {} : { pick: options.pick }) },
      batcher,
      send: dryRun ? leaveUnsent : async batch => await sender.send(batch),
      room: async () => await sender.room(),
      halt: () => sender.halt(),
      ledger,
      ...(signal === undefined ? {} : { signal }),
      tell,
    })
    const stopped = loaded.failure === undefined ? undefined : await nameBlock(loaded.failure, cluster)
    const receipt = composeReceipt({
      run,
      ledger,
      cluster,
      ...(deadLetters.records > 0 && deadLetters.path !== undefined ? { deadLetters: deadLetters.path } : {}),
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

/** Sortable by time, and unique. */
function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

function tellPreflight(tell: NonNullable<IngestOptions['onEvent']>, cluster: Cluster, way: Way): void {
  const { preflight, route, display, egress } = cluster
  tell({
    type: 'preflight',
    cluster: display,
    ...(preflight.info === undefined ? {} : { version: preflight.info.version }),
    route: route.proxy === undefined ? 'direct' : `${route.form} through ${route.proxy}`,
    probes: preflight.probes,
    missChance: preflight.missChance,
    egress,
    notes: way.notes,
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
