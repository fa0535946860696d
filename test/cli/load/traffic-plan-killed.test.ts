// @module-tag long
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/index.js'
import { eventually } from '../../support/eventually.js'
import { folder, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const text = (n: number) => createHash('sha512').update(String(n)).digest('base64').repeat(10)
const lines = (from: number) =>
  Array.from({ length: 500 }, (_, n) => `{"n":${from + n},"text":"${text(from + n)}"}\n`).join('')

async function counted(state: string): Promise<number> {
  const [account = ''] = await readdir(join(state, 'plan'))
  const [month = ''] = await readdir(join(state, 'plan', account))
  const written = (await readFile(join(state, 'plan', account, month), 'utf8')).split('\n').filter(line => line !== '')
  return written.reduce((sum, line) => sum + (JSON.parse(line) as { readonly bytes: number }).bytes, 0)
}

test('several processes at once count each byte once, and one that is killed loses little', async () => {
  await using work = await folder()
  const state = join(work.path, 'state')
  const env = { ...lab.env, SLUICE_STATE_DIR: state, SLUICE_PLAN: '10mb/month', SLUICE_COMPRESS: 'none' }
  const names = ['a', 'b', 'c', 'd']
  for (const [at, name] of names.entries()) await writeFile(join(work.path, `${name}.ndjson`), lines(at * 500))
  const load = (name: string, ...more: string[]) =>
    startSluice(['ingest', `${name}.ndjson`, '--index', `killed-${name}`, '--json', ...more], { cwd: work.path, env })
  const ended = await Promise.all(names.slice(0, 3).map(async name => await load(name).ended))
  const receipts = ended.map(({ stdout }) => JSON.parse(stdout) as Receipt)
  const wire = receipts.reduce((sum, { bytes }) => sum + bytes.sent + bytes.received, 0)
  const before = await counted(state)
  expect(before).toBeGreaterThanOrEqual(wire)
  expect(before).toBeLessThan(wire * 1.05)
  expect(Math.max(...receipts.map(({ plan }) => plan?.used ?? 0))).toBeLessThanOrEqual(before)

  // A request that is never answered keeps the process at its work.
  lab.control.plant({ hold: { after: 5 } })
  const killed = load('d', '--batch-docs', '20')
  await eventually(async () => expect(await counted(state)).toBeGreaterThan(before + 50_000))
  await kill(killed)
  lab.control.heal()
  const after = await counted(state)
  const resumed = JSON.parse((await load('d').ended).stdout) as Receipt
  expect(resumed.created + resumed.duplicate).toBe(500)
  expect(await counted(state)).toBeGreaterThanOrEqual(after + resumed.bytes.sent + resumed.bytes.received)
})
