// @module-tag long
/** Guarded loads whose process is killed between any two steps: the alias leads to the index before, or to the whole new one. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.js'
import { rounds } from '../../support/rounds.js'
import { type Faults, type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { folder, sluice, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'
import { newIndex } from '../../contracts/options.js'
import { behind, indicesOf } from '../../support/lab/guarded-world.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

type Stall = NonNullable<Faults['stall']>

const points: readonly (readonly [string, Faults, 'old' | 'new'])[] = [
  ['before the index is made', { stall: at('PUT', '', 0, false) }, 'old'],
  ['when the index is made', { stall: at('PUT', '', 0) }, 'old'],
  ['when the settings are remembered', { stall: at('PUT', '/_mapping', 0) }, 'old'],
  ['when the settings are changed', { stall: at('PUT', '/_settings', 0) }, 'old'],
  ['in the middle of the load', { hold: { after: 5, stored: true } }, 'old'],
  ['when all is loaded', { stall: at('POST', '/_refresh', 0) }, 'old'],
  ['when the settings are restored', { stall: at('PUT', '/_settings', 1) }, 'old'],
  ['when that is noted', { stall: at('PUT', '/_mapping', 1) }, 'old'],
  ['when it is checked', { stall: at('POST', '/_count', 0) }, 'old'],
  ['before the alias is switched', { stall: at('POST', '/_aliases', 0, false) }, 'old'],
  ['when the alias is switched', { stall: at('POST', '/_aliases', 0) }, 'new'],
]

function at(method: string, path: string, after: number, done = true): Stall {
  return { method, path, after, done }
}

// In the ordinary run every other one: the alias leads to the old index before its switch, and to the new one after it.
const chosen = points.filter((_, point) => point % rounds(2, 1) === 0)

test.each(chosen)('killed %s, the same command makes it whole', async (_, fault, leadsTo) => {
  await using work = await folder()
  const alias = newIndex('killed')
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state') } }
  const text = (count: number) => Array.from({ length: count }, (__, n) => `{"n":${n}}\n`).join('')
  await writeFile(join(work.path, 'old.ndjson'), text(3))
  await writeFile(join(work.path, 'new.ndjson'), text(200))
  const load = (name: string, ...more: string[]) => {
    const options = ['--swap-alias', alias, '--batch-docs', '10', '--concurrency', '1', '--preflight-connections', '1']
    return ['ingest', name, ...options, '--json', ...more]
  }
  const body = '{"settings":{"refresh_interval":"9s","number_of_replicas":2}}'
  expect((await sluice(load('old.ndjson', '--index-body', body), surroundings)).code).toBe(0)
  const old = await behind(lab, alias)

  lab.control.plant(fault)
  const killed = startSluice(load('new.ndjson'), surroundings)
  const name = fault.stall === undefined ? 'hold' : 'stall'
  await eventually(() => expect(lab.control.struck(name)).toBeGreaterThan(0))
  await kill(killed)
  lab.control.heal()
  const now = await behind(lab, alias)
  const fresh = (await indicesOf(lab, `${alias}-*`)).filter(index => index.name !== old)
  expect(now).toBe(leadsTo === 'old' ? old : fresh[0]?.name)
  if (leadsTo === 'new') expect(lab.control.count(alias)).toBe(200)

  const { code, stdout, stderr } = await sluice(load('new.ndjson'), surroundings)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const receipt = JSON.parse(stdout) as Receipt
  const to = receipt.alias?.to
  expect(receipt).toMatchObject({ read: 200, status: 'finished', alias: { name: alias, from: old, switched: true } })
  expect(receipt.created + receipt.duplicate).toBe(200)
  expect(await behind(lab, alias)).toBe(to)
  const mark = { run: receipt.run, alias, previous: old }
  const kept = await indicesOf(lab, `${alias}-*`)
  expect(kept).toHaveLength(2)
  expect(kept.find(index => index.name === to)).toEqual({ name: to, refreshInterval: '9s', replicas: '2', mark })
  expect([lab.control.count(old ?? ''), lab.control.count(to ?? '')]).toEqual([3, 200])
})
