import { createRequire } from 'node:module'
import { openTerminal } from './terminal.js'
import { run } from './program.js'

const terminal = openTerminal(process)
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
const code = await run(process.argv.slice(2), terminal, version)
await terminal.flush()
// Whatever is still open (an idle socket, a log file) has nothing more to do.
process.exit(code)
