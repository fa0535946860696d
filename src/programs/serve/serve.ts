/** Receives webhooks: a posted document is on the disk before Sluice acknowledges it, and in the index soon after. Its metrics are those of its loads, and what callers sent. */
import { isLoopback, type ListenAddress } from '../../base/addresses.js'
import { explain, fail, type Failure, isSluiceError } from '../../base/failure/failure.js'
import { randomToken } from '../../base/checksum/tokens.js'
import { defaults, takenApart } from '../../options/describe-option.js'
import { proxySection } from '../../options/read-options.js'
import { resolveTarget } from '../../route/connect/open-target.js'
import { completed, type OverConnection } from '../../route/connect/over-connection.js'
import { loadWith, openStandingLoad, type StandingLoad } from './standing-load.js'
import { systemClock } from '../../base/time/clock.js'
import { listenerOf } from '../../base/caller.js'
import {
  cannotListen,
  checkServeOptions,
  DEFAULT_MAX_BODY,
  DEFAULT_MAX_DOCUMENTS,
  DEFAULT_SPOOL_LIMIT,
} from './check-serve-options.js'
import { Loader } from './loader.js'
import { openFolder, type SpoolFolder } from './open-folder.js'
import { startReceiver } from './receiver.js'
import { ENTRY_BYTES } from './segment.js'
import { serveReceiptOf, serveStatusOf, stopReason, Totals } from './serve-receipt.js'
import type { ServeEvent, ServeMetrics, ServeOptions, ServeReceipt, ServeStatus, Serving } from './serve-options.js'
import { Spool } from './spool.js'
import { SpoolRoom } from './spool-room.js'
import type { RunMetrics } from '../../features/metrics/run-metrics.js'

export type { ServeEvent, ServeOptions, ServeReceipt, ServeStatus, Serving, Waiting } from './serve-options.js'

/** Shares of the grace period: for callers to send the rest of their requests, and for current bulk requests at its end. */
const CALLERS_SHARE = 2 / 5
const CLOSING_SHARE = 1 / 5
/** Retry-After in seconds, if the spool is full but loading works. */
const SOON_SECONDS = 2

const UNENCRYPTED =
  'sluice serve uses plain http. Others on the network can read requests and the token, unless a proxy in front of it handles TLS'

/**
 * Accepts documents by POST, as NDJSON or JSON, and loads them into an index through the static-IP proxy. Sluice acknowledges a request
 * once all its documents are on the disk. If the process is killed, the next call with the same `stateDir` loads each of them once.
 *
 * ```ts
 * await using serving = await serve({ target: { url, apiKey }, proxy, index: 'events', stateDir: '/var/lib/sluice', token })
 * await serving.finished
 * ```
 * Aborting `signal` closes it.
 * @throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID, RUN_LOCKED, STATE_UNWRITABLE. Without `acceptAnyway` also if the cluster
 * cannot be reached: PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED, PLAINTEXT_CREDENTIALS.
 */
export async function serve(options: OverConnection<ServeOptions>): Promise<Serving>
export async function serve(options: ServeOptions): Promise<Serving>
export async function serve(given: ServeOptions | OverConnection<ServeOptions>): Promise<Serving> {
  const options = takenApart(completed(given), 'serve')
  const address = checkServeOptions(options)
  const { url } = resolveTarget({ target: options.target, proxy: proxySection(options.proxy) })
  const folder = await openFolder(options.stateDir, url, options.index)
  try {
    return await open(options, address, folder)
  } catch (error) {
    await folder[Symbol.asyncDispose]()
    throw error
  }
}

