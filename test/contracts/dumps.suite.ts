import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, ingest, replay, verify } from '../../src/index.js'
import { codeOf } from '../support/lab/run-world.js'
import { newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** Dumps, whose documents carry their own ids. */
export function describeDumps(world: () => World): void {
  describe('a dump', () => {
    let folder: string
    beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'dumps-'))))
    afterEach(async () => await rm(folder, { recursive: true }))

    const path = (name: string) => join(folder, name)
    const options = () => ({
      ...loadThrough(world(), world().proxy.http),
      preflightConnections: 1,
      stateDir: path('state'),
      deadLetters: path('dead.ndjson'),
    })
    const load = async (source: IngestOptions['source'], index: string, more: Partial<IngestOptions> = {}) =>
      await ingest({ ...options(), source, index, ...more })
    const source = '{"n":1.0,"big":1234567890123456789,"é":"\\u00e9"}'
    const hit = (id: string, document: string, more = '') =>
      `{"_index":"old","_type":"_doc","_id":"${id}","_score":1${more},"_source":${document}}\n`

    test('of elasticdump is recognised, and each document keeps id, routing and bytes', async () => {
      const index = newIndex()
      const found: string[] = []
      const onEvent = (event: IngestEvent) => void (event.type === 'format' && found.push(event.found))
      await writeFile(path('a.json'), hit('é 1', source) + hit('2', '{"n":2}', ',"_routing":"r"') + hit('3', '{"n":3}'))
      const receipt = await load(path('a.json'), index, { onEvent })
      expect(receipt).toMatchObject({ status: 'finished', created: 3, ids: { given: 3, own: 0 } })
      expect(found).toEqual(['an elasticdump file: its first line has the document in _source'])
      expect(await world().source(index, 'é 1')).toBe(source)
      expect(await world().count(index)).toBe(3)
      expect(await load(path('a.json'), index)).toMatchObject({ read: 0 })
    })

    test('may come from a pipe or compressed, and a document without an id gets one', async () => {
      const index = newIndex()
      const text = `${hit('1', '{"n":1}')}{"_source":{"n":2}}\n{"_source":{"n":3}}\n${hit('4', '{"n":4}')}`
      const stdin = Readable.from([Buffer.from(text)], { objectMode: false })
      const receipt = await load('-', index, { stdin, format: 'elasticdump' })
      expect(receipt).toMatchObject({ created: 4, ids: { given: 2, own: 2 } })
      expect(await world().source(index, '4')).toBe('{"n":4}')
      await writeFile(path('b.json.gz'), gzipSync(hit('5', '{"n":5}')))
      expect(await load(path('b.json.gz'), index)).toMatchObject({ created: 1 })
      expect(await world().count(index)).toBe(5)
    })

    test('of a search is recognised, whether pretty or not, and lies beside other inputs', async () => {
      const index = newIndex()
      const hits = [1, 2, 3].map(id => ({ _index: 'old', _id: String(id), _score: 1, _source: { n: id } }))
      const answer = { took: 1, timed_out: false, _shards: { total: 1 }, hits: { max_score: 1, hits } }
      await writeFile(path('a.json'), JSON.stringify(answer, null, 2))
      await writeFile(path('b.ndjson'), '{"n":4}\n{"n":5}\n')
      const more = { ...answer, hits: { hits: [{ _id: '6', _source: { n: 6 } }] } }
      await writeFile(path('c.json'), `${JSON.stringify(more)}\n`)
      const receipt = await load([path('a.json'), path('b.ndjson'), path('c.json')], index)
      expect(receipt).toMatchObject({ status: 'finished', created: 6, ids: { given: 4, own: 0 } })
      expect(await world().source(index, '6')).toBe('{"n":6}')
      expect(await world().count(index)).toBe(6)
    })

    test('goes to the indices beside its documents on request, within their limit', async () => {
      const index = newIndex()
      const of = (name: string, id: string, document: string) =>
        `{"_index":${name},"_id":"${id}","_source":${document}}\n`
      const answer = {
        took: 1,
        timed_out: false,
        hits: { hits: [{ _index: 'a', _id: '4', _routing: 'r', _source: { n: 4 } }] },
      }
      const bulk = '{"index":{"_index":"b","_id":"5"}}\n{"n":5}\n{"create":{"_id":"6"}}\n{"n":6}\n'
      const odd = of('null', '7', '{}') + of('"A B"', '8', '{}') + of('7', '9', '{}')
      await writeFile(
        path('a.json'),
        of('"a"', '1', source) + of('"b"', '2', '{"n":2}') + of('"a"', '\\"_index\\":\\"x', '{}') + odd,
      )
      await writeFile(path('b.json'), JSON.stringify(answer))
      await writeFile(path('c.ndjson'), bulk)
      const files = [path('a.json'), path('b.json'), path('c.ndjson')]
      const receipt = await load(files, `${index}-{_index}`, { maxIndices: 2 })
      expect(receipt).toMatchObject({ created: 5, rejected: 4 })
      expect(receipt.indices).toEqual([
        { index: `${index}-a`, documents: 3 },
        { index: `${index}-b`, documents: 2 },
      ])
      expect(await world().source(`${index}-a`, '1')).toBe(source)
      expect(await world().source(`${index}-b`, '5')).toBe('{"n":5}')
      const letters = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
      expect(letters.map(line => (JSON.parse(line) as { reason: string }).reason)).toEqual([
        'no document to load: it has no _index',
        expect.stringMatching(/^no document to load: its _index makes a name that /),
        'no document to load: its _index is not a string',
        'no document to load: line 3: it has no _index',
      ])
      expect(await load(files, `${index}-{_index}`, { maxIndices: 2 })).toMatchObject({ read: 0 })
      const more = load([path('a.json'), path('c.ndjson')], `${index}-more-{_index}`, { maxIndices: 1 })
      expect(await codeOf(more)).toMatch(/^TOO_MANY_INDICES/)
    })

    test('of bulk requests is recognised, and each action keeps its operation', async () => {
      const index = newIndex()
      await load([{ n: 1 }, { n: 2 }, { n: 3 }], index, { ids: 'field', idField: 'n', stateDir: undefined })
      const bulk = [
        '{"index":{"_index":"old","_id":"1"}}\n{"n":11}',
        '{"delete":{"_id":"2"}}',
        '{"update":{"_id":"3"}}\n{"doc":{"m":33}}',
        '{"create":{"_id":"4"}}\n{"n":4.0}',
        '{"update":{"_id":"5"}}\n{"doc":{"n":5},"doc_as_upsert":true}',
        '{"delete":{"_id":"6"}}',
        '{"create":{"_id":"4"}}\n{"n":44}',
        '{"update":{"_id":"7"}}\n{"doc":{"n":7}}',
        '{"update":{"_id":"8"}}\n{"script":"ctx._source.n += 1"}',
      ]
      await writeFile(path('a.txt'), `${bulk.join('\n')}\n`)
      const receipt = await load(path('a.txt'), index, { concurrency: 1 })
      const ended = { status: 'finished', read: 9, created: 2, updated: 2, deleted: 1, notFound: 1, rejected: 3 }
      expect(receipt).toMatchObject({ ...ended, ids: { given: 8, own: 0 } })
      const sources = ['1', '2', '3', '4', '5'].map(async id => await world().source(index, id))
      expect(await Promise.all(sources)).toEqual(['{"n":11}', undefined, '{"n":3,"m":33}', '{"n":4.0}', '{"n":5}'])
      const letters = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
      expect(letters.map(letter => JSON.parse(letter) as object)).toMatchObject([
        { type: 'DOCUMENT_HIT_INVALID', origin: { document: 9 } },
        { operation: 'create', id: '4', status: 409, document: { n: 44 } },
        { operation: 'update', id: '7', status: 404, document: { n: 7 } },
      ])
      await load([{ n: 7 }], index, { ids: 'field', idField: 'n', stateDir: undefined })
      const again = await replay({ ...options(), source: path('dead.ndjson'), deadLetters: path('left.ndjson') })
      expect(again).toMatchObject({ noop: 1, rejected: 2 })
    })

    test('of bulk requests that is interrupted continues: each action is sent with its own document', async () => {
      const index = newIndex()
      const numbers = Array.from({ length: 300 }, (_, n) => n)
      const action = (n: number) => {
        const gone = n % 10 === 5 ? `{"delete":{"_id":"id-${n}"}}\n` : ''
        if (n % 3 === 0) return `{"index":{}}\n{"n":${n}}\n${gone}`
        return `${gone}{"index":{"_id":"id-${n}"}}\n{"n":${n}}\n`
      }
      await writeFile(path('a.txt'), numbers.map(action).join(''))
      const controller = new AbortController()
      const onEvent = (event: IngestEvent) => {
        if (event.type === 'progress' && event.counts.created >= 60) controller.abort('test')
      }
      const small = { batchDocs: 10, concurrency: 1 }
      const refused = load(path('a.txt'), index, { ...small, onEvent, signal: controller.signal })
      expect(await codeOf(refused)).toMatch(/^RUN_INTERRUPTED/)
      const receipt = await load(path('a.txt'), index, small)
      expect(receipt).toMatchObject({ status: 'finished', created: 300, notFound: 30, rejected: 0, read: 330 })
      const stored = (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n)
      expect(stored.toSorted((a, b) => a - b)).toEqual(numbers)
      await appendFile(path('a.txt'), '{"delete":{"_id":"id-1"}}\n')
      expect(await load(path('a.txt'), index, small)).toMatchObject({ read: 1, deleted: 1 })
    })

    test('of bulk requests whose last document is missing continues when it is there', async () => {
      const index = newIndex()
      const text = '{"index":{"_id":"1"}}\n{"n":1}\n{"index":{"_id":"2"}}\n'
      await writeFile(path('a.txt'), text)
      expect(await codeOf(load(path('a.txt'), index))).toMatch(/^INPUT_TRUNCATED/)
      await appendFile(path('a.txt'), '{"n":2}\n')
      expect(await load(path('a.txt'), index)).toMatchObject({ created: 2, thisProcess: { read: 1 } })
    })

    test('whose ids exist is rejected, skipped or replaces them, as --op and --on-conflict say', async () => {
      const index = newIndex()
      await writeFile(path('a.json'), hit('1', '{"n":1}') + hit('2', '{"n":2}'))
      await load(path('a.json'), index)
      await writeFile(path('b.json'), hit('2', '{"n":22}') + hit('3', '{"n":3}'))
      expect(await load(path('b.json'), index)).toMatchObject({ created: 1, rejected: 1, exit: 1 })
      const letter = JSON.parse(await readFile(path('dead.ndjson'), 'utf8')) as object
      expect(letter).toMatchObject({ operation: 'create', id: '2', status: 409, document: { n: 22 }, attempts: 1 })
      const again = { again: true } as const
      expect(await load(path('b.json'), index, { ...again, onConflict: 'skip' })).toMatchObject({ skipped: 2 })
      expect(await load(path('b.json'), index, { ...again, op: 'index' })).toMatchObject({ updated: 2, rejected: 0 })
      expect(await world().source(index, '2')).toBe('{"n":22}')
    })

    test('has dead letters that a replay sends with their ids and routing', async () => {
      const index = newIndex()
      const bad = '{"n":{"is":"no number"}}'
      const text = hit('1', '{"n":1}') + hit('2', bad, ',"_routing":"r"') + `{"_id":"3"}\n{"_source":${bad}}\n`
      await writeFile(path('a.json'), text)
      // The first document decides how the index maps the field.
      const receipt = await load(path('a.json'), index, { concurrency: 1 })
      expect(receipt).toMatchObject({ created: 1, rejected: 3, read: 4 })
      const letters = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
      const [, , last] = letters.map(letter => JSON.parse(letter) as Record<string, unknown>)
      expect(letters.map(letter => JSON.parse(letter) as object)).toMatchObject([
        { type: 'DOCUMENT_HIT_INVALID', status: 0, line: '{"_id":"3"}', origin: { document: 3 } },
        { id: '2', routing: 'r', origin: { document: 2 } },
        { origin: { document: 4 } },
      ])
      expect(String(last?.['id'])).toMatch(/^[a-z2-7]{16}-4$/)
      const mended = letters.map(letter => letter.replace(bad, '{"n":7}')).join('\n')
      await writeFile(path('mended.ndjson'), `${mended}\n`)
      const again = await replay({ ...options(), source: path('mended.ndjson'), deadLetters: path('left.ndjson') })
      expect(again).toMatchObject({ created: 2, rejected: 1 })
      expect(await world().count(index)).toBe(3)
    })

    test('has dead letters of broken documents that say where a corrected one belongs', async () => {
      const index = newIndex()
      const edited = { edits: { rename: { n: 'm' } } }
      await writeFile(path('a.json'), `${hit('1', '"no object"', ',"_routing":"r"')}${hit('2', '{"m":1,"n":2}')}`)
      await writeFile(
        path('b.txt'),
        '{"index":{"_id":"3","routing":"r"}}\noops\n{"update":{"_id":"4"}}\n{"doc":oops}\n',
      )
      await load([{ n: 4 }], index, { ids: 'field', idField: 'n', stateDir: undefined })
      expect(await load([path('a.json'), path('b.txt')], index, edited)).toMatchObject({ created: 0, rejected: 4 })
      const letters = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
      const records = letters.map(letter => JSON.parse(letter) as { id: string; line: string })
      expect(records.toSorted((one, other) => Number(one.id) - Number(other.id))).toMatchObject([
        { type: 'DOCUMENT_HIT_INVALID', id: '1', routing: 'r' },
        { type: 'DOCUMENT_NOT_EDITED', id: '2', line: '{"_id":"2"} {"m":1,"n":2}' },
        { operation: 'index', id: '3', routing: 'r', line: '{"index":{"_id":"3","routing":"r"}} oops' },
        { operation: 'update', id: '4', line: '{"update":{"_id":"4"}} {"doc":oops}' },
      ])
      const mended = records.map(({ line: _, ...letter }) => JSON.stringify({ ...letter, document: { mended: true } }))
      await writeFile(path('mended.ndjson'), `${mended.join('\n')}\n`)
      const again = await replay({ ...options(), source: path('mended.ndjson'), deadLetters: path('left.ndjson') })
      expect(again).toMatchObject({ created: 3, updated: 1, rejected: 0 })
      const sources = ['1', '2', '3', '4'].map(async id => await world().source(index, id))
      const plain = '{"mended":true}'
      expect(await Promise.all(sources)).toEqual([plain, plain, plain, '{"n":4,"mended":true}'])
    })

    test('that is interrupted continues: each document is stored once', async () => {
      const index = newIndex()
      const numbers = Array.from({ length: 400 }, (_, n) => n)
      const line = (n: number) => (n % 5 === 4 ? `{"_source":{"n":${n}}}\n` : hit(`id-${n}`, `{"n":${n}}`))
      await writeFile(path('a.json'), numbers.map(line).join('\n'))
      const controller = new AbortController()
      const onEvent = (event: IngestEvent) => {
        if (event.type === 'progress' && event.counts.created >= 60) controller.abort('test')
      }
      const small = { batchDocs: 10, concurrency: 2 }
      const refused = load(path('a.json'), index, { ...small, onEvent, signal: controller.signal })
      expect(await codeOf(refused)).toMatch(/^RUN_INTERRUPTED/)
      const receipt = await load(path('a.json'), index, small)
      expect(receipt).toMatchObject({ status: 'finished', created: 400, rejected: 0, read: 400 })
      expect(receipt.thisProcess.created).toBeLessThan(400)
      const stored = (await world().documents(index)).map(text => (JSON.parse(text) as { n: number }).n)
      expect(stored.toSorted((a, b) => a - b)).toEqual(numbers)
      await appendFile(path('a.json'), hit('more', '{"n":400}'))
      expect(await load(path('a.json'), index, small)).toMatchObject({ read: 1, created: 1 })
    })

    test('that was cut off loads what is whole, and continues when the rest is there', async () => {
      const index = newIndex()
      const text = hit('1', '{"n":1}') + hit('2', '{"n":2}')
      await writeFile(path('a.json'), text.slice(0, -9))
      expect(await codeOf(load(path('a.json'), index))).toMatch(/^INPUT_TRUNCATED/)
      expect(await world().count(index)).toBe(1)
      await writeFile(path('a.json'), text)
      expect(await load(path('a.json'), index)).toMatchObject({
        status: 'finished',
        created: 2,
        thisProcess: { created: 1 },
      })
    })

    test('has no ids of the run that verify could look up', async () => {
      const index = newIndex()
      await writeFile(path('a.json'), hit('1', '{"n":1}'))
      const { run } = await load(path('a.json'), index)
      const { target, proxy } = options()
      expect(await codeOf(verify({ run, stateDir: path('state'), target, proxy }))).toMatch(/^RUN_IDS_UNKNOWN/)
    })

    test('takes no other source of ids', async () => {
      await writeFile(path('a.json'), hit('1', '{"n":1}'))
      const other = { ids: 'field', idField: 'n' } as const
      expect(await codeOf(load(path('a.json'), newIndex(), other))).toMatch(/^INPUT_NOT_JSON/)
      const named = load(path('a.json'), newIndex(), { ...other, format: 'elasticdump' })
      expect(await codeOf(named)).toMatch(/^OPTION_INVALID/)
    })
  })
}
