import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { type Seeded, seeded } from '../support/random/seeded.js'
import { binary } from '../support/command/sluice.js'
import { describeOnRealServers } from './on-real-servers.js'
import { compare, environmentOf } from './real-load.js'

const FILES = Number(process.env.FILES ?? 100_000)
const KILLS = Number(process.env.KILLS ?? 50)
const SEED = Number(process.env.SEED ?? 1)
const IN_FILE = 10
const IN_FOLDER = 1000
const OPEN_FILES = 256

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-files-'))
  for (let file = 0; file < FILES; file += 1) {
    const parent = join(folder, 'in', String(Math.trunc(file / IN_FOLDER)))
    if (file % IN_FOLDER === 0) mkdirSync(parent, { recursive: true })
    const lines = Array.from({ length: IN_FILE }, (_, at) => `${lineOf(file * IN_FILE + at)}\n`)
    writeFileSync(join(parent, `${file}.ndjson`), lines.join(''))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

const lineOf = (n: number) => JSON.stringify({ n })

const whole = { missing: 0, doubled: 0, altered: 0 }

interface Cost {
  readonly seconds: number
  readonly peakBytes: number
  readonly openFiles: number
}

interface Ended extends Cost {
  /** Absent: it was killed. */
  readonly receipt: Receipt | undefined
}

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  test(`${FILES} files load under ulimit -n ${OPEN_FILES}, and a repeat finds nothing new`, async () => {
    const first = await load(world(), 'files', 'files-state')
    say('first load', first)
    expect(first.receipt).toMatchObject({ status: 'finished', read: FILES * IN_FILE, created: FILES * IN_FILE })
    expect(await compare(world(), 'files', FILES * IN_FILE, lineOf)).toEqual(whole)
    const state = sizeOf(join(folder, 'files-state')) / FILES
    console.log(`state: ${state.toFixed(0)} bytes a file`)
    expect(state).toBeLessThan(250)

    const repeat = await load(world(), 'files', 'files-state')
    say('repeat', repeat)
    expect(repeat.receipt).toMatchObject({ status: 'finished', read: 0, requests: 0 })
    expect(repeat.receipt?.inputs).toHaveLength(FILES)
  })

  test(`${FILES} files, killed ${KILLS} times on the way, lose and double nothing`, async () => {
    const random = seeded(SEED)
    let kills = 0
    for (let round = 1; kills < KILLS; round += 1) {
      const index = `files-killed-${round}`
      let ended = await load(world(), index, index, kills < KILLS ? random : undefined)
      while (ended.receipt === undefined) {
        kills += 1
        ended = await load(world(), index, index, kills < KILLS ? random : undefined)
      }
      say(`${index} after ${kills} kills in all`, ended)
      expect(ended.receipt).toMatchObject({ status: 'finished', rejected: 0, unsent: 0, unknown: 0 })
      expect(await compare(world(), index, FILES * IN_FILE, lineOf)).toEqual(whole)
    }
    expect(kills).toBe(KILLS)
  })
})

/** `random`: kills the load at some instant, if it still runs then. */
async function load(world: RealWorld, index: string, state: string, random?: Seeded): Promise<Ended> {
  const options = ['--index', index, '--state-dir', join(folder, state), '--json', '--quiet', '--batch-bytes', '1mb']
  const command = [process.execPath, binary, 'ingest', join(folder, 'in/*/*.ndjson'), ...options]
  const began = performance.now()
  const child = spawn('/bin/sh', ['-c', `ulimit -n ${OPEN_FILES} && exec "$@"`, 'sh', ...command], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, ...environmentOf(world) },
  })
  const seen = { peakBytes: 0, openFiles: 0 }
  const watch = setInterval(() => look(child, seen), 20)
  // Some in the search for files, most while it loads.
  const kill = random && setTimeout(() => child.kill('SIGKILL'), random.below(300 + FILES / 5))
  let out = ''
  child.stdout.on('data', (text: Buffer) => (out += text.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  clearInterval(watch)
  clearTimeout(kill)
  const cost = { seconds: (performance.now() - began) / 1000, ...seen }
  if (signal === 'SIGKILL') return { ...cost, receipt: undefined }
  expect(code).toBe(0)
  return { ...cost, receipt: JSON.parse(out) as Receipt }
}

function look({ pid }: ChildProcess, seen: { peakBytes: number; openFiles: number }): void {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    seen.peakBytes = Math.max(seen.peakBytes, Number(kilobytes ?? 0) * 1024)
    seen.openFiles = Math.max(seen.openFiles, readdirSync(`/proc/${pid}/fd`).length)
  } catch {
    // It has ended.
  }
}

function say(what: string, { seconds, peakBytes, openFiles }: Cost): void {
  const each = ((seconds / FILES) * 1e6).toFixed(0)
  const peak = (peakBytes / 1e6).toFixed(0)
  console.log(`${what}: ${seconds.toFixed(1)} s, ${each} µs a file, peak ${peak} MB, ${openFiles} files open at most`)
}

function sizeOf(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(path, name)))
    .reduce((sum, found) => sum + (found.isFile() ? found.size : 0), 0)
}
