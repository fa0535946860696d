/**
 * node bench/worker-killed.js
 *
 * Kills one of four loaders in the middle of eight files, on the lab: processes that GNU parallel starts, with and without its retries,
 * and workers of one job of Sluice over a queue in Redis. Prints what each loses and doubles, and how it ends.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { tools } from './faults/tools.js'
import { builtSluice, pythonEnvironment } from './prepare.js'
import { startRedis } from './redis.js'
import { say } from './say.js'

const [FILES, EACH, LOADERS] = [8, 20_000, 4]
const index = 'faults'

const programs = { sluice: builtSluice(), python: pythonEnvironment() }
// Built above: it does not exist before.
const { startLab } = await import(new URL('../dist/lab/index.js', import.meta.url).href)
const folder = mkdtempSync(join(tmpdir(), 'sluice-killed-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const files = Array.from({ length: FILES }, (_, file) => {
  const path = join(folder, `${file}.ndjson`)
  const lines = Array.from({ length: EACH }, (_, at) => `{"n":${file * EACH + at},"text":"document"}\n`)
  writeFileSync(path, lines.join(''))
  return path
})

const parallel = (...more) =>
  async function (line) {
    const { command, env } = tools.python.start({ ...said(line), input: { file: '{}' } })
    const child = run('parallel', ['--will-cite', '-j', String(LOADERS), ...more, ...command, ':::', ...files], env)
    return { child, victims: () => descendants(child.pid).filter(isLoader) }
  }

async function job(line) {
  const { env } = tools.sluice.start({ ...said(line), input: { file: '' } })
  const queue = ['--queue', redis.url, '--jobs', '1']
  const workers = Array.from({ length: LOADERS - 1 }, () =>
    run(process.execPath, [programs.sluice, 'worker', ...queue], env),
  )
  const load = ['ingest', ...files, '--index', index, '--batch-docs', '200', '--concurrency', String(LOADERS), '--json']
  const child = run(process.execPath, [programs.sluice, ...load, ...queue], { ...env, SLUICE_LEASE: '5s' })
  return { child, victims: () => [workers[0].pid], end: () => workers.forEach(worker => worker.kill('SIGKILL')) }
}

const said = line => ({ programs, line, batch: 200, ids: 'own', folder, refused: join(folder, 'refused.ndjson') })

const redis = await startRedis(join(folder, 'redis'))
try {
  for (const { name, start } of [
    { name: 'GNU parallel, streaming_bulk', start: parallel() },
    { name: 'GNU parallel --retries 3, streaming_bulk', start: parallel('--retries', '3') },
    { name: 'Sluice, one job of four workers', start: job },
  ])
    say(`${name}: ${await play(start)}`)
} finally {
  await redis[Symbol.asyncDispose]()
}

async function play(start) {
  const lab = await startLab()
  try {
    lab.control.plant({ latencyMs: 20 })
    const { child, victims, end } = await start(lab.line)
    const closed = once(child, 'close')
    await stored(lab, (FILES * EACH) / 4)
    const [victim] = victims()
    process.kill(victim, 'SIGKILL')
    const [code] = await closed
    end?.()
    const copies = new Uint8Array(FILES * EACH)
    for (const id of lab.control.ids(index)) copies[JSON.parse(lab.control.source(index, id).toString()).n] += 1
    const count = test => copies.reduce((sum, number) => sum + test(number), 0)
    return `${count(one => Number(one === 0))} missing, ${count(one => Math.max(0, one - 1))} doubled, exit ${code}`
  } finally {
    await lab.close()
  }
}

async function stored(lab, wanted) {
  while (lab.control.count(index) < wanted) await after(20)
}

function run(program, words, env) {
  const home = mkdtempSync(join(folder, 'home-'))
  mkdirSync(join(home, '.parallel'), { recursive: true })
  return spawn(program, words, {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, LANG: 'C.UTF-8', NODE_NO_WARNINGS: '1', ...env },
    stdio: 'ignore',
  })
}

function descendants(pid) {
  const parents = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(name => {
      try {
        return [[Number(name), Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1).split(' ')[1])]]
      } catch {
        return []
      }
    })
  const below = new Set([pid])
  for (let size = 0; size < below.size;) {
    size = below.size
    for (const [child, parent] of parents) if (below.has(parent)) below.add(child)
  }
  return [...below].filter(one => one !== pid)
}

/** GNU parallel starts some processes of its own. */
function isLoader(pid) {
  const [program, script] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  return program.includes('python') && script.endsWith('streaming_bulk.py')
}
