import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clients, connectionsFor } from './clients.js'
import { projectFolder } from './prepare.js'

const limitSeconds = 1800
const folders = new Set()
process.on('exit', () => folders.forEach(folder => rmSync(folder, { recursive: true, force: true })))

/**
 * Runs a client once on a corpus. Resolves to what it cost; `failed` says what was wrong where it did not deliver every document.
 * `input` is { corpus, part, times }, `place` { url, proxy, latency, ca, core, words }.
 */
export async function runClient(name, programs, input, place) {
  const { url, proxy, latency = 0, ca, core, words } = place
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  folders.add(folder)
  try {
    const connections = connectionsFor(latency)
    const command = await clients[name].start({ programs, ...input, folder, url, proxy, connections, ca, words })
    // A glob is no file.
    if (existsSync(input.corpus.file)) touch(input.corpus.file)
    const pinned = core === undefined ? command : ['taskset', '-c', String(core), ...command]
    const cost = await measured(programs.measure, pinned, folder, ca)
    if (cost.exitCode === 0) return cost
    const reason = cost.stoppedBy ? `ended after ${limitSeconds} s` : `exit code ${cost.exitCode}`
    return { ...cost, failed: `${reason}: ${lastLines(join(folder, 'output'))}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    folders.delete(folder)
  }
}

const touched = Buffer.alloc(4 << 20)

/**
 * Reads it once. A virtual machine's host takes pages back that were not used for a while, also from the page cache; without this
 * whoever runs behind a client that takes long pays for having them back: up to half of the CPU time of a fast one.
 */
function touch(file) {
  const fd = openSync(file, 'r')
  while (readSync(fd, touched) > 0);
  closeSync(fd)
}

async function measured(measure, command, folder, ca) {
  const home = join(folder, 'home')
  mkdirSync(home)
  const output = openSync(join(folder, 'output'), 'w')
  const child = spawn(measure, [String(limitSeconds), ...command], {
    cwd: folder,
    // Nothing of the user's: no proxy, no settings of Sluice, no state of an earlier run.
    env: {
      PATH: process.env.PATH,
      HOME: home,
      LANG: 'C.UTF-8',
      NODE_NO_WARNINGS: '1',
      ...(ca && { SSL_CERT_FILE: ca }),
    },
    stdio: ['ignore', output, output, 'pipe'],
  })
  closeSync(output)
  const parts = []
  child.stdio[3].on('data', part => parts.push(part))
  await once(child, 'close')
  const text = Buffer.concat(parts).toString()
  if (text === '') throw new Error(`${command.join(' ')} could not be measured`)
  return JSON.parse(text)
}

const lastLines = file =>
  readFileSync(file, 'utf8').trim().split('\n').slice(-3).join(' · ').slice(-400).replaceAll(projectFolder, '')

/** A run on the sink: what the client cost, with what the sink saw of it. */
export async function trial(name, programs, input, place, servers) {
  await servers.addLatency(place.latency ?? 0)
  await servers.reset()
  const before = await servers.stats()
  const cost = await runClient(name, programs, input, place)
  const seen = await servers.stats()
  const { corpus, part, times = 1 } = input
  const repeats = clients[name].repeatsPart === true && part !== undefined
  const delivers = clients[name].delivers !== false
  const expected = repeats ? part.documents * times : delivers ? corpus.documents : 0
  const bytes = repeats ? part.bytes * times : corpus.bytes
  const wrong = cost.failed ?? wrongDelivery(seen, expected)
  return {
    ...(wrong && { failed: wrong }),
    documents: expected,
    bytes,
    wallSeconds: cost.wallSeconds,
    cpuSeconds: cost.userSeconds + cost.systemSeconds,
    peakBytes: cost.peakBytes,
    firstRequestSeconds: seen.firstRequest - cost.start,
    wireBytes: seen.receivedBytes,
    answeredBytes: seen.answeredBytes,
    requests: seen.requests,
    connections: seen.connections,
    largestBody: seen.largestBody,
    mostInFlight: seen.mostInFlight,
    sinkCpuSeconds: seen.cpuSeconds - before.cpuSeconds,
    sum: seen.sum,
  }
}

function wrongDelivery(seen, expected) {
  if (seen.documents !== expected) return `the sink received ${seen.documents} documents instead of ${expected}`
  if (seen.oddBodies > 0 || seen.violations > 0) return 'the sink received broken requests'
  return undefined
}
