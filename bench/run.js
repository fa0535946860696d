/** npm run bench: prepares, proves delivery, measures, saves the results and writes the page that shows them. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache.js'
import { available, clients } from './clients.js'
import { corpus } from './corpus/corpora.js'
import { atOnce, proofsFor, proveDelivery } from './delivery.js'
import { estimate, estimateOfProofs } from './estimate.js'
import { everyday } from './everyday.js'
import { firstRequests } from './first-request.js'
import { describeMachine } from './machine.js'
import { readOptions, usage } from './options.js'
import { plan } from './plan.js'
import { prepare, projectFolder } from './prepare.js'
import { chart } from './report/chart.js'
import { brief, markdown } from './report/markdown.js'
import { loadRealCluster } from './real.js'
import { runScenario } from './rounds.js'
import { say } from './say.js'

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))

try {
  await main(readOptions(process.argv.slice(2)))
} catch (error) {
  say(error.message)
  process.exitCode = error.code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1
}

async function main(options) {
  if (options.help) return void process.stdout.write(usage)
  if (options.render) return render(options.files)
  const programs = prepare(options)
  const { names, absent } = available(programs)
  if (options.list) {
    for (const [name, { title, about }] of Object.entries(clients))
      process.stdout.write(
        `${name.padEnd(30)} ${absent[name] ? `not here: ${absent[name].split('\n')[0]}` : `${title}. ${about}`}\n`,
      )
    return undefined
  }
  const chosen = choose(names, options.clients)
  const inputs = await makeInputs(options, programs)
  const results = {
    when: new Date().toISOString(),
    complete: false,
    machine: describeMachine(programs, options),
    corpora: Object.values(inputs)
      .flatMap(({ whole, part, sample }) => [...new Set([whole, part, sample])])
      .map(({ file: _, ...facts }) => facts),
    absent: options.clients === undefined ? absent : {},
  }
  for (const { kind, bytes, pinned } of results.corpora) if (!pinned) say(`${kind}-${bytes}: its sha256 is not pinned`)
  return options.real
    ? measureReal(options, programs, chosen, inputs, results)
    : measure(options, programs, chosen, inputs, results)
}

async function measure(options, programs, chosen, inputs, results) {
  const file = join(cacheFolder('results'), `${results.when.replaceAll(':', '-')}.json`)
  const scenarios = plan(options, chosen)
  const rows = everyday(options, chosen, programs)
  const proofs = options.verify ? proofsFor(scenarios) : []
  results.estimatedSeconds =
    secondsSoFar() + estimate([...scenarios, ...rows], inputs) + estimateOfProofs(proofs, inputs, atOnce)
  say(
    `takes about ${inMinutes(results.estimatedSeconds)}, and longer where the machine is slower or does something else`,
  )
  results.proofs = await proveDelivery(programs, proofs, inputs)
  results.start = await firstRequests(programs, (inputs.log ?? inputs.small).sample, options.quick ? 3 : 7)
  results.scenarios = []
  for (const scenario of scenarios) {
    results.scenarios.push({
      ...(await runScenario(scenario, programs, inputs)),
      sizes: sizesOf(inputs[scenario.kind]),
    })
    results.tookSeconds = secondsSoFar()
    writeFileSync(file, JSON.stringify(results))
  }
  results.everyday = []
  for (const scenario of rows) {
    results.everyday.push(await runScenario(scenario, programs, inputs))
    results.tookSeconds = secondsSoFar()
    writeFileSync(file, JSON.stringify(results))
  }
  results.complete = options.complete
  writeFileSync(file, JSON.stringify(results))
  process.stdout.write(`${brief(results)}\n`)
  say(`took ${inMinutes(results.tookSeconds)}, ${inMinutes(results.estimatedSeconds)} were expected; saved as ${file}`)
  if (results.proofs.some(proof => proof.failed)) process.exitCode = 1
  if (options.complete || options.write) return render(options.complete ? lastComplete(2) : [file])
  say('not written to docs/benchmarks.md: a part was left out (--write does it all the same)')
  return undefined
}

async function measureReal(options, programs, chosen, inputs, results) {
  // Only a complete run goes to the page.
  const file = join(cacheFolder('results'), options.complete || options.write ? 'real.json' : 'real-partly.json')
  const { cluster, loads } = await loadRealCluster(programs, chosen, inputs, options)
  Object.assign(results, { cluster, loads: loads.map(load => ({ ...load, sizes: sizesOf(inputs[load.kind]) })) })
  writeFileSync(file, JSON.stringify(results))
  process.stdout.write(markdown([], results))
  return render(lastComplete(2))
}

function choose(names, wanted) {
  if (wanted === undefined) return names
  for (const name of wanted) if (!names.includes(name)) throw new Error(`no client ${name} here; --list shows them`)
  // The one to which the others are compared is always there.
  return names.filter(name => name === 'sluice' || wanted.includes(name))
}

async function makeInputs({ corpora, sizes, part, samples, pin }, { sink }) {
  const inputs = {}
  for (const kind of corpora) {
    const partBytes = Math.ceil(sizes[kind] / part)
    const made = await corpus(kind, partBytes, { sink, pin })
    inputs[kind] = {
      whole: await corpus(kind, sizes[kind], { sink, pin }),
      part: made,
      sample: samples[kind] < partBytes ? await corpus(kind, samples[kind], { sink, pin }) : made,
    }
  }
  return inputs
}

function sizesOf({ whole, part, sample }) {
  const facts = ({ bytes, documents }) => ({ bytes, documents })
  return { whole: facts(whole), part: facts(part), sample: facts(sample) }
}

/** Since the start of the program: what is built is part of it. */
function secondsSoFar() {
  return performance.now() / 1000
}

function inMinutes(seconds) {
  return seconds < 120 ? `${seconds.toFixed(0)} s` : `${Math.round(seconds / 60)} min`
}

/** Files of the last complete runs, oldest first. */
function lastComplete(count) {
  const folder = cacheFolder('results')
  const complete = readdirSync(folder)
    .filter(name => /^\d.*\.json$/.test(name))
    .toSorted()
    .map(name => join(folder, name))
    .filter(file => JSON.parse(readFileSync(file, 'utf8')).complete)
  return complete.slice(-count)
}

function render(files) {
  if (files.length === 0) return say('docs/benchmarks.md is written once there is a complete run')
  const runs = files.map(file => JSON.parse(readFileSync(file, 'utf8')))
  const docs = join(projectFolder, 'docs')
  mkdirSync(docs, { recursive: true })
  writeFileSync(join(docs, 'benchmarks.md'), markdown(runs, realResults()))
  writeFileSync(join(docs, 'benchmarks.svg'), chart(runs.at(-1)))
  return say('wrote docs/benchmarks.md and docs/benchmarks.svg')
}

function realResults() {
  try {
    return JSON.parse(readFileSync(join(cacheFolder('results'), 'real.json'), 'utf8'))
  } catch {
    return undefined
  }
}
