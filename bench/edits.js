/**
 * node bench/edits.js [--lines N] [--rounds N] [--sluice FILE] [--cases LIST]
 *
 * Measures what edits cost: each round loads the same file without edits and then with those of a case, one behind the other, so that both
 * meet the same machine. The sink counts every document. Prints wall and CPU time of each round, and the medians with their ratios.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from './corpus/seeded-random.js'
import { smallDocuments } from './corpus/small-documents.js'
import { builtSluice, native } from './prepare.js'
import { say } from './say.js'
import { startServers } from './servers.js'
import { spread } from './statistics.js'

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '2000000' },
    rounds: { type: 'string', default: '5' },
    sluice: { type: 'string' },
    cases: { type: 'string' },
  },
})
const lines = Number(values.lines)

const cases = {
  now: ['--set', '@timestamp={now}'],
  line: ['--set', 'line:={line}'],
  drop: ['--drop', 'text,host'],
  keep: ['--keep', 'time,id,status'],
  rename: ['--rename', 'time=@timestamp'],
  all: ['--drop', 'host', '--rename', 'time=@timestamp', '--set', 'status=200', '--set', 'from={file}:{line}'],
}

const programs = {
  sluice: values.sluice ?? builtSluice(),
  sink: native('null-sink'),
  proxy: native('forward-proxy'),
  measure: native('measure'),
}
const folder = mkdtempSync(join(tmpdir(), 'sluice-edits-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const servers = await startServers(programs)
try {
  const input = written()
  for (const name of values.cases?.split(',') ?? Object.keys(cases)) {
    const rounds = []
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const pair = { without: await load(input, []), edited: await load(input, cases[name]) }
      rounds.push(pair)
      say(`${name}: ${shown(pair.without)} without, ${shown(pair.edited)} with edits`)
    }
    const ratio = field => spread(rounds.map(({ without, edited }) => edited[field] / without[field])).median.toFixed(2)
    process.stdout.write(`${name.padEnd(8)} wall × ${ratio('seconds')}, CPU × ${ratio('cpuSeconds')}\n`)
  }
} finally {
  await servers[Symbol.asyncDispose]()
}

function shown({ seconds, cpuSeconds }) {
  return `${seconds.toFixed(2)} s, CPU ${cpuSeconds.toFixed(2)} s`
}

function written() {
  const file = join(folder, 'documents.ndjson')
  const document = smallDocuments(seededRandom(7))
  const fd = openSync(file, 'w')
  let text = ''
  for (let number = 0; number < lines; number += 1) {
    text += `${JSON.stringify(document())}\n`
    if (text.length < 1 << 20 && number + 1 < lines) continue
    writeSync(fd, text)
    text = ''
  }
  closeSync(fd)
  return file
}

async function load(input, edits) {
  await servers.reset()
  const home = mkdtempSync(join(folder, 'home-'))
  const words = ['ingest', input, '--url', servers.url, '--index', 'bench', '--quiet', ...edits]
  const child = spawn(programs.measure, ['1800', process.execPath, programs.sluice, ...words], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const parts = []
  child.stdio[3].on('data', part => parts.push(part))
  await once(child, 'close')
  const cost = JSON.parse(Buffer.concat(parts).toString())
  const { documents } = await servers.stats()
  if (documents !== lines) throw new Error(`${documents} documents at the sink`)
  rmSync(home, { recursive: true })
  return { seconds: cost.wallSeconds, cpuSeconds: cost.userSeconds + cost.systemSeconds }
}
