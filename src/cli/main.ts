import { createRequire } from 'node:module'
import { openTerminal } from './terminal/terminal.js'
import { runProgram } from './program.js'
import { sayError } from './show/say-error.js'

/** The exit code after a bug, or if a command that ended well could not write its result. */
const BUG = 70

const terminal = openTerminal(process)
let isBug = false
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

// Node itself would exit with code 1, which means rejected documents.
process.on('uncaughtException', error => void endAsBug(error))

// If a command waits for something that never comes, Node ends the process silently.
process.once('beforeExit', () => {
  sayError(terminal, new Error('the command ended without a result'))
  process.exitCode = BUG
})
main().catch(endAsBug)

async function main(): Promise<void> {
  const code = await runProgram(process.argv.slice(2), terminal, version)
  const lost = await terminal.flush()
  if (lost !== undefined) {
    terminal.err(
      `error: cannot write the result to stdout (${lost}). The command itself ended with exit code ${code}\n`,
    )
    await terminal.flush()
  }
  // A job acts on the cause of a failure, also if nobody could read the result.
  const isWell = (lost === undefined || code !== 0) && !isBug
  // Whatever is still open (an idle socket, a log file) has nothing more to do.
  process.exit(isWell ? code : BUG)
}

/** Reports a bug. Ends the process when a slow reader has all that was written. */
async function endAsBug(error: unknown): Promise<void> {
  if (isBug) return
  isBug = true
  sayError(terminal, error)
  await terminal.flush()
  process.exit(BUG)
}