async function open(options: ServeOptions, address: ListenAddress, folder: SpoolFolder): Promise<Serving> {
  const began = performance.now()
  const { signal, token, tls, path = '/', maxBody = DEFAULT_MAX_BODY, spoolLimit = DEFAULT_SPOOL_LIMIT } = options
  const { maxDocuments = DEFAULT_MAX_DOCUMENTS } = options
  const { graceMs = defaults.graceMs, batchMs: lingerMs = defaults.batchMs } = options
  const metrics = (options.metrics ?? 'off') === 'off' ? undefined : await openServeMetrics(() => status())
  const listen = listenerOf(options.onEvent)
  const tell = (event: ServeEvent): void => {
    metrics?.hear(event)
    listen(event)
  }
  const closing = new AbortController()
  const givenUp = new AbortController()

  const connect = async (warn?: (message: string) => void): Promise<StandingLoad> => {
    const ending = { signal: givenUp.signal, graceMs: Math.ceil(graceMs * CLOSING_SHARE) }
    const given = await loadWith(options, { stateDir: folder.state, ...ending })
    return await openStandingLoad(given, options.stateDir, warn)
  }
  const spool = await Spool.open({ folder: folder.segments, lingerMs, clock: systemClock, newToken: randomToken })
  // A receiver that accepts anyway does not wait for its cluster. Later the loader tries again by itself.
  const warn = options.acceptAnyway === true ? undefined : (message: string) => tell({ type: 'warning', message })
  const { standing, closedBy } = await openFirst(async () => await connect(warn), options, givenUp)
  for (const message of folder.warnings) tell({ type: 'warning', message })
  const { waiting, cutBytes } = spool
  if (waiting.bytes > 0 || cutBytes > 0) tell({ type: 'found', ...waiting, cutBytes })
  const totals = new Totals()
  const aborts = { givenUp: givenUp.signal, closing: closing.signal }
  const loader = new Loader({
    spool,
    connect: async () => await connect(),
    standing,
    closedBy,
    totals,
    clock: systemClock,
    ...aborts,
    tell,
  })
  const retryAfter = () => (loader.trouble === undefined ? SOON_SECONDS : Math.ceil(loader.trouble.retryMs / 1000))
  const receiver = await startReceiver({
    ...address,
    path,
    tls,
    token: token === false ? undefined : token,
    // A request that does not fit into an empty spool never fits.
    maxBody: Math.min(maxBody, spoolLimit - ENTRY_BYTES),
    maxDocuments,
    spoolRoom: new SpoolRoom({ limit: spoolLimit, used: () => spool.bytes, retryAfter, clock: systemClock }),
    store: async request => await spool.append(request),
    status: () => status(),
    metrics: metrics && { ...metrics, isOpen: options.metrics === 'open' },
    retryAfter,
    onBug: error => tell({ type: 'warning', message: `requests: ${String(error)}` }),
  }).catch(async (error: unknown) => {
    await standing?.close()
    throw cannotListen(options, error)
  })
  const parts = { spool, loader, receiver, totals }
  const status = (): ServeStatus => serveStatusOf(parts, { spoolLimit, isClosing: closing.signal.aborted })

  let closed: Promise<ServeReceipt> | undefined
  const close = async (): Promise<ServeReceipt> => await (closed ??= shut())
  const onAbort = (): void => void close().catch(() => undefined)
  const url = `http${tls === undefined ? '' : 's'}://${address.host.includes(':') ? `[${address.host}]` : address.host}:${receiver.port}${path}`
  tell({ type: 'listening', url })
  if (tls === undefined && !isLoopback(address.host)) tell({ type: 'warning', message: UNENCRYPTED })
  const loading = loader.run()
  const finished = loading.then(close, async (error: unknown) => {
    await close().catch(() => undefined)
    throw error
  })
  // The caller may never look at the promise.
  finished.catch(() => undefined)
  if (signal?.aborted === true) onAbort()
  signal?.addEventListener('abort', onAbort)

  async function shut(): Promise<ServeReceipt> {
    const over = new AbortController()
    try {
      closing.abort()
      const cut = new AbortController()
      abortAfter(cut, graceMs * CALLERS_SHARE, over.signal)
      abortAfter(givenUp, graceMs * (1 - CLOSING_SHARE), over.signal)
      await receiver.close(cut.signal)
      spool.end()
      await loading
      await spool.close()
      return serveReceiptOf(parts, {
        reason: stopReason(signal),
        path: folder.path,
        elapsedMs: performance.now() - began,
      })
    } finally {
      over.abort()
      signal?.removeEventListener('abort', onAbort)
      await folder[Symbol.asyncDispose]()
    }
  }
  return { url, status, finished, close, [Symbol.asyncDispose]: async () => void (await close()) }
}

