import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingest } from '../../src/index.js'
import { type Lab, startLab } from '../../src/lab/index.js'
import { newIndex } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'
import { compareTable, tableOptions } from './table-world.js'

const ROWS = 3000

/** The lab's platform behind the real proxy: what it holds ends in the real cluster. */
export function describeTables(world: () => RealWorld): void {
  describe('a table of the platform', () => {
    let lab: Lab
    let folder: string
    beforeAll(async () => {
      lab = await startLab()
      lab.control.servicenow.seed('incident', ROWS)
      folder = await mkdtemp(join(tmpdir(), 'tables-'))
    })
    afterAll(async () => {
      await lab.close()
      await rm(folder, { recursive: true })
    })

    test('is loaded whole, then what changed; both ends see the static addresses alone', async () => {
      const { servicenow } = lab.control
      const index = newIndex('tables')
      const options = { ...tableOptions(world(), lab, 'incident'), index, stateDir: folder, table: { pageSize: 200 } }
      lab.control.forgetConnections()
      await world().forget()

      expect(await ingest(options)).toMatchObject({ status: 'finished', read: ROWS, created: ROWS, rejected: 0 })
      expect(await world().count(index)).toBe(ROWS)
      const changed = servicenow.rows('incident').slice(100, 140)
      for (const row of changed) servicenow.update('incident', row['sys_id'] ?? '', { short_description: 'changed' })
      servicenow.insert('incident', { short_description: 'new' })
      expect(await ingest(options)).toMatchObject({ status: 'finished', read: 41, created: 1, updated: 40 })
      expect(await ingest(options)).toMatchObject({ read: 0 })

      const none = { missing: 0, foreign: 0, altered: 0 }
      const platform = lab.control.connections().filter(({ at }) => at === 'servicenow')
      const cluster = await world().connections()
      expect(new Set(platform.map(({ from }) => from))).toEqual(new Set(world().staticIps))
      expect(new Set(cluster.map(({ from }) => from))).toEqual(new Set(world().staticIps))
      expect(await compareTable(world(), index, servicenow.rows('incident'))).toEqual(none)
    })
  })
}
