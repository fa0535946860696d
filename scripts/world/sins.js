// npm run search:world:sins -- --stories N --only WORD
// Plants faults in copies of the program, one at a time, and prints how many stories and seconds the model needs to find each.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { setup } from '../kernel/build.js'
import { bundleWorld } from './bundle.js'
import { sins } from './sins-list.js'

const text = { type: 'string' }
const { values } = parseArgs({ options: { stories: text, seed: text, only: text } })
const { stories = '2000', seed = '1', only = '' } = values
const cwd = fileURLToPath(new URL('../..', import.meta.url))

await setup()
let missed = 0
for (const sin of sins.filter(({ name }) => name.includes(only))) {
  const began = performance.now()
  const program = await bundleWorld('sin', [sin])
  const asked = ['--stories', stories, '--seed', seed, '--as-it-is']
  const child = spawn(process.execPath, [program, ...asked], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  await once(child, 'close')
  const [, problem] = /^ {2}✗ (.*)$/m.exec(said) ?? []
  const [, played] = /^(\d+) stories/m.exec(said) ?? []
  if (problem === undefined) missed += 1
  const seconds = Math.round((performance.now() - began) / 1000)
  const what = problem === undefined ? `NOT FOUND in ${played} stories` : `found by ${played} stories`
  console.log(`${sin.name}: ${what}, ${seconds} s${problem === undefined ? '' : `: ${problem.slice(0, 160)}`}`)
}
if (missed > 0) process.exitCode = 1
