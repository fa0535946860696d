import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, connect, ingest, isSluiceError, replay, undo, verify } from '../../src/index.js'
import { failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Indices that fields of the documents name. */
export function describeIndexByField(world: () => World): void {
  const base = () => ({ ...loadThrough(world(), world().proxy.http), preflightConnections: 1 }) as const

  describe('an index by field', () => {
    let folder: string
    beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'index-by-field-'))))
    afterAll(async () => await rm(folder, { recursive: true }))

    const withClient = async (work: (client: Awaited<ReturnType<typeof connect>>['client']) => Promise<unknown>) => {
      await using direct = await connect(base())
      await work(direct.client)
    }
    const file = async (name: string, ...lines: readonly string[]) => {
      const path = join(folder, name)
      await writeFile(path, `${lines.join('\n')}\n`)
      return path
    }
    const load = async (source: IngestOptions['source'], index: string, more: Partial<IngestOptions> = {}) =>
      await ingest({ ...base(), source, index, ...more })
    const numbers = async (index: string) =>
      (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n).toSorted((a, b) => a - b)

    test('is named by days in UTC, whatever form the times have', async () => {
      const name = newIndex('days')
      const times = [
        '"2026-01-02 23:59"',
        '"2026-01-02T03:04:05.678Z"',
        '"2026-01-02T23:30:00-01:00"',
        '"2026-01-03"',
        '1767322800123',
        '"1767322800"',
        '"2026-01-03T05:29:59+05:30"',
      ]
      const lines = times.map((time, at) => `{"n":${at + 1},"log":{"@timestamp":${time}}}`)
      const receipt = await load(await file('days.ndjson', ...lines), `${name}-{log.@timestamp:yyyy.MM.dd}`)
      expect(receipt).toMatchObject({ created: 7, rejected: 0 })
      expect(receipt.indices).toEqual([
        { index: `${name}-2026.01.02`, documents: 5 },
        { index: `${name}-2026.01.03`, documents: 2 },
      ])
      expect(await numbers(`${name}-2026.01.02`)).toEqual([1, 2, 5, 6, 7])
      expect(await numbers(`${name}-2026.01.03`)).toEqual([3, 4])
    })

    test('is named by values, by weeks, and by several fields, for lines, arrays and rows', async () => {
      const name = newIndex('branches')
      const pattern = `${name}-{order.branch}-{day:xxxx.ww}`
      const rows = [
        ['de', '2024-12-30', 1],
        ['fr', '2027-01-01', 2],
        ['de', '2025-01-05', 3],
      ] as const
      const texts = rows.map(([branch, day, n]) => JSON.stringify({ n, order: { branch }, day }))
      const expected = { [`${name}-de-2025.01`]: [1, 3], [`${name}-fr-2026.53`]: [2] }
      const csv = await file(
        'orders.csv',
        'n;order.branch;day',
        ...rows.map(([branch, day, n]) => `${n};${branch};${day}`),
      )
      const sources = [await file('orders.ndjson', ...texts), await file('orders.json', `[${texts.join(',')}]`), csv]
      for (const [at, source] of sources.entries()) {
        const more = { op: 'index', ids: 'field', idField: 'n' } as const
        expect(await load(source, pattern, more)).toMatchObject({ [at === 0 ? 'created' : 'updated']: 3, rejected: 0 })
        for (const [index, found] of Object.entries(expected)) expect((await numbers(index)).map(Number)).toEqual(found)
      }
    })

    test('rejects a document that names none, and a replay loads the document once it is repaired', async () => {
      const name = newIndex('broken')
      const letters = join(folder, 'letters.ndjson')
      const docs = [
        '{"n":1,"b":"ok"}',
        '{"n":2}',
        '{"n":3,"b":"Upper"}',
        '{"n":4,"b":"a b"}',
        '{"n":5,"b":"a/b"}',
        '{"n":6,"b":""}',
        '{"n":7,"b":null}',
        `{"n":8,"b":"${'x'.repeat(260)}"}`,
        '{"n":9,"b":"last"}',
      ]
      const receipt = await load(await file('broken.ndjson', ...docs), `${name}-{b}`, { deadLetters: letters })
      expect(receipt).toMatchObject({ read: 9, created: 2, rejected: 7 })
      const records = (await readFile(letters, 'utf8')).trimEnd().split('\n')
      const seen = records.map(
        text => JSON.parse(text) as { origin: { line: number }; type: string; reason: string; index: string },
      )
      const said = 'no index for the document: the field b'
      expect(seen.map(({ origin, reason }) => [origin.line, reason])).toEqual([
        [2, `${said} is missing`],
        [3, `${said} makes a name that has upper-case letters`],
        [4, `${said} makes a name that contains a space`],
        [5, `${said} makes a name that contains /`],
        [6, `${said} is empty`],
        [7, `${said} is neither a string nor a number`],
        [8, expect.stringContaining('bytes, 255 are allowed') as unknown],
      ])
      expect(new Set(seen.map(({ type, index }) => `${type} ${index}`))).toEqual(
        new Set([`DOCUMENT_INDEX_INVALID ${name}-{b}`]),
      )
      const repaired = join(folder, 'repaired.ndjson')
      await writeFile(repaired, `${records[0]?.replace('{"n":2}', '{"n":2,"b":"ok"}')}\n${records[1]}\n`)
      expect(await replay({ ...base(), source: repaired })).toMatchObject({ created: 1, rejected: 1 })
      expect(await numbers(`${name}-ok`)).toEqual([1, 2])
    })

    test('a document that its index rejects is replayed into the same index', async () => {
      const name = newIndex('conflict')
      const letters = join(folder, 'refused.ndjson')
      const docs = ['{"n":1,"b":"a"}', '{"n":2,"b":"b"}', '{"n":"text","b":"a"}']
      const source = await file('conflict.ndjson', ...docs)
      const more = { deadLetters: letters, batchDocs: 2, concurrency: 1 }
      expect(await load(source, `${name}-{b}`, more)).toMatchObject({ created: 2, rejected: 1 })
      const text = await readFile(letters, 'utf8')
      expect(JSON.parse(text)).toMatchObject({ index: `${name}-a` })
      const corrected = join(folder, 'corrected.ndjson')
      await writeFile(corrected, text.replace('"text","b":"a"', '3,"b":"b"'))
      expect(await replay({ ...base(), source: corrected })).toMatchObject({ created: 1 })
      expect(await numbers(`${name}-a`)).toEqual([1, 3])
    })

    test('at most so many are filled, and nothing is sent to the next one', async () => {
      const name = newIndex('many')
      const docs = Array.from({ length: 6 }, (_, at) => `{"n":${at + 1},"b":"i${at + 1}"}`)
      const source = await file('many.ndjson', ...docs)
      const more = { batchDocs: 1, maxIndices: 3, stateDir: join(folder, 'state') }
      const failed = await failureOf(load(source, `${name}-{b}`, more))
      expect(failed).toMatchObject({ code: 'TOO_MANY_INDICES', evidence: { limit: 3, index: `${name}-i4` } })
      for (const index of ['i4', 'i5', 'i6']) expect(await world().documents(`${name}-${index}`)).toEqual([])
      const whole = await load(source, `${name}-{b}`, { ...more, maxIndices: 6 })
      expect(whole).toMatchObject({ created: 6, status: 'finished' })
      expect(whole.indices).toHaveLength(6)
    })

    test('a run that continues may fill no more indices than before, and its receipt has all of them', async () => {
      const name = newIndex('resumed')
      const docs = Array.from({ length: 50 }, (_, at) => `{"n":${at + 1},"b":"i${1 + Math.floor(at / 10)}"}`)
      const source = await file('resumed.ndjson', ...docs)
      const more = { batchDocs: 10, concurrency: 1, stateDir: join(folder, 'resumed') }
      const controller = new AbortController()
      const stopped = await failureOf(
        load(source, `${name}-{b}`, {
          ...more,
          signal: controller.signal,
          onEvent: event => {
            if (event.type === 'progress' && event.counts.created >= 20) controller.abort()
          },
        }),
      )
      expect(stopped.code).toBe('RUN_INTERRUPTED')
      // What is left names three indices, and the run has filled two or more.
      const failed = await failureOf(load(source, `${name}-{b}`, { ...more, maxIndices: 3 }))
      expect(failed).toMatchObject({ code: 'TOO_MANY_INDICES', evidence: { limit: 3 } })
      const whole = await load(source, `${name}-{b}`, more)
      expect(whole).toMatchObject({ read: 50, created: 50, status: 'finished' })
      const each = ['i1', 'i2', 'i3', 'i4', 'i5'].map(index => ({ index: `${name}-${index}`, documents: 10 }))
      expect(whole.indices).toEqual(each)
    })

    test('updates and deletions reach the index that the document names', async () => {
      const name = newIndex('changes')
      const more = { ids: 'field', idField: 'n', deadLetters: false } as const
      const send = async (op: IngestOptions['op'], ...docs: readonly object[]) =>
        await load(docs.values(), `${name}-{b}`, { ...more, op })
      expect(await send('upsert', { n: 1, b: 'a' }, { n: 2, b: 'b' })).toMatchObject({ created: 2 })
      expect(await send('update', { n: 1, b: 'a', x: 1 }, { n: 2, b: 'b', x: 2 })).toMatchObject({ updated: 2 })
      expect(await send('delete', { n: 1, b: 'a' }, { n: 3, b: 'b' })).toMatchObject({ deleted: 1, notFound: 1 })
      expect(await numbers(`${name}-a`)).toEqual([])
      expect(await numbers(`${name}-b`)).toEqual([2])
    })

    test('verify and undo find each document in its own index', async () => {
      const name = newIndex('verified')
      const docs = Array.from({ length: 90 }, (_, at) => `{"n":${at + 1},"b":"${'abc'[at % 3]}"}`)
      const source = await file('verified.ndjson', ...docs)
      const stateDir = join(folder, 'verified')
      const { run } = await load(source, `${name}-{b}`, { stateDir })
      const asked = { ...base(), run, stateDir }
      expect(await verify(asked)).toMatchObject({ ok: true, found: 90, missing: 0 })
      await withClient(async client => await client.indices.delete({ index: `${name}-b` }))
      expect(await verify(asked)).toMatchObject({
        ok: false,
        found: 60,
        missing: 30,
        notes: [`the index ${name}-b no longer exists`],
      })
      expect(await undo(asked)).toMatchObject({ isComplete: true, deleted: 60, gone: 30 })
      expect([...(await numbers(`${name}-a`)), ...(await numbers(`${name}-c`))]).toEqual([])
    })

    test('a finished load is not repeated because an old index was removed', async () => {
      const name = newIndex('retained')
      const source = await file('retained.ndjson', '{"n":1,"b":"old"}', '{"n":2,"b":"new"}')
      const more = { stateDir: join(folder, 'retained') }
      expect(await load(source, `${name}-{b}`, more)).toMatchObject({ created: 2 })
      await withClient(async client => await client.indices.delete({ index: `${name}-old` }))
      expect(await load(source, `${name}-{b}`, more)).toMatchObject({ created: 0, inputs: [{ alreadyLoaded: true }] })
      expect(await load(source, `${name}-{b}`, { ...more, again: true })).toMatchObject({ created: 2 })
    })

    test('credentials that do not cover all names of the pattern are a warning before the load', async () => {
      const { target, ...others } = base()
      const asked = async (index: string) => {
        const warnings: string[] = []
        const onEvent: IngestOptions['onEvent'] = event => {
          if (event.type === 'warning') warnings.push(event.message)
        }
        const least = { ...others, target: { ...target, apiKey: world().cluster.leastPrivilegeApiKey } }
        const source = [{ n: 1, b: 'a' }]
        const code = await ingest({ ...least, source, index: `${index}-{b}`, onEvent }).then(
          ({ created }) => created,
          (error: unknown) => (isSluiceError(error) ? error.code : error),
        )
        return { code, warnings: warnings.filter(text => text.includes('all indices')) }
      }
      expect(await asked(newIndex('least-named'))).toEqual({ code: 1, warnings: [] })
      const other = newIndex('other-named')
      expect(await asked(other)).toEqual({
        code: 'CLUSTER_PRIVILEGE_MISSING',
        warnings: [
          expect.stringContaining(`may not write to all indices ${other}-*: they lack create_doc`) as string,
          expect.stringContaining(`may not create all indices ${other}-*`) as string,
        ],
      })
    })

    test('another pattern for the same names is another option', async () => {
      const name = newIndex('other')
      const source = await file('other.ndjson', '{"n":1,"b":"a","c":"d"}')
      const more = { stateDir: join(folder, 'other') }
      expect(await load(source, `${name}-{b}`, more)).toMatchObject({ created: 1 })
      expect(await load(source, `${name}-{b}`, more)).toMatchObject({ inputs: [{ alreadyLoaded: true }] })
      expect(await failureOf(load(source, `${name}-{c}`, more))).toMatchObject({ code: 'RUN_OPTIONS_CHANGED' })
    })
  })
}
