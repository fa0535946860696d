import type { Command } from 'commander'
import { explain } from '../../base/failure/failure.js'
import { listenForMetrics } from '../application/open-metrics.js'
import type { ServeEvent, ServeReceipt, Serving } from '../../index.js'
import { addOptions } from '../terminal/help.js'
import { readServeTls, readServeToken } from '../settings/option-files.js'
import { serveOptions } from '../settings/library-options.js'
import { interruptible } from '../terminal/interrupt.js'
import { invalid } from '../../options/option-checks.js'
import { doctorOptions } from '../application/ask-doctor.js'
import type { Effective } from '../settings/resolve.js'
import { loadAccess, loadForCluster, reloadCredentials, stateDir } from '../application/load-options.js'
import { masked } from '../../base/secrets.js'
import { keepSecrets, type Terminal } from '../terminal/terminal.js'
import { type Progress, follow } from '../terminal/progress.js'
import { tell } from '../terminal/log.js'
import { showProgress } from '../terminal/show-progress.js'
import { bytes, showDuration, plural } from '../terminal/columns.js'
import { knownFailure, stopOf, whatRan } from '../show/say-error.js'
import { receiptJson, showServed } from '../show/show-receipt.js'
import { collectSooner, spareOptimising } from '../application/tune-engine.js'

/** Time between two status lines, in milliseconds. Sluice prints none if nothing has happened. */
const EVERY_MS = 10_000

export function defineServe(command: Command, terminal: Terminal, done: (code: number) => void): void {
  addOptions(command, 'serve')
    .addHelpText(
      'after',
      `
Examples:
  SLUICE_SERVE_TOKEN=… sluice serve --index events --listen 0.0.0.0:8080
  curl -H 'Authorization: Bearer …' -H 'Content-Type: application/x-ndjson' \\
    --data-binary @events.ndjson http://HOST:8080/

A request holds NDJSON (application/x-ndjson), or a JSON object or array
(application/json), plain or gzip. Sluice answers 202 when all documents are on
disk, and 429 if too many wait. Requests with the same Idempotency-Key count
once. If Sluice is killed, the same command loads each document once.
GET /health shows the state. For https: --serve-cert and --serve-key.`,
    )
    .action(async (flags: Record<string, unknown>) => {
      done(await receive(flags, terminal))
    })
}

async function receive(flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  const { effective, values, access } = await loadForCluster(flags, terminal, ['url', 'index'])
  if (values.watchMs === undefined) refuseWithoutWatch(effective)
  if (values.metricsTextfile !== undefined && effective.origins.metricsTextfile === '--metrics')
    throw invalid('--metrics', 'names a file, but a receiver does not end. Pass a port, open or token')
  const token = await readServeToken(effective)
  if (token !== false) keepSecrets(terminal, [token])
  const options = {
    ...serveOptions(effective, access),
    index: values.index ?? '',
    stateDir: stateDir(effective, terminal),
    token,
    tls: await readServeTls(effective),
  }
  using interruption = interruptible(terminal, 'accepting no more requests, loading the waiting documents')
  using progress = showProgress(terminal, { quiet: values.quiet })
  const { openServeMetrics, serve } = await import('../../programs/serve/serve.js')
  let serving: Serving | undefined
  const metrics =
    values.metricsPort === undefined ? undefined : await openServeMetrics(() => serving && serving.status())
  const watched =
    values.watchMs === undefined ? undefined : await watchBeside(effective, terminal, values.watchMs, progress)
  await using _watching = watched
  const page = metrics && {
    type: metrics.type,
    text: async () => [await metrics.text(), (await watched?.text()) ?? ''].join('\n'),
  }
  await using _metrics = page && (await listenForMetrics(values.metricsPort ?? '', page, terminal))
  spareOptimising()
  collectSooner()
  const show = following(progress)
  serving = await serve({
    ...options,
    refreshCredentials: async () => await reloadCredentials(effective, terminal),
    signal: interruption.signal,
    onEvent: event => {
      metrics?.hear(event)
      show(event)
    },
  })
  using _telling = tellNowAndThen(serving, progress)
  const receipt = masked(await serving.finished, terminal.manner.secrets)
  const ran = whatRan(terminal, exitCodeOf(receipt))
  terminal.out(values.json ? receiptJson({ ...receipt, ...ran }) : showServed(receipt))
  if (receipt.failure !== undefined) tell(terminal, stopOf(receipt.failure))
  return exitCodeOf(receipt)
}

