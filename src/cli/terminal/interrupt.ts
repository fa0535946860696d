import type { Terminal } from './terminal.js'
import { fail } from '../../failure/fail.js'
import { SluiceError } from '../../failure/sluice-error.js'

export interface Interruption extends Disposable {
  /** Aborted by the first SIGINT or SIGTERM. The reason is the signal's name. */
  readonly signal: AbortSignal
}

const signals = ['SIGINT', 'SIGTERM'] as const

/** The first signal lets the run finish requests under way. The second ends the process at once. */
export function interruptible(terminal: Terminal, doing: string): Interruption {
  const controller = new AbortController()
  const listeners = signals.map(name => {
    const listener = () => {
      if (controller.signal.aborted) terminal.exit(130)
      terminal.err(`\n${name}: ${doing}. ${name === 'SIGINT' ? 'Press Ctrl-C again' : 'Send it again'} to stop now\n`)
      controller.abort(name)
    }
    terminal.on(name, listener)
    return { name, listener }
  })
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const { name, listener } of listeners) terminal.off(name, listener)
    },
  }
}

/** Makes the error for an interrupted command that loads nothing. `left`: the state of its work. */
export function interrupted({ reason }: AbortSignal, left: string): SluiceError {
  return fail('COMMAND_INTERRUPTED', { reason: String(reason), left })
}
