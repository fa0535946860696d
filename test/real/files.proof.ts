import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receipt, connect } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { type Seeded, seeded } from '../support/seeded.js'
import { binary } from '../support/sluice.js'
import { describeOnRealServers } from './on-real-servers.js'

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
    const lines = Array.from({ length: IN_FILE }, (_, at) => `${JSON.stringify({ n: file * IN_FILE + at })}\n`)
    writeFileSync(join(parent, `${file}.ndjson`), lines.join(''))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

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
    expect(await compare(world(), 'files')).toEqual({ missing: 0, doubled: 0 })
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
      expect(await compare(world(), index)).toEqual({ missing: 0, doubled: 0 })
    }
    expect(kills).toBe(KILLS)
  })
})

/** `random`: kills the load at some instant, if it still runs then. */
async function load(world: RealWorld, index: string, state: string, random?: Seeded): Promise<Ended> {
  const { cluster, proxy, staticIps } = world
  const options = ['--index', index, '--state-dir', join(folder, state), '--json', '--quiet', '--batch-bytes', '1mb']
  const command = [process.execPath, binary, 'ingest', join(folder, 'in/*/*.ndjson'), ...options]
  const began = performance.now()
  const child = spawn('/bin/sh', ['-c', `ulimit -n ${OPEN_FILES} && exec "$@"`, 'sh', ...command], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      STATIC_PROXY_URL: proxy.https,
      STATIC_IPS: staticIps.join(','),
      ELASTICSEARCH_URL: cluster.url,
      ELASTICSEARCH_API_KEY: cluster.apiKey,
      SLUICE_CA: cluster.caFile,
      SLUICE_PROXY_CA: world.proxyCaFile,
    },
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

async function compare(world: RealWorld, index: string): Promise<{ missing: number; doubled: number }> {
  const { url, username, password, caFile } = world.cluster
  const way = await connect({
    target: { url, username, password, ca: await readFile(caFile) },
    proxy: { url: world.proxy.https, ca: await readFile(world.proxyCaFile) },
  })
  const seen = new Uint8Array(FILES * IN_FILE)
  try {
    await way.client.indices.refresh({ index })
    const { id } = await way.client.openPointInTime({ index, keep_alive: '5m' })
    for (let after: unknown[] | undefined; ;) {
      const { hits } = await way.client.search<{ n: number }>({
        pit: { id, keep_alive: '5m' },
        size: 10_000,
        sort: ['_shard_doc'],
        track_total_hits: false,
        ...(after === undefined ? {} : { search_after: after as string[] }),
      })
      for (const { _source: source } of hits.hits) seen[source?.n ?? -1] = (seen[source?.n ?? -1] ?? 0) + 1
      after = hits.hits.at(-1)?.sort
      if (after === undefined) break
    }
    await way.client.closePointInTime({ id })
  } finally {
    await way.close()
  }
  return { missing: seen.filter(times => times === 0).length, doubled: seen.filter(times => times > 1).length }
}
