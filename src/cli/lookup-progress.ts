import { count } from './quantities.js'
import type { Terminal } from './terminal.js'

interface LookupProgress extends Disposable {
  readonly update: (lookedUp: number, documents: number) => void
  /** Takes the line away, so that the result stands alone. */
  readonly end: () => void
}

const frameMs = 100

/** How far a lookup is, on one line where a person watches. */
export function showLookups(terminal: Terminal, quiet: boolean): LookupProgress {
  let drawnAt = -Infinity
  const end = () => {
    if (drawnAt > 0) terminal.err('\r\u001B[K')
    drawnAt = -Infinity
  }
  return {
    update: (lookedUp, documents) => {
      if (quiet || !terminal.stderr.isTTY || performance.now() - drawnAt < frameMs) return
      drawnAt = performance.now()
      terminal.err(`\r\u001B[K${count(lookedUp)} of ${count(documents)} documents looked up`)
    },
    end,
    [Symbol.dispose]: end,
  }
}
