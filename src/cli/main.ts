import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { openTerminal } from './terminal.js'
import { run } from './program.js'

// Little of a load lives on the heap. A young generation that grows would only let what is done with wait longer: 40 MB of it.
setFlagsFromString('--semi-space-growth-factor=1')

const terminal = openTerminal(process)
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
const code = await run(process.argv.slice(2), terminal, version)
await terminal.flush()
// Whatever is still open (an idle socket, a log file) has nothing more to do.
process.exit(code)
