import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, ingest, replay } from '../../src/index.js'
import { lostAnswer, startLosing } from './losing-gate.js'
import { failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** The lab knows these few. */
const COUNT = 'ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by'
const ONCE = `
if (ctx._source.last != null && ctx._source.last >= params.no) {
  ctx.op = 'none'
} else {
  ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by;
  ctx._source.last = params.no
}`
const DELETE = "ctx.op = 'delete'"
const THROW = "throw new IllegalArgumentException('no ' + params.id)"

/** Scripts that change stored documents, with parameters from each line. */
export function describeScripts(world: () => World): void {
  let folder: string
  let files = 0
  const load = async (index: string, rows: readonly object[], script: string, more: Partial<IngestOptions> = {}) => {
    files += 1
    const source = join(folder, `rows-${files}.ndjson`)
    await writeFile(source, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    const by = { ids: 'field', idField: 'id', op: 'upsert', source, index, script } as const
    return await ingest({ ...loadThrough(world(), world().proxy.http), ...by, ...more })
  }
  const stored = async (index: string, id: string) => {
    const text = await world().source(index, id)
    return text === undefined ? undefined : (JSON.parse(text) as object)
  }

  describe('scripts', () => {
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'scripts-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    test('an upsert runs the script for stored and for new documents, an update only for stored ones', async () => {
      const index = newIndex()
      const rows = [{ id: 'a', by: 2 }, { id: 'a', by: 3 }, { id: 'b', by: 4 }] // prettier-ignore
      expect(await load(index, rows, COUNT)).toMatchObject({ read: 3, created: 2, updated: 1, rejected: 0, exit: 0 })
      expect(await stored(index, 'a')).toEqual({ n: 5 })
      const more = [{ id: 'b', by: 1 }, { id: 'x', by: 1 }] // prettier-ignore
      const receipt = await load(index, more, COUNT, { op: 'update' })
      expect(receipt).toMatchObject({ updated: 1, rejected: 1 })
      expect(receipt.rejections).toMatchObject([{ status: 404, type: 'document_missing_exception' }])
      expect(await stored(index, 'b')).toEqual({ n: 5 })
    })

    test('a script may leave a document as it is, and delete it', async () => {
      const index = newIndex()
      const rows = [{ id: 'a', by: 2, no: 1 }, { id: 'a', by: 2, no: 1 }] // prettier-ignore
      expect(await load(index, rows, ONCE)).toMatchObject({ created: 1, noop: 1 })
      expect(await stored(index, 'a')).toEqual({ n: 2, last: 1 })
      expect(await load(index, [{ id: 'a' }], DELETE, { op: 'update' })).toMatchObject({ deleted: 1, updated: 0 })
      expect(await stored(index, 'a')).toBeUndefined()
    })

    test('an error of the script rejects its line, with what the script said, and a replay runs the same script', async () => {
      const index = newIndex()
      await load(index, [{ id: 'a', by: 1 }, { id: 'b', by: 1 }], COUNT) // prettier-ignore
      const letters = join(folder, 'thrown.ndjson')
      const receipt = await load(index, [{ id: 'a' }, { id: 'b' }], THROW, { op: 'update', deadLetters: letters }) // prettier-ignore
      expect(receipt).toMatchObject({ read: 2, rejected: 2, exit: 1 })
      const records = (await readFile(letters, 'utf8')).trimEnd().split('\n')
      expect(records.map(record => JSON.parse(record) as object)).toMatchObject([
        {
          operation: 'update',
          id: 'a',
          origin: { line: 1 },
          reason: 'failed to execute script: runtime error: no a',
          script: { source: THROW },
          document: { id: 'a' },
        },
        { id: 'b', origin: { line: 2 }, reason: 'failed to execute script: runtime error: no b' },
      ])
      const way = loadThrough(world(), world().proxy.http)
      const again = await replay({ ...way, source: letters })
      expect(again.rejections).toMatchObject([{ status: 400, documents: 2 }])
      // A user who repairs the letters may also correct the script in them.
      const [first = '', second = ''] = records
      const corrected = [first.replace(JSON.stringify(THROW), JSON.stringify(COUNT)).replace('{"id":"a"}', '{"by":7}'), second.replace(JSON.stringify(THROW), JSON.stringify(DELETE))] // prettier-ignore
      await writeFile(letters, `${corrected.join('\n')}\n`)
      expect(await replay({ ...way, source: letters })).toMatchObject({ updated: 1, deleted: 1, rejected: 0 })
      expect(await stored(index, 'a')).toEqual({ n: 8 })
    })

    test('a script that the cluster cannot compile or find stops the load', async () => {
      const index = newIndex()
      const rows = Array.from({ length: 20 }, (_, n) => ({ id: `d${n}`, by: 1 }))
      const broken = await failureOf(load(index, rows, 'no painless at all'))
      expect(broken).toMatchObject({ code: 'REQUEST_REFUSED', receipt: { unsent: 20, rejected: 0 } })
      expect(broken.evidence['reason']).toContain('compile error')
      const way = { ...loadThrough(world(), world().proxy.http), ids: 'field', idField: 'id', op: 'upsert' } as const
      const missing = await failureOf(ingest({ ...way, source: rows.values(), index, scriptId: 'nobody-stored-this' }))
      expect(missing.code).toBe('REQUEST_REFUSED')
      expect(missing.evidence['reason']).toContain('nobody-stored-this')
    })

    test('after a lost answer, the script does not run again, unless the user says so', async () => {
      const index = newIndex()
      const rows = Array.from({ length: 10 }, (_, n) => ({ id: `d${n}`, by: 1 }))
      const sums = async () => (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n)
      {
        await using losing = await startLosing(world(), [lostAnswer])
        const receipt = await load(index, rows, COUNT, losing.way)
        expect(receipt).toMatchObject({ read: 10, unknown: 10, created: 0, exit: 1 })
      }
      expect(await sums()).toEqual(rows.map(() => 1))
      {
        await using losing = await startLosing(world(), [lostAnswer])
        const receipt = await load(index, rows, COUNT, { ...losing.way, resendUnknown: true })
        expect(receipt).toMatchObject({ read: 10, updated: 10, unknown: 0 })
      }
      expect(await sums()).toEqual(rows.map(() => 3))
    })

    test('a replay whose answer is lost does not run the script again either', async () => {
      const index = newIndex()
      await load(index, [{ id: 'a', by: 1 }], COUNT)
      const letters = join(folder, 'lost.ndjson')
      await load(index, [{ id: 'x', by: 1 }], COUNT, { op: 'update', deadLetters: letters })
      await load(index, [{ id: 'x', by: 1 }], COUNT)
      await using losing = await startLosing(world(), [lostAnswer])
      expect(await replay({ ...losing.way, source: letters })).toMatchObject({ read: 1, unknown: 1, updated: 0 })
      expect(await stored(index, 'x')).toEqual({ n: 2 })
    })
  })
}
