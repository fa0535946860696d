import type { Pulled } from '../../servicenow.js'
import { bytes, count, showDuration, plural } from './columns.js'
import { tell } from './log.js'
import type { Terminal } from './terminal.js'

interface PullProgress extends Disposable {
  readonly rows: number
  readonly pulled: Pulled
  readonly update: (pulled: Pulled) => void
  wrote(bytes: number): void
  /** Reports the end of the pull. `file`: its path and notes on the file. */
  end(table: string, file?: string): void
}

const frameMs = 100
const intervalMs = 10_000

/** Shows the progress of a pull: one line on a terminal, otherwise a line from time to time, nothing with `quiet`. */
export function showPull(terminal: Terminal, quiet: boolean, noun: 'row' | 'document' = 'row'): PullProgress {
  const startedAt = performance.now()
  const isTTY = terminal.stderr.isTTY && terminal.manner.lineOf === undefined
  const say = (message: string) =>
    tell(terminal, { level: 'info', event: 'progress', message, fields: { rows: pulled.rows } })
  let pulled: Pulled = { rows: 0 }
  let written = 0
  let shownAt = isTTY ? -Infinity : startedAt
  let isDrawn = false
  const clear = () => {
    if (isDrawn) terminal.draw.err('\r\u001B[K')
    isDrawn = false
  }
  const amounts = () => `${bytes(written)}, ${showDuration(performance.now() - startedAt)}`
  return {
    get rows() {
      return pulled.rows
    },
    get pulled() {
      return pulled
    },
    update(now) {
      pulled = now
      written = now.bytes ?? written
      if (quiet || performance.now() - shownAt < (isTTY ? frameMs : intervalMs)) return
      shownAt = performance.now()
      const { rows, total } = pulled
      const line = `${count(rows)}${total === undefined ? '' : ` of ${count(total)}`} ${noun}s, ${amounts()}`
      if (isTTY) terminal.draw.err(`\r\u001B[K${line}`)
      else say(line)
      isDrawn = isTTY
    },
    wrote(more) {
      written += more
    },
    end(table, file = '') {
      clear()
      if (!quiet) say(`${plural(pulled.rows, noun)} of ${table}${file}, ${amounts()}`)
    },
    [Symbol.dispose]: clear,
  }
}

interface LookupProgress extends Disposable {
  readonly update: (lookedUp: number, documents: number) => void
  /** Removes the line, so that only the result stays. */
  readonly end: () => void
}

export function showLookups(terminal: Terminal, quiet: boolean): LookupProgress {
  let drawnAt = -Infinity
  const end = () => {
    if (drawnAt > 0) terminal.draw.err('\r\u001B[K')
    drawnAt = -Infinity
  }
  return {
    update: (lookedUp, documents) => {
      if (quiet || !terminal.stderr.isTTY || performance.now() - drawnAt < frameMs) return
      drawnAt = performance.now()
      terminal.draw.err(`\r\u001B[K${count(lookedUp)} of ${count(documents)} documents looked up`)
    },
    end,
    [Symbol.dispose]: end,
  }
}
