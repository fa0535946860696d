import { createRequire } from 'node:module'
import { openTerminal } from './terminal.js'
import { run } from './program.js'
import { sayError } from './say-error.js'

/** Also for a result that was lost: what the command did is not in question, but nobody was told. */
const BUG = 70

const terminal = openTerminal(process)
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

// Left to Node, it would end with the code that says that documents were rejected.
process.on('uncaughtException', error => {
  sayError(terminal, error)
  process.exit(BUG)
})

// Until the command has told how it ended: a process that has nothing left to wait for ends by itself.
process.exitCode = BUG
void main()

async function main(): Promise<void> {
  const code = await run(process.argv.slice(2), terminal, version)
  const lost = await terminal.flush()
  if (lost !== undefined) {
    terminal.err(
      `error: the result could not be written to stdout (${lost}); the command itself ended with exit code ${code}\n`,
    )
  }
  // Whatever is still open (an idle socket, a log file) has nothing more to do.
  process.exit(lost === undefined ? code : BUG)
}
