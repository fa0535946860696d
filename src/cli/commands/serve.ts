import type { Command } from 'commander'
import { explain } from '../../failure/catalogue.js'
import type { ServeEvent, ServeReceipt, Serving } from '../../index.js'
import { requireOptions } from '../../options/resolve.js'
import { addOptions } from '../terminal/help.js'
import { serveOptions } from '../../options/library-options.js'
import { interruptible } from '../terminal/interrupt.js'
import {
  loadAccess,
  loadOptions,
  loadServeTls,
  loadServeToken,
  reloadCredentials,
  sayWarnings,
  stateDir,
} from '../load-options.js'
import { masked } from '../terminal/mask.js'
import { type Progress, follow } from '../terminal/progress.js'
import { showProgress } from '../terminal/show-progress.js'
import { bytes, showDuration, plural } from '../show/columns.js'
import { sayFailure } from '../show/say-error.js'
import { serveReceiptJson, showServed } from '../show/show-receipt.js'
import type { Terminal } from '../terminal/terminal.js'
import { spareOptimising } from '../spare-optimising.js'

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
(application/json), also as gzip. Sluice answers 202 once all of it is on disk,
and 429 if too much waits. A request repeated with the same Idempotency-Key
counts once. If Sluice is killed, the same command loads each document once.
GET /health shows the state. For https: --serve-cert and --serve-key.`,
    )
    .action(async (flags: Record<string, unknown>) => {
      done(await receive(flags, terminal))
    })
}

async function receive(flags: Record<string, unknown>, terminal: Terminal): Promise<number> {
  const effective = await loadOptions(flags, terminal)
  const { values } = effective
  requireOptions(effective, ['url', 'index'])
  const access = await loadAccess(effective, terminal)
  const token = await loadServeToken(effective, terminal)
  sayWarnings(effective, terminal)
  const options = {
    ...serveOptions(effective, access),
    index: values.index ?? '',
    stateDir: stateDir(effective, terminal),
    token,
    tls: await loadServeTls(effective),
  }
  using interruption = interruptible(terminal, 'accepting no more requests, loading the waiting documents')
  using progress = await showProgress(terminal, { quiet: values.quiet })
  const { serve } = await import('../../serve/serve.js')
  spareOptimising()
  const serving = await serve({
    ...options,
    refreshCredentials: async () => await reloadCredentials(effective, terminal),
    signal: interruption.signal,
    onEvent: following(progress),
  })
  using _telling = tellNowAndThen(serving, progress)
  const receipt = masked(await serving.finished, terminal.manner.secrets)
  terminal.out(values.json ? serveReceiptJson(receipt) : showServed(receipt))
  if (receipt.failure !== undefined) terminal.err(sayFailure(receipt.failure))
  return exitCodeOf(receipt)
}

function exitCodeOf({ failure }: ServeReceipt): number {
  return failure === undefined ? 0 : explain(failure.code).exit
}

function following(progress: Progress): (event: ServeEvent) => void {
  const tell = follow(progress)
  return event => {
    switch (event.type) {
      case 'listening':
        progress.note('info', `listening on ${event.url}`, { url: event.url })
        return
      case 'found': {
        const { documents, bytes: size, cutBytes } = event
        const cut = cutBytes === 0 ? '' : `, without ${bytes(cutBytes)} of requests that broke off`
        progress.note('info', `${plural(documents, 'document')} from before wait in the spool (${bytes(size)})${cut}`)
        return
      }
      case 'failed': {
        const { failure, retryMs, waiting } = event
        const { message, code } = failure
        const [fix = ''] = explain(code).fixes
        const left = `${plural(waiting.documents, 'document')} wait, more are accepted`
        progress.note('warn', `cannot load, and retries in ${showDuration(retryMs)}. ${left}: ${message}`, {
          code,
          fix,
          ...waiting,
        })
        return
      }
      case 'recovered':
        progress.note('info', 'loading continues', { code: event.failure.code })
        return
      case 'loaded':
        // The status line reports this.
        return
      case 'preflight':
      case 'retry':
      case 'rejected':
      case 'warning':
        tell(event)
    }
  }
}

/** Lines for whoever reads the log, as long as something happens. */
function tellNowAndThen(serving: Serving, progress: Progress): Disposable {
  let last = ''
  const timer = setInterval(() => {
    const { state, accepted, waiting, loaded, answers } = serving.status()
    const { created, updated, duplicate, rejected } = loaded
    const fields = { state, accepted, waiting, created, updated, duplicate, rejected, answers }
    const now = JSON.stringify(fields)
    if (now === last) return
    last = now
    progress.note('info', `${plural(accepted, 'document')} accepted, ${bytes(waiting.bytes)} wait`, fields)
  }, EVERY_MS)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