/** Only the watch runs the command of a change and opens incidents. A file that other commands share may hold both. */
function refuseWithoutWatch({ origins }: Effective): void {
  for (const flag of ['--on-change', '--on-failure'])
    if (origins.onChange === flag || origins.onFailure === flag) throw invalid(flag, 'needs --watch')
}

/** Watches the route while the receiver runs. A watch that fails must not end the receiver. */
async function watchBeside(effective: Effective, terminal: Terminal, everyMs: number, progress: Progress) {
  const [{ prepareWatch }, { WatchMetrics }] = await Promise.all([
    import('../application/watch-doctor.js'),
    import('../../programs/doctor/watch/watch.js'),
  ])
  const metrics = new WatchMetrics()
  const over = new AbortController()
  const run = await prepareWatch(effective, terminal, {
    everyMs,
    command: 'serve',
    signal: over.signal,
    readOptions: async () => doctorOptions(effective, await loadAccess(effective, terminal)),
    say: ({ kind, what, message, ...fields }) =>
      progress.note({
        level: kind === 'gone' ? 'info' : 'warn',
        event: 'route',
        message: `${kind} ${what}: ${message}`,
        fields: { kind, what, ...fields },
      }),
    checked: async report => await Promise.resolve(metrics.checked(report, Date.now())),
  })
  const watching = run().catch((error: unknown) =>
    progress.note({
      level: 'warn',
      event: 'watch',
      message: `the watch ended: ${knownFailure(terminal, error).message}`,
    }),
  )
  return {
    text: async () => await metrics.text(),
    [Symbol.asyncDispose]: async () => {
      over.abort()
      await watching
    },
  }
}

function exitCodeOf({ failure }: ServeReceipt): number {
  return failure === undefined ? 0 : explain(failure.code).exit
}

function following(progress: Progress): (event: ServeEvent) => void {
  const tell = follow(progress)
  return event => {
    switch (event.type) {
      case 'listening':
        progress.note({
          level: 'info',
          event: 'listening',
          message: `listening on ${event.url}`,
          fields: { url: event.url },
        })
        return
      case 'found': {
        const { documents, bytes: size, cutBytes } = event
        const cut = cutBytes === 0 ? '' : `, without ${bytes(cutBytes)} of incomplete requests`
        const message = `${plural(documents, 'document')} from an earlier process wait in the spool (${bytes(size)})${cut}`
        progress.note({ level: 'info', event: 'found', message })
        return
      }
      case 'failed': {
        const { failure, retryMs, waiting } = event
        const { message, code } = failure
        const [fix = ''] = explain(code).fixes
        const left = `${plural(waiting.documents, 'document')} wait, and Sluice accepts more`
        progress.note({
          level: 'warn',
          event: 'failed',
          message: `cannot load: ${message}. Sluice retries in ${showDuration(retryMs)}. ${left}`,
          fields: { code, fix, ...waiting },
        })
        return
      }
      case 'recovered':
        progress.note({
          level: 'info',
          event: 'recovered',
          message: 'loading continues',
          fields: { code: event.failure.code },
        })
        return
      case 'loaded':
        // The status line reports this.
        return
      case 'sent':
      case 'answered':
      case 'preflight':
      case 'retry':
      case 'rejected':
      case 'warning':
        tell(event)
    }
  }
}

/** Writes a line to the log from time to time, if something happened. */
function tellNowAndThen(serving: Serving, progress: Progress): Disposable {
  let last = ''
  const timer = setInterval(() => {
    const { state, accepted, waiting, loaded, answers } = serving.status()
    const { created, updated, duplicate, rejected } = loaded
    const fields = { state, accepted, waiting, created, updated, duplicate, rejected, answers }
    const now = JSON.stringify(fields)
    if (now === last) return
    last = now
    const message = `${plural(accepted, 'document')} accepted, ${bytes(waiting.bytes)} wait`
    progress.note({ level: 'info', event: 'status', message, fields })
  }, EVERY_MS)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
