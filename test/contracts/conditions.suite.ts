import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, ingest, replay } from '../../src/index.js'
import { lostAnswer, startLosing } from './losing-gate.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Changes of documents that have not changed since they were read. */
export function describeConditions(world: () => World): void {
  let folder: string
  let files = 0
  const load = async (index: string, rows: readonly string[], more: Partial<IngestOptions> = {}) => {
    files += 1
    const source = join(folder, `rows-${files}.ndjson`)
    await writeFile(source, rows.map(row => `${row}\n`).join(''))
    const by = { ids: 'field', idField: 'id', op: 'index', source, index, concurrency: 1 } as const
    return await ingest({ ...loadThrough(world(), world().proxy.http), ...by, ...more })
  }
  const read = { ifSeqNoField: '_seq_no', ifPrimaryTermField: '_primary_term' } as const

  /** An index of three documents, whose sequence numbers are 0, 1 and 2. */
  async function filled(): Promise<string> {
    const index = newIndex()
    await load(index, ['{"id":"a","n":1}', '{"id":"b","n":1}', '{"id":"c","n":1}'])
    return index
  }

  describe('conditions', () => {
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'conditions-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    test('a document that has changed since it was read is rejected, and metadata is not stored', async () => {
      const index = await filled()
      const letters = join(folder, 'conflicts.ndjson')
      const rows = [
        '{"_seq_no":0,"_primary_term":1,"id":"a","n":2}',
        '{"id":"b","n":2,"_seq_no":7,"_primary_term":1}',
        '{"id":"c","_seq_no":"2","n":2,"_primary_term":1}',
      ]
      const receipt = await load(index, rows, { ...read, deadLetters: letters })
      expect(receipt).toMatchObject({ read: 3, updated: 2, rejected: 1, unknown: 0, exit: 1 })
      const stored = await Promise.all(['a', 'b', 'c'].map(async id => (await world().source(index, id))?.trimEnd()))
      expect(stored).toEqual(['{"id":"a","n":2}', '{"id":"b","n":1}', '{"id":"c","n":2}'])
      const letter = JSON.parse(await readFile(letters, 'utf8')) as { reason: string }
      expect(letter).toMatchObject({
        status: 409,
        type: 'version_conflict_engine_exception',
        id: 'b',
        condition: { if_seq_no: 7, if_primary_term: 1 },
        origin: { line: 2, offset: rows[0]?.length === undefined ? 0 : rows[0].length + 1 },
        document: { id: 'b', n: 2 },
      })
      expect(letter.reason).toContain('required seqNo [7], primary term [1]')
      const replayed = await replay({ ...loadThrough(world(), world().proxy.http), source: letters })
      expect(replayed.rejections).toMatchObject([{ status: 409, documents: 1 }])
    })

    test('updates and deletions change only what nobody has changed', async () => {
      const index = await filled()
      const seen = (id: string, seq: number) => `{"id":"${id}","m":{"s":${seq},"t":1}}`
      const fields = { ifSeqNoField: 'm.s', ifPrimaryTermField: 'm.t' }
      const updated = await load(index, [seen('a', 0), seen('b', 0)], { ...fields, op: 'update' })
      expect(updated).toMatchObject({ updated: 1, rejected: 1 })
      const deleted = await load(index, [seen('b', 1), seen('c', 1)], { ...fields, op: 'delete' })
      expect(deleted).toMatchObject({ deleted: 1, rejected: 1 })
      expect(await world().source(index, 'a')).toContain('"s":0')
      expect(await world().source(index, 'b')).toBeUndefined()
      expect(await world().source(index, 'c')).toBe('{"id":"c","n":1}')
    })

    test('a row without a number is rejected with its line, and a replay takes the number from the repaired document', async () => {
      const index = await filled()
      const letters = join(folder, 'missing.ndjson')
      const receipt = await load(index, ['{"id":"a","_primary_term":1,"n":2}'], { ...read, deadLetters: letters })
      expect(receipt.rejections).toMatchObject([{ type: 'DOCUMENT_VERSION_INVALID', documents: 1 }])
      const repaired = (await readFile(letters, 'utf8')).replace('"_primary_term":1', '"_primary_term":1,"_seq_no":0')
      await writeFile(letters, repaired)
      const replayed = await replay({ ...loadThrough(world(), world().proxy.http), source: letters })
      expect(replayed).toMatchObject({ updated: 1, rejected: 0 })
      expect((await world().source(index, 'a'))?.trimEnd()).toBe('{"id":"a","n":2}')
    })

    test.each(['index', 'update', 'delete'] as const)(
      '%s: after a lost answer a conflict is unknown, because the change may be its own',
      async op => {
        const index = await filled()
        await using losing = await startLosing(world(), [lostAnswer])
        const rows = ['{"id":"a","_seq_no":0,"_primary_term":1,"n":2}']
        const receipt = await load(index, rows, { ...losing.way, ...read, op })
        expect(receipt).toMatchObject({ read: 1, unknown: 1, rejected: 0, updated: 0, deleted: 0, exit: 1 })
        const source = await world().source(index, 'a')
        expect(source?.includes('"n":2')).toBe(op === 'delete' ? undefined : true)
      },
    )
  })
}
