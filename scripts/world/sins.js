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
const sound = await bundleWorld('sound')
let missed = 0
for (const sin of sins.filter(({ name }) => name.includes(only))) {
  const began = performance.now()
  const said = await playStories(await bundleWorld('sin', [sin]), stories, seed)
  const seconds = Math.round((performance.now() - began) / 1000)
  const [, failed, problem] = /^seed (\d+)$[^]*?^ {2}✗ (.*)$/m.exec(said) ?? []
  const [, played] = /^(\d+) stories/m.exec(said) ?? []
  // A story that also fails without the fault has found something else.
  const isFound = problem !== undefined && !(await playStories(sound, '1', failed)).includes('✗')
  if (!isFound) missed += 1
  const also = problem === undefined ? '' : `, and the sound program fails seed ${failed}, too`
  const what = isFound ? `found by ${played} stories` : `NOT FOUND in ${played} stories${also}`
  console.log(`${sin.name}: ${what}, ${seconds} s${problem === undefined ? '' : `: ${problem.slice(0, 160)}`}`)
}
if (missed > 0) process.exitCode = 1

async function playStories(program, count, first) {
  const asked = ['--stories', count, '--seed', first, '--as-it-is']
  const child = spawn(process.execPath, [program, ...asked], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', chunk => (said += chunk))
  await once(child, 'close')
  return said
}
