// npm run search:world -- --seed N --stories N --only WAY --real
// Plays random stories of all ways in, against a model of what must become of each document. `--failures N` looks for more than one.
import { execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setup } from '../kernel/build.js'
import { bundleWorld } from './bundle.js'

const options = process.argv.slice(2)
const [cwd, stdio] = [fileURLToPath(new URL('../..', import.meta.url)), 'inherit']
if (options.includes('--real')) execFileSync(process.execPath, ['scripts/real/install.js'], { cwd, stdio })
await setup()
const program = await bundleWorld('search')
const child = spawn(process.execPath, [program, ...options], { cwd, stdio })
child.once('close', code => {
  process.exitCode = code ?? 1
})
