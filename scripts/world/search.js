// npm run search:world -- --seed N --stories N --only WAY
// Plays random stories of all ways in, against a model of what must become of each document. `--failures N` looks for more than one.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setup } from '../kernel/build.js'
import { bundleWorld } from './bundle.js'

await setup()
const program = await bundleWorld('search')
const child = spawn(process.execPath, [program, ...process.argv.slice(2)], {
  cwd: fileURLToPath(new URL('../..', import.meta.url)),
  stdio: 'inherit',
})
child.once('close', code => {
  process.exitCode = code ?? 1
})
