// node scripts/kernel/fuzz.js [json] [COUNT] [SEED]
// The fuzz tests of the kernels, longer than in the unit tests, and with other inputs each time: lines, or with `json` documents whose
// elements become lines. The seed it prints repeats a run.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const words = process.argv.slice(2)
const isJson = words[0] === 'json'
const [count = isJson ? '1000000' : '2000000', seed = String(randomInt(2 ** 32 - 1))] = isJson ? words.slice(1) : words

const again = `node scripts/kernel/fuzz.js ${isJson ? 'json ' : ''}${count} ${seed}`
console.log(`${count} ${isJson ? 'documents' : 'lines'}, seed ${seed}; again with: ${again}`)
const vitest = `${root}node_modules/vitest/vitest.mjs`
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--testTimeout=0', isJson ? 'json-fuzz' : 'kernel-fuzz'],
  {
    cwd: root,
    env: { ...process.env, FUZZ_COUNT: count, FUZZ_SEED: seed },
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
