/** Tables of ServiceNow. Each row is a document, and a reading continues at a place. */
import { fail } from '../../../src/base/failure/failure.js'
import { tableSource } from '../../../src/features/tables/reading/table-source.js'
import { FakeInstance, idOf } from '../../support/servers/fake-instance.js'
import type { Row, SourceKind, SourceWorld } from './source-world.js'

const PAGE_ROWS = 50

export const tables: SourceKind = {
  title: 'tables of ServiceNow',
  many: 400,
  again: 'place',
  closesAtOnce: true,
  lacks: {
    offerMatched: 'tables are named one by one',
    offerBytes: 'its rows are documents',
    missing: 'the instance is asked when the load connects',
    replaced: 'rows change, and their last version counts',
    shortened: 'rows may be deleted while it is read',
    stalled: 'its instance waits, and not the table',
  },
  open: async () => {
    const begin = (id: number, table: string, rows: readonly Row[]) => {
      const instance = new FakeInstance()
      const { now } = instance
      instance.now -= 24 * 3_600_000
      for (const { n, fill } of rows) instance.insert(idOf(n), { n: String(n), fill })
      instance.now = now
      return { instance, source: tableSource(instance, { id, table, pageSize: PAGE_ROWS }) }
    }
    const world: SourceWorld = {
      secrets: [],
      // All tables of a load are those of one instance.
      named: 'https://instance.example',
      offer: async inputs =>
        await Promise.resolve(
          Object.entries(inputs).map(([name, rows], id) => begin(id, name.replaceAll(/\W/g, '_'), rows).source),
        ),
      failing: async rows => {
        const { instance, source } = begin(0, 'incident', rows)
        const strike = () => {
          instance.before = () => {
            throw fail('SERVICENOW_UNREACHABLE', { instance: instance.display, observed: 'status 503' })
          }
        }
        return await Promise.resolve({ source, strike })
      },
      closed: async () => await Promise.resolve(),
      [Symbol.asyncDispose]: async () => await Promise.resolve(),
    }
    return await Promise.resolve(world)
  },
}
