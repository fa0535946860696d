import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { fail } from '../../base/failure/failure.js'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from './terminal.js'

interface Asking {
  /** The terminal does not show what is typed. */
  readonly isHidden?: boolean
  readonly signal: AbortSignal
  /** The work that is left if the user leaves. */
  readonly left: string
}

/** Asks for one line. Throws COMMAND_INTERRUPTED if the user presses Ctrl-C, or if the input ends. */
export async function askForLine(
  { stdin, err, draw }: Terminal,
  question: string,
  { isHidden = false, signal, left }: Asking,
): Promise<string> {
  err(shown`${question} `)
  // The terminal itself shows and edits the line, unless it is hidden. Then readline edits it, and shows nothing.
  const hiding = isHidden ? { output: nowhere(), terminal: true, historySize: 0 } : {}
  const lines = createInterface({ input: stdin, signal, ...hiding })
  try {
    return await new Promise<string>((resolve, reject) => {
      const leave = (reason: string) => reject(fail('COMMAND_INTERRUPTED', { reason, left }))
      lines.once('line', resolve)
      // While readline reads, Ctrl-C is a key and no signal.
      lines.once('SIGINT', () => leave('SIGINT'))
      lines.once('close', () => leave(signal.aborted ? String(signal.reason) : 'end of input'))
    })
  } finally {
    lines.close()
    if (isHidden) draw.err('\n')
  }
}

function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
