// npm run search:world -- --seed N --stories N --only WAY
// Plays random stories of all ways in, against a model of what must become of each document. `--failures N` looks for more than one.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const { values } = parseArgs({ options: { seed: text, stories: text, only: text, failures: text } })
const names = { seed: 'SLUICE_SEED', stories: 'SLUICE_SEEDS', only: 'SLUICE_WAY', failures: 'SLUICE_FAILURES' }
const asked = Object.entries(values).map(([name, value]) => [names[name], value])
const args = ['vitest', 'run', '--config', 'vitest.long.config.ts', 'test/world/search']
const child = spawn('npx', args, {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  env: { ...process.env, SLUICE_SEARCH: 'all', ...Object.fromEntries(asked) },
  stdio: 'inherit',
})
child.once('close', code => {
  process.exitCode = code ?? 1
})
