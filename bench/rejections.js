/**
 * node bench/rejections.js [--lines N] [--rounds N] [--sluice FILE] [--cases LIST] [--profile FOLDER]
 *
 * Measures how fast Sluice rejects lines, and with how much memory. The sink accepts every document that arrives, and that of the case
 * `cluster` rejects it. Each case counts what the receipt and the dead letters must hold. Prints one line per round, and the median of each case.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createReadStream, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from './corpus/seeded-random.js'
import { smallDocuments } from './corpus/small-documents.js'
import { benchFolder, builtSluice, native } from './prepare.js'
import { say } from './say.js'
import { start, startServers } from './servers.js'
import { spread } from './statistics.js'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '3' },
    sluice: { type: 'string' },
    cases: { type: 'string' },
    profile: { type: 'string' },
  },
})
const lines = Number(values.lines)
/** Documents before the first broken line: an input that begins with lines that are no JSON is not loaded at all. */
const GOOD_FIRST = 1000

/** What stands in a broken file: numbers, texts, arrays, empty objects that never end, and documents that break off. */
const broken = (random, document) => {
  const whole = JSON.stringify(document())
  const kinds = [
    () => String(random.below(1e9)),
    () => '{"a":',
    () => whole.slice(0, random.below(whole.length - 1) + 1),
    () => `[${whole}]`,
    () => `"${random.hex(24)}"`,
    () => `${random.hex(8)} INFO ${random.hex(40)}`,
    () => `${whole},`,
  ]
  return random.pick(kinds)()
}

/** Each returns the text of one line by its number, from 0. */
const cases = {
  none: (_, document) => () => JSON.stringify(document()),
  all: (random, document) => number => (number < GOOD_FIRST ? JSON.stringify(document()) : broken(random, document)),
  half: (random, document) => number =>
    number < GOOD_FIRST || number % 2 === 0 ? JSON.stringify(document()) : broken(random, document),
  numbers: (_, document) => number => (number < GOOD_FIRST ? JSON.stringify(document()) : String(number)),
  cluster: (_, document) => () => JSON.stringify(document()),
}

const rejectedIn = {
  none: 0,
  all: lines - GOOD_FIRST,
  half: (lines - GOOD_FIRST) / 2,
  numbers: lines - GOOD_FIRST,
  cluster: lines,
}

const programs = {
  sluice: values.sluice ?? builtSluice(),
  sink: native('null-sink'),
  proxy: native('forward-proxy'),
  measure: native('measure'),
}
const folder = mkdtempSync(join(tmpdir(), 'sluice-rejections-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const servers = await startServers(programs)
const refusing = await start(process.execPath, [join(benchFolder, 'refusing-sink.js')])
try {
  for (const name of values.cases?.split(',') ?? Object.keys(cases)) {
    const input = written(name)
    const rounds = []
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const cost = await load(name, input)
      rounds.push(cost)
      say(`${name}: ${shown(cost)}`)
    }
    const of = field => spread(rounds.map(cost => cost[field])).median
    const cost = { seconds: of('seconds'), cpuSeconds: of('cpuSeconds'), peakBytes: of('peakBytes') }
    process.stdout.write(`${name.padEnd(8)} ${shown(cost)}\n`)
    rmSync(input)
  }
} finally {
  await refusing[Symbol.asyncDispose]()
  await servers[Symbol.asyncDispose]()
}

function shown({ seconds, cpuSeconds, peakBytes }) {
  const speed = `${Math.round(lines / seconds).toLocaleString('en')} lines a second`
  return `${lines} lines in ${seconds.toFixed(2)} s, ${speed}, CPU ${cpuSeconds.toFixed(2)} s, ${Math.round(peakBytes / 1e6)} MB`
}

function written(name) {
  const file = join(folder, `${name}.ndjson`)
  const random = seededRandom(7)
  const line = cases[name](random, smallDocuments(random))
  const fd = openSync(file, 'w')
  let text = ''
  for (let number = 0; number < lines; number += 1) {
    text += `${line(number)}\n`
    if (text.length < 1 << 20 && number + 1 < lines) continue
    writeSync(fd, text)
    text = ''
  }
  closeSync(fd)
  return file
}

async function load(name, input) {
  await servers.reset()
  const home = mkdtempSync(join(folder, 'home-'))
  const letters = join(home, 'dead-letters.ndjson')
  const receiptFile = join(home, 'receipt.json')
  const profiling = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  if (values.profile !== undefined) mkdirSync(values.profile, { recursive: true })
  const output = openSync(receiptFile, 'w')
  const words = [
    'ingest',
    input,
    '--url',
    name === 'cluster' ? `http://127.0.0.1:${refusing.port}` : servers.url,
    '--index',
    'bench',
    '--dead-letters',
    letters,
    '--json',
    '--quiet',
  ]
  const child = spawn(programs.measure, ['1800', process.execPath, ...profiling, programs.sluice, ...words], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', output, 'ignore', 'pipe'],
  })
  closeSync(output)
  const parts = []
  child.stdio[3].on('data', part => parts.push(part))
  await once(child, 'close')
  const cost = JSON.parse(Buffer.concat(parts).toString())
  const receipt = JSON.parse(readFileSync(receiptFile, 'utf8'))
  const expected = rejectedIn[name]
  const { documents } = await servers.stats()
  const found = expected === 0 ? 0 : await linesOf(letters)
  if (receipt.rejected !== expected || found !== expected || documents !== lines - expected)
    throw new Error(`${name}: ${receipt.rejected} rejected, ${found} dead letters, ${documents} documents at the sink`)
  rmSync(home, { recursive: true })
  return {
    seconds: cost.wallSeconds,
    cpuSeconds: cost.userSeconds + cost.systemSeconds,
    peakBytes: cost.peakBytes,
  }
}

async function linesOf(file) {
  let found = 0
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 }))
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) found += 1
  return found
}
