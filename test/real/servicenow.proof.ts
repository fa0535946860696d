import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../src/lab/index.js'
import { killLoads } from '../contracts/table-kills.js'
import { seeded } from '../support/random/seeded.js'
import { describeOnRealServers } from './on-real-servers.js'
import { environmentOf } from './real-load.js'
import { compareTable, platformUrl } from './table-world.js'

const ROWS = Number(process.env.ROWS ?? 250_000)
const KILLS = Number(process.env.KILLS ?? 20)
const CHANGES = Number(process.env.CHANGES ?? 5000)
const SEED = Number(process.env.SEED ?? 1)

let lab: Lab
let folder: string
beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', ROWS)
  folder = mkdtempSync(join(tmpdir(), 'sluice-tables-'))
})
afterAll(async () => {
  await lab.close()
  rmSync(folder, { recursive: true })
})

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  test(`${ROWS} rows through Squid into Elasticsearch, killed ${KILLS} times while ${CHANGES} of them change, end as they are`, async () => {
    const env = {
      ...lab.env,
      SERVICENOW_INSTANCE_URL: platformUrl(lab),
      IP_CHECK_URL: world().ipCheckUrl,
      ...environmentOf(world()),
    }
    lab.control.forgetConnections()
    await world().forget()
    const args = ['ingest', 'servicenow:incident', '--index', 'incidents', '--state-dir', folder, '--json', '--quiet']
    const random = seeded(SEED)
    const killed = await killLoads({ lab, random, kills: KILLS, changes: CHANGES, args, cwd: folder, env })
    const { kills, changes, receipts, peak } = killed

    const platform = lab.control.connections().filter(({ at }) => at === 'servicenow')
    const before = await world().connections()
    console.log(
      [
        `${kills} kills, ${changes} changes, ${receipts.length} runs finished, of them read ${receipts.map(({ read }) => read).join(', ')}`,
        `at most ${(peak / 1e6).toFixed(0)} MB; ${platform.length} connections to the platform, ${before.length} to the cluster`,
      ].join('; '),
    )
    expect(new Set(platform.map(({ from }) => from))).toEqual(new Set(world().staticIps))
    expect(new Set(before.map(({ from }) => from))).toEqual(new Set(world().staticIps))
    expect({ kills, changes }).toEqual({ kills: KILLS, changes: CHANGES })
    for (const { read, created, updated, rejected, unsent, unknown } of receipts)
      expect({ read, rejected, unsent, unknown }).toEqual({
        read: created + updated,
        rejected: 0,
        unsent: 0,
        unknown: 0,
      })
    const rows = lab.control.servicenow.rows('incident')
    expect(await world().count('incidents')).toBe(rows.length)
    expect(await compareTable(world(), 'incidents', rows)).toEqual({ missing: 0, foreign: 0, altered: 0 })
  })
})
