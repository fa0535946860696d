import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Operation, ingest, replay } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Operations that change stored documents. */
export function describeOperations(world: () => World): void {
  const byId = () => ({ ...loadThrough(world(), world().proxy.http), ids: 'field', idField: 'id' }) as const
  const load = async (index: string, op: Operation, rows: readonly object[], more: object = {}) =>
    await ingest({ ...byId(), source: rows.values(), index, op, deadLetters: false, ...more })
  const stored = async (index: string) =>
    (await world().documents(index)).map(text => JSON.parse(text) as object).toSorted(byName)

  describe('operations', () => {
    let folder: string
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'operations-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    const three = [
      { id: 'a', n: 1, kept: true },
      { id: 'b', n: 2, kept: true },
      { id: 'c', n: 3, kept: true },
    ]

    test('update changes the given fields alone, and rejects a document that is not there', async () => {
      const index = newIndex()
      await load(index, 'index', three)
      const letters = join(folder, 'updates.ndjson')
      const rows = [
        { id: 'a', n: 10 },
        { id: 'b', n: 2 },
        { id: 'd', n: 4, new: true },
      ]
      const receipt = await load(index, 'update', rows, { deadLetters: letters })
      expect(receipt).toMatchObject({ read: 3, updated: 1, noop: 1, rejected: 1, created: 0, exit: 1 })
      expect(receipt.rejections).toMatchObject([{ status: 404, type: 'document_missing_exception', documents: 1 }])
      expect(await stored(index)).toEqual([{ id: 'a', n: 10, kept: true }, ...three.slice(1)])

      expect(JSON.parse(await readFile(letters, 'utf8'))).toMatchObject({
        operation: 'update',
        id: 'd',
        document: { id: 'd', n: 4, new: true },
      })
      await load(index, 'index', [{ id: 'd', old: true }])
      expect(await replay({ ...loadThrough(world(), world().proxy.http), source: letters })).toMatchObject({
        updated: 1,
        rejected: 0,
      })
      expect(await stored(index)).toContainEqual({ id: 'd', old: true, n: 4, new: true })
    })

    test('upsert changes the given fields, and stores what is new', async () => {
      const index = newIndex()
      await load(index, 'index', three)
      const rows = [
        { id: 'a', n: 10 },
        { id: 'b', n: 2 },
        { id: 'd', n: 4 },
      ]
      expect(await load(index, 'upsert', rows)).toMatchObject({
        read: 3,
        created: 1,
        updated: 1,
        noop: 1,
        rejected: 0,
        exit: 0,
      })
      expect(await stored(index)).toEqual([{ id: 'a', n: 10, kept: true }, ...three.slice(1), { id: 'd', n: 4 }])
    })

    test.each(['gzip', 'none'] as const)(
      'delete deletes by id, and counts what was not there, with compression %s',
      async compress => {
        const index = newIndex()
        await load(index, 'index', three)
        const rows = [{ id: 'a' }, { id: 'x' }, { id: 'c', whatever: 'else' }]
        expect(await load(index, 'delete', rows, { compress })).toMatchObject({
          read: 3,
          deleted: 2,
          notFound: 1,
          rejected: 0,
          exit: 0,
        })
        expect(await stored(index)).toEqual(three.slice(1, 2))
      },
    )

    test('a file of deletions is done once', async () => {
      const index = newIndex()
      await load(index, 'index', three)
      const source = join(folder, 'gone.ndjson')
      await writeFile(source, '{"id":"b"}\n{"id":"y"}\n')
      const again = { ...byId(), source, index, op: 'delete', stateDir: join(folder, 'state') } as const
      expect(await ingest(again)).toMatchObject({ deleted: 1, notFound: 1 })
      expect((await ingest(again)).thisProcess).toMatchObject({ read: 0, deleted: 0 })
      expect(await world().count(index)).toBe(2)
    })

    test('a routing value leads to the document', async () => {
      const index = newIndex()
      const routed = { routingField: 'r' }
      await load(index, 'upsert', [{ id: 'a', r: 'x', n: 1 }], routed)
      expect(await load(index, 'update', [{ id: 'a', r: 'x', n: 2 }], routed)).toMatchObject({ updated: 1 })
      expect(await load(index, 'delete', [{ id: 'a', r: 'x' }], routed)).toMatchObject({ deleted: 1 })
      expect(await world().count(index)).toBe(0)
    })
  })
}

function byName(one: object, other: object): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1
}
