import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { openTerminal } from './terminal.js'
import { run } from './program.js'
import { sayError } from './say-error.js'

// Little of a load lives on the heap. A young generation that grows would only let what is done with wait longer: 40 MB of it.
setFlagsFromString('--semi-space-growth-factor=1')

/** Also for a result that was lost: what the command did is not in question, but nobody was told. */
const BUG = 70

const terminal = openTerminal(process)
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

// Left to Node, it would end with the code that says that documents were rejected.
process.on('uncaughtException', error => {
  sayError(terminal, error)
  process.exit(BUG)
})

const code = await run(process.argv.slice(2), terminal, version)
const lost = await terminal.flush()
if (lost !== undefined) {
  terminal.err(
    `error: the result could not be written to stdout (${lost}); the command itself ended with exit code ${code}\n`,
  )
}
// Whatever is still open (an idle socket, a log file) has nothing more to do.
process.exit(lost === undefined ? code : BUG)
