import { type DrawingPace, systemPace } from './pace.js'
import { masked } from '../../base/secrets.js'
import { tell } from './log.js'
import type { LogEntry, Terminal } from './terminal.js'

interface Meter extends Disposable {
  /** Prints a line of its own. */
  note(entry: LogEntry): void
  /** Draws this line at the bottom of a terminal from now on. Elsewhere nothing is drawn. */
  show(line: () => string): void
}

const FRAME_MS = 500

export function openMeter(terminal: Terminal, quiet: boolean, pace: DrawingPace = systemPace): Meter {
  const isDrawn = !quiet && terminal.stderr.isTTY && terminal.manner.lineOf === undefined
  let line: (() => string) | undefined
  const clear = (): void => {
    if (line !== undefined) terminal.draw.err('\r\u001B[K')
  }
  const draw = (): void => {
    if (line !== undefined) terminal.draw.err(`\r\u001B[K${line().slice(0, (terminal.stderr.columns || 80) - 1)}`)
  }
  const frames = pace.every(FRAME_MS, draw)
  return {
    note: entry => {
      clear()
      tell(terminal, masked(entry, terminal.manner.secrets))
      draw()
    },
    show: shown => {
      if (isDrawn) line = shown
    },
    [Symbol.dispose]: () => {
      frames[Symbol.dispose]()
      clear()
      line = undefined
    },
  }
}
