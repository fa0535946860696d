// @module-tag search
/** Loads of a table that are killed at random instants while others change its rows, and what the next process makes of it. */
import { knownRuns } from '../../../src/run/state/runs/runs.js'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Checkpoint } from '../../../src/run/state/checkpoint/checkpoint.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

// It starts some thirty processes.
const ROWS = 3000
const KILLS = rounds(2, 20)
const index = 'killed'

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

function start() {
  const options = ['--index', index, '--page-size', '100', '--batch-docs', '60', '--concurrency', '3', '--json']
  const state = ['--state-dir', join(work.path, 'state'), '--preflight-connections', '1']
  return startSluice(['ingest', 'servicenow:incident', ...options, ...state], { cwd: work.path, env: lab.env })
}

async function checkpoint(): Promise<Checkpoint | undefined> {
  return (await knownRuns(join(work.path, 'state'))).known[0]?.checkpoint
}

/** Ends by itself, or is killed once so many requests reached the platform; the receipt of one that ended. */
async function runOrKill(random: Seeded | undefined): Promise<Receipt | undefined> {
  const running = start()
  const { servicenow } = lab.control
  servicenow.forgetRequests()
  const pages = random === undefined ? Infinity : random.below(60)
  const ended = await killWhen(running, () => servicenow.requests().length >= pages)
  if (ended === undefined) return undefined
  expect(ended.code, ended.stderr).toBe(0)
  return JSON.parse(ended.stdout) as Receipt
}

/** Somebody else's changes: old rows, and new ones. */
function change(random: Seeded, times: number): void {
  const { servicenow } = lab.control
  const rows = servicenow.rows('incident')
  for (let at = 0; at < times; at += 1) {
    const row = rows[random.below(rows.length)]
    servicenow.update('incident', row?.['sys_id'] ?? '', { short_description: `changed ${random.below(1e9)}` })
  }
  servicenow.insert('incident', { short_description: `new ${random.below(1e9)}` })
}

function expectCurrent(): void {
  const rows = lab.control.servicenow.rows('incident')
  const stored = (id: string) => {
    const source = lab.control.source(index, id)?.toString()
    return source === undefined ? undefined : (JSON.parse(source) as Record<string, string>)
  }
  const wrong = rows.filter(row => {
    const found = stored(row['sys_id'] ?? '')
    return found?.['sys_mod_count'] !== row['sys_mod_count'] || found.short_description !== row['short_description']
  })
  expect(wrong).toEqual([])
  expect(lab.control.count(index)).toBe(rows.length)
}

test('a load that is killed again and again, between runs and within them, ends with the table as it is', async () => {
  const random = seeded(5)
  lab.control.servicenow.seed('incident', ROWS)
  lab.control.servicenow.plant({ slow: { api: 'table', delayMs: 40 } })
  let kills = 0
  let resumed = 0
  const finished = new Set<string>()
  while (kills < KILLS) {
    const receipt = await runOrKill(random)
    if (receipt === undefined) kills += 1
    else {
      expect(receipt).toMatchObject({ status: 'finished', rejected: 0, unsent: 0, unknown: 0 })
      expect(receipt.created + receipt.updated).toBe(receipt.read)
      finished.add(receipt.run)
    }
    if ((await checkpoint())?.inputs.at(0)?.place !== undefined) resumed += 1
    change(random, 20)
  }
  // What is left of the run that was killed, then what changed since.
  const last = [await runOrKill(undefined), await runOrKill(undefined)]
  expect(last).toMatchObject([{ status: 'finished' }, { status: 'finished' }])
  expect(resumed).toBeGreaterThan(0)
  expectCurrent()
  expect(finished.size).toBeGreaterThan(0)
  // Nothing changes any more, so nothing is read.
  expect(await runOrKill(undefined)).toMatchObject({ read: 0 })
})
