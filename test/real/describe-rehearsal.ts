import { describe, expect, test } from 'vitest'
import { type Receipt, ingest } from '../../src/index.js'
import { failureOf, newIndex, loadThrough } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'

/** Keys with other privileges than the lab's have. */
export function describeRehearsalsOfKeys(world: () => RealWorld): void {
  describe('a rehearsal with a key that may not simulate documents', () => {
    /** Returns what was said about a number and a text in a field for numbers. */
    async function rehearse(...privileges: readonly string[]) {
      const index = newIndex('rehearsed')
      const properties = { total: { type: 'long' } }
      await world().ask('PUT', `/${index}`, { mappings: { properties } })
      const indices = [{ names: [privileges.length === 0 ? 'others' : index], privileges: ['read', ...privileges] }]
      const role_descriptors = { reader: { cluster: ['monitor'], indices } }
      const made = await world().ask('POST', '/_security/api_key?refresh=true', { name: 'reader', role_descriptors })
      const { encoded: apiKey } = JSON.parse(made.text) as { encoded: string }
      const { target, ...way } = loadThrough(world(), world().proxy.http)
      const lines = [{ total: 1 }, { total: 'none' }]
      const asked = { dryRun: true, againstIndex: true, preflightConnections: 1 } as const
      const run = ingest({ ...way, ...asked, target: { ...target, apiKey }, source: lines, index })
      const failed = await run.then(
        () => undefined,
        async () => await failureOf(run),
      )
      const { rehearsal } = (failed === undefined ? await run : failed.receipt) as Receipt
      expect(await world().count(index)).toBe(0)
      return { code: failed?.code, rehearsal }
    }

    test('compares the documents with the mapping, and says that the cluster was not asked', async () => {
      expect(await rehearse('view_index_metadata')).toMatchObject({
        code: 'REHEARSAL_REFUSED',
        rehearsal: {
          asked: 'mapping',
          shapes: 2,
          refused: 1,
          refusals: [{ field: 'total', kind: 'text', documents: 1 }],
          notes: [expect.stringContaining('may not simulate documents. This needs create_doc')],
        },
      })
    })

    test('says that nobody was asked, if the key may not read the mapping either', async () => {
      expect(await rehearse()).toEqual({
        code: undefined,
        rehearsal: {
          asked: 'nobody',
          shapes: 2,
          refused: 0,
          refusals: [],
          notes: [
            expect.stringContaining('may not read the mapping (view_index_metadata)'),
            expect.stringContaining('may not simulate documents. This needs create_doc'),
          ],
        },
      })
    })
  })
}
