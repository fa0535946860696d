// @module-tag search
/** Loads with --tune whose process is killed at any step: the next load, or `sluice untune`, restores the settings. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../../src/index.js'
import { type Faults, type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { eventually } from '../../support/eventually.js'
import { folder, sluice, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

const at = (method: string, path: string, after: number, done = true) => ({ stall: { method, path, after, done } })

const points: readonly (readonly [string, Faults, readonly string[]])[] = [
  ['when the settings are remembered', at('PUT', '/_mapping', 0), ['next', '--tune']],
  ['when the settings are changed', at('PUT', '/_settings', 0), ['next']],
  ['in the middle of the load', { hold: { after: 5, stored: true } }, ['same']],
  ['in the middle of the load', { hold: { after: 5, stored: true } }, ['next']],
  ['in the middle of the load', { hold: { after: 5, stored: true } }, ['next', '--tune']],
  ['in the middle of the load', { hold: { after: 5, stored: true } }, ['untune']],
  ['when the settings are restored', at('PUT', '/_settings', 1), ['same']],
  ['when that is noted', at('PUT', '/_mapping', 1), ['same']],
]

test.each(points)('killed %s, the settings come back: %s', async (_, fault, [then, ...more]) => {
  await using work = await folder()
  const index = newIndex('tune-kill')
  const surroundings = { cwd: work.path, env: { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state') } }
  await writeFile(join(work.path, 'all.ndjson'), Array.from({ length: 200 }, (__, n) => `{"n":${n}}\n`).join(''))
  await writeFile(join(work.path, 'next.ndjson'), '{"n":1}\n')
  const options = [
    '--index',
    index,
    '--batch-docs',
    '10',
    '--concurrency',
    '1',
    '--preflight-connections',
    '1',
    '--json',
  ]
  const { cluster } = lab.line
  await using way = await connect({
    target: { url: cluster.httpUrl, username: cluster.username, password: cluster.password, allowPlaintext: true },
    proxy: lab.line.proxy.http,
    preflightConnections: 1,
  })
  const settings = { refresh_interval: '9s', number_of_replicas: 2 }
  await way.client.indices.create({ index, settings, mappings: { _meta: { owner: 'shop' } } })
  const seen = async () => {
    const { [index]: one } = await way.client.indices.get({ index, flat_settings: true })
    const { settings: of, mappings } = one ?? {}
    return [of?.['index.refresh_interval'], of?.['index.number_of_replicas'], mappings?._meta]
  }

  lab.control.plant(fault)
  const killed = startSluice(['ingest', 'all.ndjson', ...options, '--tune'], surroundings)
  await eventually(() => expect(lab.control.struck('stall' in fault ? 'stall' : 'hold')).toBeGreaterThan(0))
  await kill(killed)
  lab.control.heal()

  const verb = {
    same: ['ingest', 'all.ndjson', ...options, '--tune'],
    next: ['ingest', 'next.ndjson', ...options, ...more],
    untune: ['untune', index, '--preflight-connections', '1'],
  }[then ?? '']
  const ended = await sluice(verb ?? [], surroundings)
  expect(ended.code).toBe(0)
  expect(await seen()).toEqual(['9s', '2', { owner: 'shop' }])
})
