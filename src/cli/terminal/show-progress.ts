import { masked, withoutSecrets } from './mask.js'
import { drawProgress } from './progress-bar.js'
import type { Progress } from './progress.js'
import type { Terminal } from './terminal.js'

/** A bar where a person watches, log lines elsewhere, warnings alone where quiet was asked for. */
export async function showProgress(terminal: Terminal, { quiet }: { quiet: boolean }): Promise<Progress> {
  const shown = quiet ? silent(terminal) : terminal.stderr.isTTY ? drawProgress(terminal) : await log(terminal)
  return {
    ...shown,
    note: (level, message, fields = {}) => {
      // More may become known on the way.
      const { secrets } = terminal.manner
      shown.note(level, withoutSecrets(message, secrets), masked(fields, secrets))
    },
  }
}

/** Whoever watches needs no logger. */
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
