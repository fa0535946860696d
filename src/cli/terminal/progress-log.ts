import pino from 'pino'
import type { Progress } from './progress.js'
import type { Terminal } from './terminal.js'

const intervalMs = 5000

/** Log lines on stderr, for schedulers and log collectors: one every few seconds, and one for each note. */
export function openLog(terminal: Terminal): Progress {
  const log = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: label => ({ level: label }) } },
    // Its own destinations throw when they cannot write, into the run that is being logged.
    { write: (line: string) => terminal.err(line) },
  )
  let loggedAt = 0
  return {
    update: ({ counts, bytesRead, retries, elapsedMs, wire, rows }) => {
      if (elapsedMs - loggedAt < intervalMs) return
      loggedAt = elapsedMs
      const meter = wire === undefined ? {} : { bytesOnWire: wire.bytes, byteBudget: wire.budget }
      const table = rows === undefined ? {} : { rowsRead: rows.read, rowsTotal: rows.total }
      log.info({ ...counts, bytesRead, ...meter, ...table, retries, elapsedMs: Math.round(elapsedMs) }, 'progress')
    },
    note: (level, message, fields = {}) => log[level](fields, message),
    [Symbol.dispose]: () => undefined,
  }
}
