import { createInterface } from 'node:readline'
import { shown } from '../../base/text/shown.js'
import type { Terminal } from './terminal.js'

/** Asks on the terminal. Only y or yes means yes. An abort means no. Undefined if stdin is not a terminal. */
export async function confirm(
  { stdin, stderr, err }: Terminal,
  question: string,
  signal?: AbortSignal,
): Promise<boolean | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  err(shown`${question} [y/N] `)
  const lines = createInterface({ input: stdin, ...(signal === undefined ? {} : { signal }) })
  try {
    const answer = await new Promise<string>(resolve => {
      lines.once('line', resolve)
      lines.once('close', () => resolve(''))
    })
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    lines.close()
  }
}
