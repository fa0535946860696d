import type { Progress, Snapshot } from './progress.js'
import { bytes, count, showDuration } from '../show/columns.js'
import type { Terminal } from './terminal.js'

const frameMs = 100

/** Draws one line at the bottom of the terminal. Notes scroll above it. */
export function drawProgress(terminal: Terminal): Progress {
  let latest: Snapshot | undefined
  let drawnAt = -frameMs
  const clear = () => terminal.err('\r\u001B[K')
  const draw = () => {
    if (latest !== undefined)
      terminal.err(`\r\u001B[K${progressLine(latest).slice(0, (terminal.stderr.columns || 80) - 1)}`)
  }
  return {
    update: snapshot => {
      latest = snapshot
      if (snapshot.elapsedMs - drawnAt < frameMs) return
      drawnAt = snapshot.elapsedMs
      draw()
    },
    note: (level, message) => {
      clear()
      terminal.err(`${level === 'warn' ? 'warning: ' : ''}${message}\n`)
      draw()
    },
    [Symbol.dispose]: clear,
  }
}

function progressLine({ counts, bytesRead, retries, elapsedMs, wire, rows }: Snapshot): string {
  const stored = counts.created + counts.updated + counts.deleted + counts.noop + counts.duplicate
  const perSecond = elapsedMs > 0 ? (stored * 1000) / elapsedMs : 0
  const parts = [`${count(stored)} documents`, `${count(perSecond)}/s`, bytes(bytesRead), showDuration(elapsedMs)]
  if (rows !== undefined) parts.push(`${count(rows.read)} of ${count(rows.total)} rows`)
  if (wire !== undefined) parts.push(`${bytes(wire.bytes)} of ${bytes(wire.budget)} on the wire`)
  if (counts.rejected > 0) parts.push(`${count(counts.rejected)} rejected`)
  if (retries > 0) parts.push(`${count(retries)} retries`)
  return parts.join(' · ')
}
