// node scripts/kernel/fuzz.js [LINES] [SEED]
// The fuzz test of the kernel, longer than in the unit tests, and with other lines each time. The seed it prints repeats a run.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [lines = '2000000', seed = String(randomInt(2 ** 32 - 1))] = process.argv.slice(2)

console.log(`${lines} lines, seed ${seed}; again with: node scripts/kernel/fuzz.js ${lines} ${seed}`)
const vitest = `${root}node_modules/vitest/vitest.mjs`
const { status } = spawnSync(process.execPath, [vitest, 'run', '--testTimeout=0', 'bulk-fuzz'], {
  cwd: root,
  env: { ...process.env, FUZZ_LINES: lines, FUZZ_SEED: seed },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
