// node scripts/kernel/fuzz.js [json|csv|gzip] [COUNT] [SEED]
// The fuzz tests of the kernels, longer than in the unit tests, and with other inputs each time: lines; with `json` documents whose
// elements become lines; with `csv` tables; with `gzip` bodies of requests. The seed it prints repeats a run.
import { spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const kinds = {
  lines: { inputs: 'lines', count: '2000000', test: 'kernel-fuzz' },
  json: { inputs: 'documents', count: '1000000', test: 'json-fuzz' },
  csv: { inputs: 'tables', count: '300000', test: 'csv-fuzz' },
  gzip: { inputs: 'bodies', count: '1000000', test: 'gzip-fuzz' },
}

const words = process.argv.slice(2)
const name = words[0] in kinds ? words.shift() : 'lines'
const kind = kinds[name]
const [count = kind.count, seed = String(randomInt(2 ** 32 - 1))] = words

console.log(`${count} ${kind.inputs}, seed ${seed}; again with: node scripts/kernel/fuzz.js ${name} ${count} ${seed}`)
const vitest = `${root}node_modules/vitest/vitest.mjs`
const { status } = spawnSync(process.execPath, [vitest, 'run', '--testTimeout=0', kind.test], {
  cwd: root,
  env: { ...process.env, FUZZ_COUNT: count, FUZZ_SEED: seed },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
