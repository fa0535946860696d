import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, ingest, replay } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Ids of several fields and of nested ones, and their hashes. */
export function describeFieldIds(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 }) as const
  const byOrder = { ids: 'field', idField: 'branch,order.no' } as const
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

  describe('ids of several fields', () => {
    let folder: string
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'field-ids-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    const file = async (name: string, text: string) => {
      const path = join(folder, name)
      await writeFile(path, text)
      return path
    }
    const load = async (source: IngestOptions['source'], index: string, more: Partial<IngestOptions>) =>
      await ingest({ ...base(), source, index, ...more })
    const sources = async (index: string, ids: readonly string[]) =>
      await Promise.all(ids.map(async id => await world().source(index, id)))

    const orders = [
      '{"branch":"a|b","order":{"no":"c"},"n":1}',
      '{"branch":"DE","order":{"no":9007199254740993123,"lines":[{"no":1}]},"n":2}',
      '{"n":3,"branch":"a","order.no":"b|c"}',
      '{"branch":"é\\\\","order":{"at":"x","no":-1.50},"n":4}',
    ]
    const ids = ['a\\|b|c', 'DE|9007199254740993123', 'a|b\\|c', 'é\\\\|-1.50']

    test('are alike for lines, arrays and rows, and a repeated load replaces each document', async () => {
      const index = newIndex()
      const lines = await file('orders.ndjson', `${orders.join('\n')}\n`)
      expect(await load(lines, index, { ...byOrder, op: 'index' })).toMatchObject({ created: 4, rejected: 0 })
      expect(await sources(index, ids)).toEqual(orders)

      const array = await file('orders.json', `[${orders.join(',\n')}]`)
      expect(await load(array, index, { ...byOrder, op: 'index' })).toMatchObject({ updated: 4, created: 0 })
      const rows = 'c;a|b;1\n9007199254740993123;DE;2\nb|c;a;3\n-1.50;é\\;4\n'
      const csv = await file('orders.csv', `order.no;branch;n\n${rows}`)
      expect(await load(csv, index, { ...byOrder, op: 'index' })).toMatchObject({ updated: 4, created: 0 })
      expect(await world().count(index)).toBe(4)
    })

    test('may have another separator, and may be hashed', async () => {
      const [index, hashed] = [newIndex(), newIndex()]
      await load(await file('dashes.ndjson', `${orders.join('\n')}\n`), index, { ...byOrder, idSeparator: '-' })
      const dashed = ['a|b-c', 'DE-9007199254740993123', 'a-b|c', 'é\\\\-\\-1.50']
      expect(await sources(index, dashed)).toEqual(orders)

      const more = { ...byOrder, ids: 'hash', op: 'index' } as const
      const long = `{"branch":"${'x'.repeat(800)}","order":{"no":"${'y'.repeat(800)}"}}`
      const lines = await file('hashed.ndjson', `${[...orders, long].join('\n')}\n`)
      expect(await load(lines, hashed, more)).toMatchObject({ created: 5, rejected: 0 })
      const text = `${'x'.repeat(800)}|${'y'.repeat(800)}`
      expect(await sources(hashed, [...ids, text].map(sha256))).toEqual([...orders, long])
      expect(await load(await file('again.json', `[${orders.join(',')}]`), hashed, more)).toMatchObject({ updated: 4 })
    })

    test('lead updates, upserts and deletions to their documents, with a nested routing value', async () => {
      const index = newIndex()
      const routed = { routingField: 'customer.region', deadLetters: false } as const
      const row = (no: number, more: object) => ({
        branch: 'DE',
        order: { no },
        customer: { region: 'north' },
        ...more,
      })
      const change = async (op: IngestOptions['op'], rows: readonly object[], ids: 'field' | 'hash') =>
        await load(rows.values(), index, { ...byOrder, ...routed, ids, op })
      for (const kind of ['field', 'hash'] as const) {
        expect(await change('upsert', [row(1, { n: 1 }), row(2, { n: 1 })], kind)).toMatchObject({ created: 2 })
        expect(await change('upsert', [row(1, { n: 1 })], kind)).toMatchObject({ noop: 1 })
        expect(await change('update', [row(2, { n: 2 })], kind)).toMatchObject({ updated: 1 })
        expect(await change('delete', [row(1, {}), row(2, {}), row(3, {})], kind)).toMatchObject({
          deleted: 2,
          notFound: 1,
        })
        expect(await world().count(index)).toBe(0)
      }
    })

    test.each(['field', 'hash'] as const)(
      'a document without one of the fields is rejected with its line, and is loaded once it is repaired (%s)',
      async from => {
        const index = newIndex()
        const letters = join(folder, `letters-${from}.ndjson`)
        const broken = ['{"branch":"DE"}', '{"branch":"DE","order":{"no":null}}', '{"branch":"DE","order":[{"no":1}]}']
        const lines = [orders[0], ...broken, '{"branch":{"a":1},"order":{"no":2}}', orders[1]]
        const path = await file(`broken-${from}.ndjson`, `${lines.join('\n')}\n`)
        const more = { ids: from, idField: 'order.no,branch', idSeparator: '/', deadLetters: letters } as const
        expect(await load(path, index, more)).toMatchObject({ read: 6, created: 2, rejected: 4 })
        const records = (await readFile(letters, 'utf8')).trimEnd().split('\n')
        const seen = records.map(text => JSON.parse(text) as { origin: { line: number }; reason: string; type: string })
        expect(seen.map(({ origin, type, reason }) => [origin.line, type, reason])).toEqual([
          [2, 'DOCUMENT_ID_INVALID', 'the field order.no is missing'],
          [3, 'DOCUMENT_ID_INVALID', 'the field order.no is neither a string nor a number'],
          [4, 'DOCUMENT_ID_INVALID', 'the field order.no is missing'],
          [5, 'DOCUMENT_ID_INVALID', 'the field branch is neither a string nor a number'],
        ])

        const [first = ''] = records
        await writeFile(letters, `${first.replace('{"branch":"DE"}', '{"branch":"D/E","order":{"no":7}}')}\n`)
        expect(await replay({ ...base(), source: letters })).toMatchObject({ created: 1, rejected: 0 })
        const id = from === 'hash' ? sha256('7/D\\/E') : '7/D\\/E'
        expect(await world().source(index, id)).toBe('{"branch":"D/E","order":{"no":7}}')
      },
    )
  })
}
