// @module-tag search
/** Loads that are killed at random instants while they delete what was deleted: nothing else goes, and in the end all of that has gone. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

// Each test starts some twenty processes.
const ROWS = 1500
const TURNS = 9
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
  const options = ['--index', index, '--deletions', 'reconcile', '--page-size', '200', '--concurrency', '3', '--json']
  const state = ['--state-dir', join(work.path, 'state'), '--preflight-connections', '1']
  return startSluice(['ingest', 'servicenow:incident', ...options, ...state], { cwd: work.path, env: lab.env })
}

/** Ends by itself, or is killed once it is time; the receipt of one that ended. */
async function runOrKill(isTime: () => boolean = () => false): Promise<Receipt | undefined> {
  lab.control.servicenow.forgetRequests()
  const ended = await killWhen(start(), isTime)
  if (ended === undefined) return undefined
  expect(ended.code, ended.stderr).toBe(0)
  return JSON.parse(ended.stdout) as Receipt
}

/** An instant of a run: after so many requests to the platform, or when its deletions are sent, carried out already or not. */
function instant(kind: number, random: Seeded): () => boolean {
  const { control } = lab
  if (kind === 0) {
    const requests = 1 + random.below(20)
    return () => control.servicenow.requests().length >= requests
  }
  // The first bulk request is that of the row that is new.
  control.plant({ hold: { after: 1, stored: kind === 1 } })
  return () => control.struck('hold') > 0
}

const ids = () => lab.control.servicenow.rows('incident').map(({ sys_id: id }) => id)
const isStored = (id: string) => lab.control.source(index, id) !== undefined

function deleteRows(random: Seeded, count: number): void {
  const all = ids()
  for (let at = 0; at < count; at += 1) {
    const [id = ''] = all.splice(random.below(all.length), 1)
    lab.control.servicenow.delete('incident', id)
  }
}

test('the next run continues a run that is killed while it deletes', async () => {
  const random = seeded(9)
  const { servicenow } = lab.control
  servicenow.seed('incident', ROWS)
  expect(await runOrKill()).toMatchObject({ created: ROWS, deletions: { deleted: 0 } })
  let killed = 0
  for (let turn = 0; turn < TURNS; turn += 1) {
    deleteRows(random, 40)
    servicenow.insert('incident', { short_description: 'new' })
    servicenow.plant({ slow: { api: 'table', delayMs: 5 } })
    const receipt = await runOrKill(instant(turn % 3, random))
    servicenow.heal()
    lab.control.heal()
    if (receipt === undefined) killed += 1
    // Those that are new may not have been read.
    expect(ids().filter(id => !isStored(id)).length).toBeLessThanOrEqual(turn + 1)
  }
  expect(killed).toBeGreaterThan(TURNS / 2)
  expect(await runOrKill()).toMatchObject({ status: 'finished' })
  expect(ids().filter(id => !isStored(id))).toEqual([])
  expect(lab.control.count(index)).toBe(ROWS + TURNS * (1 - 40))
})
