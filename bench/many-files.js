// node bench/many-files.js [FILES] [--fds NUMBER] [--folder FOLDER]
// Loads FILES small files (default 100,000) by one glob under `ulimit -n` (default 256), and a thousand of them for comparison: a
// first load, a repeat, and a load that is killed halfway and then resumed. Prints what each costs. The cost of a file is without
// what it takes to load a single one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { native, projectFolder } from './prepare.js'
import { startServers } from './servers.js'

const DOCUMENTS = 10
const FILES_IN_FOLDER = 1000
const FEW = 1000
const SAMPLE_MS = 5
const LIMIT_SECONDS = 3600

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fds: { type: 'string', default: '256' }, folder: { type: 'string' } },
})
const many = Number(positionals[0] ?? 100_000)
const tools = { sink: native('null-sink'), proxy: native('forward-proxy'), measure: native('measure') }
const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'sluice-many-files-'))
if (values.folder === undefined) process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(130))

const servers = await startServers(tools)
try {
  const one = await run(1, await makeFiles(1), 'start', 'one')
  const few = await phases(FEW)
  const all = many === FEW ? few : await phases(many)
  // In CPU time: other processes of the machine count less.
  const perFile = ({ cpuSeconds }, files) => ((cpuSeconds - one.cpuSeconds) / files) * 1e6
  for (const phase of ['first load', 'repeat']) {
    const [fewest, most] = [perFile(few[phase], FEW), perFile(all[phase], many)]
    say(
      `${phase}: ${most.toFixed(0)} µs of CPU a file, ${(most / fewest).toFixed(2)} times as much as among ${FEW} (${fewest.toFixed(0)} µs)`,
    )
  }
} finally {
  await servers[Symbol.asyncDispose]()
}

/** Resolves to the cost of each phase on this many files. */
async function phases(files) {
  const inputs = await makeFiles(files)
  const first = await run(files, inputs, 'first load', 'one')
  const repeat = await run(files, inputs, 'repeat', 'one')
  await run(files, inputs, 'killed', 'two', async () => await halfOf(files))
  await run(files, inputs, 'resume', 'two')
  return { 'first load': first, repeat }
}

/** Makes the files if they are not there yet. */
async function makeFiles(files) {
  const inputs = join(folder, `inputs-${files}`)
  if (existsSync(join(inputs, 'made'))) return inputs
  for (let first = 0; first < files; first += FILES_IN_FOLDER) {
    const part = join(inputs, String(first / FILES_IN_FOLDER).padStart(4, '0'))
    mkdirSync(part, { recursive: true })
    const count = Math.min(FILES_IN_FOLDER, files - first)
    await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const number = first + at
        await writeFile(join(part, `${String(number).padStart(7, '0')}.ndjson`), linesOf(number))
      }),
    )
  }
  // A file that changed within the last two seconds is read again by a repeat.
  await after(2500)
  await writeFile(join(inputs, 'made'), '')
  return inputs
}

function linesOf(file) {
  return Array.from(
    { length: DOCUMENTS },
    (_, n) => `${JSON.stringify({ file, n, text: 'a line of the log '.repeat(4) })}\n`,
  ).join('')
}

async function run(files, inputs, phase, name, kill) {
  const state = join(folder, `state-${files}-${name}`)
  if (phase !== 'repeat' && phase !== 'resume') rmSync(state, { recursive: true, force: true })
  await servers.reset()
  const output = join(folder, 'output')
  const words = [
    'ingest',
    `${inputs}/*/*.ndjson`,
    '--index',
    'many',
    '--state-dir',
    state,
    '--json',
    '--quiet',
    '--url',
    servers.url,
  ]
  const command = `ulimit -n ${values.fds} && exec "$@"`
  const program = [process.execPath, ...process.execArgv, join(projectFolder, 'bin', 'sluice.js'), ...words]
  const out = openSync(output, 'w')
  const child = spawn(tools.measure, [String(LIMIT_SECONDS), '/bin/sh', '-c', command, 'sh', ...program], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      NODE_NO_WARNINGS: '1',
      ...(process.env.NODE_OPTIONS && { NODE_OPTIONS: process.env.NODE_OPTIONS }),
    },
    stdio: ['ignore', out, openSync(join(folder, 'errors'), 'w'), 'pipe'],
  })
  const parts = []
  child.stdio[3].on('data', part => parts.push(part))
  const ended = once(child, 'close').then(() => true)
  const open = openFiles(child.pid, ended)
  if (kill !== undefined && (await Promise.race([ended, kill()])) !== true) process.kill(childOf(child.pid), 'SIGKILL')
  await ended
  const cost = JSON.parse(Buffer.concat(parts).toString())
  const { documents, requests } = await servers.stats()
  const bytes = sizeOf(state)
  const cpuSeconds = cost.userSeconds + cost.systemSeconds
  say(
    [
      `${files} files, ${phase}: ${cost.wallSeconds.toFixed(2)} s (CPU ${cpuSeconds.toFixed(2)} s)`,
      `peak ${(cost.peakBytes / 1e6).toFixed(0)} MB`,
      `${await open} files open, state ${(bytes / files).toFixed(0)} bytes a file`,
      `${documents} documents in ${requests} requests`,
      ...(kill === undefined ? [`exit ${cost.exitCode}${summary(output)}`] : []),
    ].join(', '),
  )
  return { cpuSeconds }
}

function summary(output) {
  const text = readFileSync(output, 'utf8')
  if (text === '') return `: ${readFileSync(join(folder, 'errors'), 'utf8').trim()}`
  const { status, read, created, duplicate, inputs } = JSON.parse(text)
  return `: ${status}, ${inputs.length} inputs, read ${read} = ${created} created + ${duplicate} duplicate`
}

/** Resolves when the sink has half of the documents. */
async function halfOf(files) {
  for (;;) {
    const { documents } = await servers.stats()
    if (documents >= (files * DOCUMENTS) / 2) return false
    await after(SAMPLE_MS)
  }
}

/** Resolves to how many files the program had open at most, as far as the samples show. */
async function openFiles(measure, ended) {
  let most = 0
  const life = { isOver: false }
  void ended.then(() => (life.isOver = true))
  while (!life.isOver) {
    try {
      most = Math.max(most, readdirSync(`/proc/${childOf(measure)}/fd`).length)
    } catch {
      // It has not begun, or has ended.
    }
    await after(SAMPLE_MS)
  }
  return most
}

function childOf(parent) {
  return Number(readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ')[0])
}

/** Sockets count as nothing. */
function sizeOf(path) {
  return readdirSync(path, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size, 0)
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
