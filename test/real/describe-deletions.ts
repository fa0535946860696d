import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, connect, ingest, isSluiceError } from '../../src/index.js'
import { type Lab, startLab } from '../../src/lab/index.js'
import { newIndex } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'
import { compareTable, tableOptions } from './table-world.js'

const ROWS = 1200

/** The lab's platform behind the real proxy: what is deleted there is deleted in the real cluster. */
export function describeDeletions(world: () => RealWorld): void {
  describe('rows that are deleted at the platform', () => {
    let lab: Lab
    let folder: string
    beforeAll(async () => {
      lab = await startLab()
      lab.control.servicenow.seed('incident', ROWS)
      folder = await mkdtemp(join(tmpdir(), 'deletions-'))
    })
    afterAll(async () => {
      await lab.close()
      await rm(folder, { recursive: true })
    })

    const none = { missing: 0, foreign: 0, altered: 0 }

    /** Every so manyth row. */
    function deleteRows(each: number): number {
      const { servicenow } = lab.control
      const gone = servicenow.rows('incident').filter((_, at) => at % each === 0)
      for (const { sys_id: id } of gone) servicenow.delete('incident', id)
      return gone.length
    }

    test('are deleted in the index, and nothing else', async () => {
      const { servicenow } = lab.control
      const index = newIndex('tables')
      const given: IngestOptions = {
        ...tableOptions(world(), lab, 'incident'),
        index,
        stateDir: folder,
        deletions: 'reconcile',
        preflightConnections: 1,
      }
      const rows = servicenow.count('incident')
      expect(await ingest(given)).toMatchObject({ created: rows, deletions: { deleted: 0 } })
      const first = deleteRows(20)
      servicenow.insert('incident', { short_description: 'new' })
      expect((await ingest(given)).deletions).toMatchObject({ deleted: first, compared: rows + 1 })
      expect(await compareTable(world(), index, servicenow.rows('incident'))).toEqual(none)

      const [restored] = servicenow.rows('incident')
      const second = deleteRows(50)
      if (restored !== undefined) servicenow.restore('incident', restored)
      // One that somebody else took out of the index is none of those that are missing at the platform.
      const there = servicenow.rows('incident')[0]?.sys_id ?? ''
      {
        await using way = await connect(given)
        await way.client.delete({ index, id: there })
      }
      expect((await ingest(given)).deletions).toMatchObject({ deleted: second - 1 })
      const left = await compareTable(world(), index, servicenow.rows('incident'))
      expect(left).toEqual({ ...none, missing: 1 })
    })

    test('are not deleted by credentials that may not, which is known before a row is read', async () => {
      const { leastPrivilegeApiKey: apiKey, url, caFile } = world().cluster
      const { servicenow } = lab.control
      servicenow.forgetRequests()
      const run = ingest({
        ...tableOptions(world(), lab, 'incident'),
        target: { url, apiKey, ca: readFileSync(caFile) },
        index: newIndex('least'),
        deletions: 'reconcile',
        preflightConnections: 1,
      })
      const code = await run.then(
        () => 'finished',
        (error: unknown) => (isSluiceError(error) ? error.code : String(error)),
      )
      expect(code).toBe('CLUSTER_PRIVILEGE_MISSING')
      expect(servicenow.requests().filter(({ path }) => path.endsWith('/incident')).length).toBeLessThan(3)
    })
  })
}
