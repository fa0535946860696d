/** A large table into the lab's cluster: at flat memory, and killed while its rows change. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'
import { killLoads, residentBytes } from '../../contracts/table-kills.js'
import { seeded } from '../../support/random/seeded.js'

const ROWS = Number(process.env.ROWS ?? 250_000)
const KILLS = Number(process.env.KILLS ?? 25)
const CHANGES = Number(process.env.CHANGES ?? 5000)
const SEED = Number(process.env.SEED ?? 1)
/** Between the second fifth of the rows and the last: in the first one the number of requests at once is still being found. */
const SPREAD_BYTES = 40e6

let lab: Lab
let work: Folder
beforeEach(async () => {
  lab = await startLab()
  work = await folder()
  lab.control.servicenow.seed('incident', ROWS)
})
afterEach(async () => {
  await lab.close()
  await work[Symbol.asyncDispose]()
})

const args = () => [
  'ingest',
  'servicenow:incident',
  '--index',
  'incidents',
  '--state-dir',
  join(work.path, 'state'),
  '--json',
  '--quiet',
]

function expectCurrent(): void {
  const rows = lab.control.servicenow.rows('incident')
  const isWrong = (row: Readonly<Record<string, string>>) => {
    const source = lab.control.source('incidents', row['sys_id'] ?? '')?.toString()
    const stored = JSON.parse(source ?? '{}') as Record<string, string>
    return Object.entries(row).some(([field, value]) => stored[field] !== value)
  }
  expect(rows.filter(isWrong)).toEqual([])
  expect(lab.control.count('incidents')).toBe(rows.length)
}

test(`${ROWS} rows take as much memory as the second fifth of them`, async () => {
  const running = startSluice(args(), { cwd: work.path, env: lab.env })
  const fifths = [0, 0, 0, 0, 0]
  const life = { isOver: false }
  void running.ended.finally(() => (life.isOver = true))
  while (!life.isOver) {
    const fifth = Math.min(4, Math.floor((lab.control.count('incidents') / ROWS) * 5))
    fifths[fifth] = Math.max(fifths[fifth] ?? 0, residentBytes(running.child.pid))
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  const { code, stdout, stderr } = await running.ended
  expect(code, stderr).toBe(0)
  const receipt = JSON.parse(stdout) as Receipt
  expect(receipt).toMatchObject({ status: 'finished', read: ROWS, created: ROWS, rejected: 0, unknown: 0 })
  const [, second = 0, , , last = 0] = fifths
  console.log(
    `${ROWS} rows, ${receipt.docsPerSecond} documents/s, resident: ${fifths.map(bytes => `${(bytes / 1e6).toFixed(0)} MB`).join(', ')}`,
  )
  expectCurrent()
  expect(last - second).toBeLessThan(SPREAD_BYTES)
})

test(`${ROWS} rows, killed ${KILLS} times while ${CHANGES} of them change, end as they are`, async () => {
  const random = seeded(SEED)
  const options = { lab, random, kills: KILLS, changes: CHANGES, args: args(), cwd: work.path, env: lab.env }
  const { kills, changes, receipts, peak } = await killLoads(options)
  console.log(
    `${kills} kills, ${changes} changes, ${receipts.length} runs finished, of them read ${receipts.map(({ read }) => read).join(', ')}; at most ${(peak / 1e6).toFixed(0)} MB`,
  )
  expect({ kills, changes }).toEqual({ kills: KILLS, changes: CHANGES })
  for (const { read, created, updated, rejected, unsent, unknown } of receipts)
    expect({ read, rejected, unsent, unknown }).toEqual({ read: created + updated, rejected: 0, unsent: 0, unknown: 0 })
  expectCurrent()
})
