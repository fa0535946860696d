import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, ingest, replay } from '../../src/index.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Versions of documents: an older row never overtakes a newer one. */
export function describeVersions(world: () => World): void {
  let folder: string
  let files = 0
  const load = async (index: string, rows: readonly (object | string)[], more: Partial<IngestOptions> = {}) => {
    files += 1
    const source = join(folder, `rows-${files}.ndjson`)
    await writeFile(source, rows.map(row => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''))
    const ofField = { ids: 'field', idField: 'id', op: 'index', versionField: 'v' } as const
    return await ingest({ ...loadThrough(world(), world().proxy.http), ...ofField, source, index, ...more })
  }
  const sourceOf = async (index: string, id: string) => await world().source(index, id)

  describe('versions', () => {
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'versions-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    test('an older row changes nothing and counts as older, and the same version is stored again', async () => {
      const index = newIndex()
      const rows = [
        { id: 'a', v: 5, n: 1 },
        { id: 'b', v: 0, n: 1 },
        { id: 'a', v: 4, n: 2 },
        { id: 'a', v: '5', n: 3 },
        { id: 'b', v: '0001', n: 4 },
      ]
      const receipt = await load(index, rows, { concurrency: 1 })
      expect(receipt).toMatchObject({ read: 5, created: 2, updated: 2, older: 1, rejected: 0, exit: 0 })
      expect(await sourceOf(index, 'a')).toBe('{"id":"a","v":"5","n":3}')
      expect(await sourceOf(index, 'b')).toBe('{"id":"b","v":"0001","n":4}')
    })

    test('versions beyond 2^53 are compared exactly', async () => {
      const index = newIndex()
      const rows = ['{"id":"a","v":9007199254740993}', '{"id":"a","v":9007199254740992}']
      const more = ['{"id":"b","v":"9223372036854775807"}', '{"id":"b","v":9223372036854775806}']
      const receipt = await load(index, [...rows, ...more], { concurrency: 1 })
      expect(receipt).toMatchObject({ created: 2, older: 2, rejected: 0 })
      expect(await sourceOf(index, 'b')).toBe('{"id":"b","v":"9223372036854775807"}')
    })

    test('dates are compared to the nanosecond, in whatever zone they stand, at a path and behind a routing value', async () => {
      const index = newIndex()
      const row = (at: string, n: number) => ({ id: 'a', r: 'x', meta: { at }, n })
      const rows = [
        row('2026-03-01T12:00:00.000000002Z', 1),
        row('2026-03-01T12:00:00.000000001Z', 2),
        row('2026-03-01T13:00:00.000000003+01:00', 3),
        row('2026-03-01', 4),
      ]
      const more = { versionField: 'meta.at', routingField: 'r', concurrency: 1 }
      expect(await load(index, rows, more)).toMatchObject({ created: 1, updated: 1, older: 2, rejected: 0 })
      expect((await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n)).toEqual([3])
    })

    test('a deletion deletes no newer document, and older rows do not bring a document back', async () => {
      const index = newIndex()
      await load(index, [{ id: 'a', v: 5 }, { id: 'b', v: 5 }, { id: 'c', v: 5 }]) // prettier-ignore
      const gone = [{ id: 'a', v: 4 }, { id: 'b', v: 6 }, { id: 'x', v: 6 }] // prettier-ignore
      const deleted = await load(index, gone, { op: 'delete' })
      expect(deleted).toMatchObject({ read: 3, deleted: 1, older: 1, notFound: 1, rejected: 0, exit: 0 })
      expect(await load(index, gone, { op: 'delete' })).toMatchObject({ older: 1, notFound: 2 })
      const late = [{ id: 'b', v: 5 }, { id: 'x', v: 5 }] // prettier-ignore
      expect(await load(index, late)).toMatchObject({ older: 2, created: 0 })
      expect(await world().count(index)).toBe(2)
    })

    test('a row without a usable version is rejected with its line, and its repaired dead letter is replayed with its version', async () => {
      const index = newIndex()
      await load(index, [{ id: 'a', v: 5 }, { id: 'b', v: 5 }, { id: 'c', v: 5 }]) // prettier-ignore
      const letters = join(folder, 'letters.ndjson')
      const bad = ['{"id":"a"}', '{"id":"b","v":1.5}', '{"id":"c","v":9223372036854775808}', '{"id":"d","v":-1}']
      const rows = [...bad, '{"id":"e","v":1e3}', '{"id":"f","v":7,"n":1}']
      const receipt = await load(index, rows, { deadLetters: letters })
      expect(receipt).toMatchObject({ read: 6, created: 1, rejected: 5, exit: 1 })
      const records = (await readFile(letters, 'utf8')).trimEnd().split('\n')
      const parsed = records.map(record => JSON.parse(record) as { type: string; reason: string; origin: object })
      expect(parsed.map(({ type }) => type)).toEqual(Array.from(parsed, () => 'DOCUMENT_VERSION_INVALID'))
      expect(parsed.map(({ reason }) => reason.replace(/^.*: the field v /, ''))).toEqual([
        'is missing',
        'is neither a whole number from 0 on nor a date',
        'is larger than 9223372036854775807',
        'is neither a whole number from 0 on nor a date',
        'is neither a whole number from 0 on nor a date',
      ])
      expect(parsed[1]).toMatchObject({ origin: { line: 2 }, versionField: 'v' })

      const [first, second] = records
      await writeFile(
        letters,
        `${first?.replace('"document":{"id":"a"}', '"document":{"id":"a","v":4}')}\n${second?.replace('1.5', '6')}\n`,
      )
      const replayed = await replay({ ...loadThrough(world(), world().proxy.http), source: letters })
      expect(replayed).toMatchObject({ read: 2, older: 1, updated: 1, rejected: 0 })
      expect(await sourceOf(index, 'b')).toBe('{"id":"b","v":6}')
    })

    test('a rejected row keeps its version, to the last digit, loadThrough its dead letters', async () => {
      const index = newIndex()
      await load(index, ['{"id":"b","v":9007199254740993,"n":1}', '{"id":"c","v":1,"n":1}'])
      const letters = join(folder, 'kept.ndjson')
      const rows = ['{"id":"b","v":9007199254740992,"n":"text"}', '{"id":"c","v":9007199254740993,"n":"text"}']
      const receipt = await load(index, rows, { deadLetters: letters })
      // A document that cannot be parsed is refused before versions are compared.
      expect(receipt).toMatchObject({ read: 2, rejected: 2 })
      const text = await readFile(letters, 'utf8')
      expect(text).toContain('"condition":{"version":9007199254740992,"version_type":"external_gte"}')
      await writeFile(letters, text.replaceAll('"text"', '2'))
      const replayed = await replay({ ...loadThrough(world(), world().proxy.http), source: letters })
      expect(replayed).toMatchObject({ read: 2, older: 1, updated: 1, rejected: 0 })
      expect(await sourceOf(index, 'c')).toBe('{"id":"c","v":9007199254740993,"n":2}')
    })

    test('actions of a _bulk file keep their versions and sequence numbers', async () => {
      const index = newIndex()
      const actions = [
        '{"index":{"_id":"a","version":9007199254740993,"version_type":"external"}}\n{"n":1}',
        '{"index":{"_id":"a","version":"9007199254740993","version_type":"external"}}\n{"n":2}',
        '{"index":{"_id":"a","version":9007199254740992,"version_type":"external_gte"}}\n{"n":3}',
        '{"index":{"_id":"b"}}\n{"n":1}',
        '{"delete":{"_id":"c","version":3,"version_type":"external_gte"}}',
        '{"index":{"_id":"b","if_seq_no":9000,"if_primary_term":1}}\n{"n":2}',
        '{"update":{"_id":"b","retry_on_conflict":2,"if_seq_no":9000,"if_primary_term":1}}\n{"doc":{"n":3}}',
      ]
      const refused = [
        '{"create":{"_id":"x","version":1,"version_type":"external"}}\n{"n":1}',
        '{"index":{"_id":"x","version":1}}\n{"n":1}',
        '{"index":{"_id":"x","if_seq_no":1}}\n{"n":1}',
        '{"index":{"version":1,"version_type":"external"}}\n{"n":1}',
        '{"update":{"_id":"x","version":1,"version_type":"external"}}\n{"doc":{}}',
        '{"update":{"_id":"x","if_seq_no":1,"if_primary_term":1}}\n{"doc":{},"doc_as_upsert":true}',
      ]
      const source = join(folder, 'actions.bulk')
      const letters = join(folder, 'actions.dead.ndjson')
      await writeFile(source, `${[...actions, ...refused].join('\n')}\n`)
      const way = loadThrough(world(), world().proxy.http)
      const more = { source, index, format: 'bulk', concurrency: 1, deadLetters: letters } as const
      const receipt = await ingest({ ...way, ...more })
      expect(receipt).toMatchObject({ read: 13, created: 2, older: 2, notFound: 1, rejected: 8, unknown: 0 })
      const conflict = { status: 409, type: 'version_conflict_engine_exception', documents: 2 }
      expect(receipt.rejections).toContainEqual(expect.objectContaining(conflict))
      expect(await sourceOf(index, 'a')).toBe('{"n":1}')
      const kept = (await readFile(letters, 'utf8')).split('\n').filter(line => line.includes('"status":409'))
      for (const line of kept) expect(line).toContain('"condition":{"if_seq_no":9000,"if_primary_term":1}')
      await writeFile(letters, `${kept.join('\n')}\n`)
      const replayed = await replay({ ...way, source: letters })
      expect(replayed.rejections).toMatchObject([conflict])
    })
  })
}
