import { masked, withoutSecrets } from './mask.js'
import { drawProgress } from './progress-bar.js'
import type { Progress } from './progress.js'
import type { Terminal } from './terminal.js'

/** Shows a bar on a terminal, log lines elsewhere, and only warnings with `quiet`. */
export async function showProgress(terminal: Terminal, { quiet }: { quiet: boolean }): Promise<Progress> {
  const shown = quiet ? silent(terminal) : terminal.stderr.isTTY ? drawProgress(terminal) : await log(terminal)
  return {
    ...shown,
    note: (level, message, fields = {}) => {
      // More secrets may become known later.
      const { secrets } = terminal.manner
      shown.note(level, withoutSecrets(message, secrets), masked(fields, secrets))
    },
  }
}

/** Loads the logger only if needed. */
async function log(terminal: Terminal): Promise<Progress> {
  const { openLog } = await import('./progress-log.js')
  return openLog(terminal)
}

function silent(terminal: Terminal): Progress {
  return {
    update: () => undefined,
    note: (level, message) => {
      if (level === 'warn') terminal.err(`warning: ${message}\n`)
    },
    [Symbol.dispose]: () => undefined,
  }
}
