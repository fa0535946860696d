import { masked, withoutSecrets } from '../../base/secrets.js'
import { type DrawingPace, systemPace } from './pace.js'
import type { Progress, Retried, Snapshot } from './progress.js'
import { etaMs, percentOf, progressLine } from './progress-line.js'
import { showDuration, plural } from './columns.js'
import { tell } from './log.js'
import type { Terminal } from './terminal.js'

interface Manner {
  readonly quiet: boolean
  readonly pace?: DrawingPace
}

/** Draws a line on a terminal, reports now and then elsewhere, and reports only warnings with `quiet`. */
export function showProgress(terminal: Terminal, { quiet, pace = systemPace }: Manner): Progress {
  const isDrawn = terminal.stderr.isTTY && terminal.manner.lineOf === undefined
  const progress = quiet ? silent(terminal) : isDrawn ? drawProgress(terminal, pace) : logProgress(terminal, pace)
  // More secrets may become known later.
  const hide = (text: string) => withoutSecrets(text, terminal.manner.secrets)
  return {
    ...progress,
    note: entry => progress.note(masked(entry, terminal.manner.secrets)),
    retried: retry => progress.retried({ ...retry, message: hide(retry.message) }),
  }
}

function silent(terminal: Terminal): Progress {
  return {
    update: () => undefined,
    note: entry => {
      if (entry.level === 'warn') tell(terminal, entry)
    },
    // If the retries are in vain, the run ends with their cause.
    retried: () => undefined,
    [Symbol.dispose]: () => undefined,
  }
}

const FRAME_MS = 200

/** Draws one line at the bottom of the terminal. Notes scroll above it. */
function drawProgress(terminal: Terminal, pace: DrawingPace): Progress {
  const startedAt = pace.now()
  let latest: Snapshot | undefined
  const clear = () => terminal.draw.err('\r\u001B[K')
  const draw = () => {
    if (latest === undefined) return
    const form = { columns: (terminal.stderr.columns || 80) - 1, hasColors: terminal.hasColors.err }
    terminal.draw.err(`\r\u001B[K${progressLine(latest, pace.now() - (latest.loadingAt ?? startedAt), form)}`)
  }
  const frames = pace.every(FRAME_MS, draw)
  return {
    update: snapshot => {
      latest = snapshot
    },
    note: entry => {
      clear()
      tell(terminal, entry)
      draw()
    },
    // The line says so.
    retried: () => undefined,
    [Symbol.dispose]: () => {
      frames[Symbol.dispose]()
      clear()
    },
  }
}

const LOG_MS = 5000
const LOG_COLUMNS = 120
const RETRIES_MS = 60_000

/** Reports on stderr, for schedulers and log collectors: every few seconds, and each note. */
function logProgress(terminal: Terminal, pace: DrawingPace): Progress {
  const startedAt = pace.now()
  let latest: Snapshot | undefined
  let logged: Snapshot | undefined
  const logRetries = retryLog(pace, (message, code) =>
    tell(terminal, { level: 'warn', event: 'retry', message, fields: { code } }),
  )
  const lines = pace.every(LOG_MS, () => {
    logRetries()
    if (latest === undefined || latest === logged) return
    logged = latest
    const loadingMs = pace.now() - (latest.loadingAt ?? startedAt)
    tell(terminal, {
      level: 'info',
      event: 'progress',
      message: 'progress',
      fields: fieldsOf(latest, pace.now() - startedAt, loadingMs),
      text: `${progressLine(latest, loadingMs, { columns: LOG_COLUMNS, hasColors: false })}\n`,
    })
  })
  return {
    update: snapshot => {
      latest = snapshot
    },
    note: entry => tell(terminal, entry),
    retried: logRetries,
    [Symbol.dispose]: () => lines[Symbol.dispose](),
  }
}

function fieldsOf(snapshot: Snapshot, elapsedMs: number, loadingMs: number): Readonly<Record<string, unknown>> {
  const { counts, bytesRead, retries, wire, rows, standing, waiting } = snapshot
  const { bytes: stored, file, underWay } = standing ?? {}
  const eta = etaMs(snapshot, loadingMs)
  return {
    ...(standing?.ofRun ?? counts),
    bytesRead,
    ...(stored === undefined ? {} : { bytes: stored.read, bytesTotal: stored.total, percent: percentOf(stored) }),
    ...(eta === undefined ? {} : { etaMs: Math.round(eta) }),
    ...(file === undefined ? {} : { file: file.number, files: file.of }),
    ...(underWay === undefined ? {} : { underWay }),
    ...(standing?.isStopping === true ? { isStopping: true } : {}),
    ...(waiting === undefined
      ? {}
      : { waitingFor: waiting.what, waitingSince: new Date(waiting.since).toISOString(), code: waiting.code }),
    ...(wire === undefined ? {} : { bytesOnWire: wire.bytes, byteBudget: wire.budget }),
    ...(rows === undefined ? {} : { rowsRead: rows.read, rowsTotal: rows.total }),
    retries,
    elapsedMs: Math.round(elapsedMs),
  }
}

/** Returns what logs retries: the first at once, later ones in one line per minute. Without a retry it logs what is due. */
function retryLog(pace: DrawingPace, log: (message: string, code: string) => void): (retry?: Retried) => void {
  let loggedAt = -Infinity
  let documents = 0
  let times = 0
  let last: Retried | undefined
  return retry => {
    if (retry !== undefined) {
      last = retry
      times += 1
      documents += retry.documents
    }
    if (last === undefined || pace.now() - loggedAt < RETRIES_MS) return
    const what = `Retrying ${plural(documents, 'document')}`
    const when = times === 1 ? ` in ${showDuration(last.waitMs)}` : `, ${plural(times, 'request')} in the last minutes`
    log(`${last.message.replace(/\.$/, '')}. ${what}${when}`, last.code)
    loggedAt = pace.now()
    documents = 0
    times = 0
    last = undefined
  }
}
