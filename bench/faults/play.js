/** One loader, one fault: what it did, and what the cluster holds then. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeInput } from './inputs.js'
import { tools } from './tools.js'

const limitSeconds = 180
const index = 'faults'
/** Each way. As between two machines: a client that is given its answer before it has sent its request is another thing to test. */
const latency = { latencyMs: 10 }

/** Resolves to the result of one cell. `startLab` is the lab's. */
export async function play(fault, name, ids, { programs, startLab }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'))
  const lab = await startLab()
  try {
    const input = writeInput(fault.input, folder, ids)
    lab.control.plant(latency)
    fault.plant?.(lab.control)
    const runs = []
    const start = (refused, before) => {
      const { batch = 200, bigIntegers } = fault
      const runId = fault.twice ? 'nightly' : undefined
      const said = { programs, line: lab.line, input, batch, bigIntegers, ids, folder, refused, before, runId }
      return runOnce(tools[name].start(said), folder, fault.named)
    }
    const refused = join(folder, 'refused.ndjson')
    const first = start(fault.refused ?? refused)
    const others = fault.twice ? [start(`${refused}.2`)] : []
    if (fault.kill !== undefined) await killAt(lab, first.child, input.lines.length * fault.kill)
    for (const one of [first, ...others]) runs.push(await one.ended)
    if (fault.again && runs[0].exit !== 0) {
      lab.control.heal()
      lab.control.plant(latency)
      lab.control.register('both')
      runs.push(await start(refused, runs[0].output).ended)
    }
    return {
      ...scoreOf(lab, input, refused, fault),
      runs: runs.map(({ output: _, ...run }) => run),
      ...printed(lab, runs),
    }
  } finally {
    await lab.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function runOnce({ command: [program, ...words], env }, folder, named) {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  const child = spawn(program, words, {
    cwd: folder,
    // Nothing of the user's: no proxy, no settings, no state of an earlier run.
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let namedAfter
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', text => {
      output += text
      if (namedAfter === undefined && named?.test(output)) namedAfter = seconds()
    })
  }
  let isStuck = false
  const limit = setTimeout(() => {
    isStuck = true
    child.kill('SIGKILL')
  }, limitSeconds * 1000)
  const ended = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(limit)
      resolve({ exit: isStuck ? 'never' : (code ?? signal), seconds: seconds(), namedAfter, output })
    })
  })
  return { child, ended }
}

/** Kills when so many documents are stored. */
async function killAt(lab, child, documents) {
  while (child.exitCode === null && lab.control.count(index) < documents) {
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  child.kill('SIGKILL')
}

/** Compares the cluster with the input. What is in the file for refused documents is set aside, and not missing. */
function scoreOf(lab, { lines }, refused, { without = 0 }) {
  const copies = new Uint8Array(lines.length)
  let altered = 0
  let strange = 0
  for (const id of lab.control.ids(index)) {
    const text = lab.control.source(index, id).toString()
    const n = Number(/"n":(\d+)/.exec(text)?.[1])
    if (!/"customer"/.test(text) || !(n >= 1 && n <= lines.length)) {
      strange += 1
      continue
    }
    if (text.replaceAll(/^\uFEFF|\r$/g, '') !== lines[n - 1]) altered += 1
    copies[n - 1] += 1
  }
  const kept = keptIn(refused)
  const doubled = copies.reduce((sum, count) => sum + Math.max(0, count - 1), 0)
  const absent = lines.flatMap((_, at) => (copies[at] === 0 ? [at + 1] : []))
  const setAside = absent.filter(n => kept.has(n)).length
  const missing = Math.max(0, absent.length - setAside - (setAside < without ? without : 0))
  return { documents: lines.length, missing, doubled, altered, strange, setAside }
}

function keptIn(file) {
  if (!existsSync(file)) return new Set()
  return new Set([...readFileSync(file, 'utf8').matchAll(/order-(\d+)/g)].map(([, n]) => Number(n)))
}

/** What should not be in an output, and connections that did not come through the proxy. */
function printed(lab, runs) {
  const { proxy, cluster, staticIps } = lab.line
  const output = runs.map(run => run.output).join('\n')
  const secrets = {
    'proxy password': new URL(proxy.http).password,
    'API key': cluster.apiKey,
    'cluster password': cluster.password,
  }
  const connections = lab.control.connections().filter(({ at }) => at === 'cluster')
  return {
    secrets: Object.keys(secrets).filter(name => output.includes(decodeURIComponent(secrets[name]))),
    documentsPrinted: new Set([...output.matchAll(/Erika Mustermann (\d+)/g)].map(([, n]) => n)).size,
    connections: connections.length,
    outside: connections.filter(({ from }) => !staticIps.includes(from)).length,
  }
}