function abortAfter(controller: AbortController, ms: number, over: AbortSignal): void {
  systemClock.sleep(Math.ceil(ms), over).then(
    () => controller.abort(),
    () => undefined,
  )
}

/**
 * Opens the connection. Throws SluiceError RUN_INTERRUPTED if the caller's signal aborts meanwhile. With `acceptAnyway` returns the
 * failure instead of throwing it. Always throws invalid options.
 */
async function openFirst(
  connect: () => Promise<StandingLoad>,
  { signal, acceptAnyway }: ServeOptions,
  givenUp: AbortController,
): Promise<{ readonly standing?: StandingLoad; readonly closedBy?: Failure }> {
  const giveUp = (): void => givenUp.abort()
  if (signal?.aborted === true) giveUp()
  signal?.addEventListener('abort', giveUp)
  try {
    return { standing: await connect() }
  } catch (error) {
    const exit = isSluiceError(error) ? explain(error.code).exit : undefined
    if (acceptAnyway === true && isSluiceError(error) && (exit === 3 || exit === 4)) return { closedBy: error.failure }
    if (signal?.aborted !== true) throw error
    throw fail('RUN_INTERRUPTED', { reason: stopReason(signal), settled: 0 }, { cause: error })
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Loads the code of metrics, which few receivers need. `status`: undefined before the receiver listens. */
export async function openServeMetrics(status: () => ServeStatus | undefined): Promise<ServeMetrics> {
  const { METRICS_TYPE: type, RunMetrics: Metrics } = await import('../../features/metrics/run-metrics.js')
  const metrics = new Metrics()
  const { hear, show } = receiving(metrics)
  return {
    type,
    hear,
    text: async () => {
      const now = status()
      if (now !== undefined) show(now)
      return await metrics.text()
    },
  }
}

function receiving(metrics: RunMetrics) {
  const accepted = metrics.counter('accepted_documents_total', 'Documents that were acknowledged to callers.')
  const answers = metrics.counter('answers_total', 'Answers to callers by HTTP status.', ['status'])
  const waitingDocuments = metrics.gauge('waiting_documents', 'Acknowledged documents that are not loaded yet.')
  const waitingBytes = metrics.gauge('waiting_bytes', 'Bytes of acknowledged documents that are not loaded yet.')
  const isFull = metrics.gauge('spool_full', '1 while callers are refused because the spool is full, otherwise 0.')
  const lastSuccess = metrics.gauge('last_success_timestamp_seconds', 'When documents were last loaded completely.')
  let failingSince: number | undefined

  const hear = (event: ServeEvent): void => {
    switch (event.type) {
      case 'failed':
        failingSince ??= performance.now()
        metrics.retried(event.failure.code)
        return metrics.waiting(performance.now() - failingSince)
      case 'recovered':
        metrics.recovered(performance.now() - (failingSince ?? performance.now()))
        failingSince = undefined
        return
      case 'loaded':
        lastSuccess.set(Date.now() / 1000)
        return
      case 'listening':
      case 'found':
        return
      case 'preflight':
      case 'sent':
      case 'answered':
      case 'retry':
      case 'rejected':
      case 'warning':
        metrics.hear(event)
    }
  }

  const show = (now: ServeStatus): void => {
    metrics.counted(now.loaded)
    accepted.reset()
    accepted.inc(now.accepted)
    answers.reset()
    for (const [status, times] of Object.entries(now.answers)) answers.inc({ status }, times)
    waitingDocuments.set(now.waiting.documents)
    waitingBytes.set(now.waiting.bytes)
    isFull.set(now.state === 'full' ? 1 : 0)
  }
  return { hear, show }
}
