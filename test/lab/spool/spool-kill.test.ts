// @module-tag search
/** Processes that are killed at random instants while they take their stdin by way of the disk. */
import { knownRuns } from '../../../src/run/state/runs/runs.js'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, type Running, folder, startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

// Each test starts some ten processes.
const KILLS = rounds(3, 20)
const index = 'spooled'

let lab: Lab
let work: Folder
beforeEach(async () => {
  lab = await startLab()
  work = await folder()
})
afterEach(async () => {
  await lab.close()
  await work[Symbol.asyncDispose]()
})

const state = () => join(work.path, 'state')

function start(...more: string[]): Running {
  const options = ['--index', index, '--batch-docs', '100', '--concurrency', '3', '--preflight-connections', '1']
  const args = ['ingest', '-', '--spool', ...options, '--state-dir', state(), '--json', ...more]
  return startSluice(args, { cwd: work.path, env: lab.env, piped: true })
}

/** Says all of it; or, for who will be killed, perhaps only a part, and then nothing more. */
function produce(content: string, { child }: Running, random: Seeded, isDoomed: boolean): void {
  if (isDoomed && random.real() < 0.5) child.stdin?.write(content.slice(0, random.below(content.length)))
  else child.stdin?.end(content)
}

/** Kills a load after some time, or after so many more documents. Returns false if it ended before that. */
async function killSoon(running: Running, random: Seeded): Promise<boolean> {
  const isTimed = random.real() < 0.3
  // Some wait for more than they were given.
  let turns = isTimed ? random.below(400) : 1000
  const wanted = lab.control.count(index) + 1 + random.below(2500)
  const isThere = () => (turns -= 1) <= 0 || (!isTimed && lab.control.count(index) >= wanted)
  return (await killWhen(running, isThere)) === undefined
}

/** Every copy of stdin that a process has left, by its id. */
async function spooled(): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const spool = join(state(), 'spool')
  for (const key of await readdir(spool).catch(() => [])) {
    for (const id of await readdir(join(spool, key))) {
      if (/^\d+-[0-9a-f]{8}$/.test(id)) found.set(id, await readFile(join(spool, key, id), 'utf8'))
    }
  }
  return found
}

/** The first part of the ids of each copy of stdin, as far as there is one. */
async function tokens(): Promise<Map<string, string>> {
  const { known } = await knownRuns(state())
  const inputs = known.flatMap(({ checkpoint }) => [...checkpoint.inputs])
  return new Map(inputs.flatMap(({ copy, token }) => (copy === undefined ? [] : [[copy, token]])))
}

/** Whole lines, also a last one that lacks its line end alone. */
const wholeLines = (content: string) => content.split('\n').filter(line => line.endsWith('}'))

function expectStored(contents: ReadonlyMap<string, string>, known: ReadonlyMap<string, string>): void {
  const missing: string[] = []
  let documents = 0
  for (const [id, content] of contents) {
    for (const [at, line] of wholeLines(content).entries()) {
      documents += 1
      if (lab.control.source(index, `${known.get(id)}-${at + 1}`)?.toString() !== line) missing.push(`${id} ${at + 1}`)
    }
  }
  expect(missing).toEqual([])
  expect(lab.control.count(index), 'nothing is doubled').toBe(documents)
}

const lines = (count: number, from: number) =>
  Array.from({ length: count }, (_, at) => `{"n":${from + at},"text":"${'x'.repeat((at * 7) % 150)}"}\n`).join('')

test('each spooled stdin is loaded once, whatever is killed, though no producer repeats it', async () => {
  const random = seeded(23)
  lab.control.plant({ latencyMs: 60 })
  const contents = new Map<string, string>()
  const known = new Map<string, string>()
  let kills = 0
  let isCut = false
  let last: Receipt | undefined
  for (let round = 0; kills < KILLS || last === undefined; round++) {
    const content = lines(4000, round * 10_000)
    const running = start()
    const isDoomed = kills < KILLS
    produce(content, running, random, isDoomed)
    const wasKilled = isDoomed && (await killSoon(running, random))
    const { code, stdout, stderr } = await running.ended
    for (const [id, token] of await tokens()) known.set(id, token)
    if (wasKilled) {
      kills += 1
      for (const [id, text] of await spooled()) contents.set(id, text)
      continue
    }
    // All of its own stdin was taken, and nothing is left unless the end of another one is still waited for.
    for (const id of known.keys()) if (!contents.has(id)) contents.set(id, content)
    if (code === 0) expect(await spooled()).toEqual(new Map())
    expect(stdout, stderr).toMatch(/^\{/)
    const receipt = JSON.parse(stdout) as Receipt
    expect(receipt).toMatchObject({ rejected: 0, unsent: 0, unknown: 0 })
    expect([code, receipt.status]).toEqual(receipt.failure === undefined ? [0, 'finished'] : [5, 'interrupted'])
    isCut ||= code === 5
    if (kills >= KILLS) last = receipt
  }
  expect(isCut).toBe(true)
  expectStored(contents, known)
})

test.each([
  ['', []],
  [', though what is loaded is let go of', ['--spool-limit', '1mb']],
])(
  'a named run whose producer repeats itself after every kill has it loaded once, and to its end%s',
  async (_, limit) => {
    const random = seeded(29)
    lab.control.plant({ latencyMs: 60 })
    const content = lines(15_000, 0)
    for (let kills = 0; ;) {
      const running = start('--run-id', 'nightly', ...limit)
      const isDoomed = kills < KILLS
      produce(content, running, random, isDoomed)
      const wasKilled = isDoomed && (await killSoon(running, random))
      const { code, stdout, stderr } = await running.ended
      if (wasKilled) {
        kills += 1
        continue
      }
      // A producer that says only a part of it and is not killed waits for ever: all of it was said.
      expect({ code, stderr }).toMatchObject({ code: 0 })
      expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', rejected: 0, unsent: 0, unknown: 0 })
      const found = await tokens()
      expect(new Set(found.values()).size, 'one name, one token').toBe(1)
      const [[id] = ['']] = [...found]
      expectStored(new Map([[id, content]]), found)
      expect(await spooled()).toEqual(new Map())
      expect(kills).toBeGreaterThan(KILLS / 2)
      return
    }
  },
)
