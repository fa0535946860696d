import { tell } from './log.js'
import type { Terminal } from './terminal.js'
import { fail } from '../../base/failure/failure.js'

interface Interruption extends Disposable {
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP. The reason is the signal's name. */
  readonly signal: AbortSignal
}

/** A closed terminal and a lost ssh send SIGHUP. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The first signal lets the run finish requests under way. The second ends the process at once. */
export function interruptible(terminal: Terminal, doing: string): Interruption {
  const controller = new AbortController()
  const listeners = signals.map(name => {
    const listener = () => {
      if (controller.signal.aborted) terminal.exit(130)
      const act = name === 'SIGINT' ? 'Press Ctrl-C' : `Send ${name}`
      const message = `${name}: ${doing}. ${act} again to stop now`
      tell(terminal, { level: 'info', event: 'stopping', message, text: `\n${message}\n` })
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

/** Waits for work that loads nothing. After a signal, throws COMMAND_INTERRUPTED with what is `left` instead of its error. */
export async function unlessInterrupted<T>(signal: AbortSignal, work: Promise<T>, left: () => string): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw signal.aborted ? fail('COMMAND_INTERRUPTED', { reason: String(signal.reason), left: left() }) : error
  }
}
