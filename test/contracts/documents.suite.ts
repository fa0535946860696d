import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type Refused, ingest } from '../../src/index.js'
import { documents, failureOf, newIndex, loadThrough } from './options.js'
import type { World } from './world.js'

/** What becomes of documents: stored byte for byte, or refused with the reason and the place. */
export function describeDocuments(world: () => World): void {
  const base = () => loadThrough(world(), world().proxy.http)

  describe('documents', () => {
    test('reach the cluster byte for byte', async () => {
      const index = newIndex()
      const lines = [
        '{"id":"digits","n":9007199254740993123,"f":1.0,"e":1e2}',
        '{ "id" : "spaces" ,\t"text" : "two  blanks" }',
        '{"id":"escapes","text":"\\u00e9\\/\\ud83d\\ude00"}',
        '{"id":"utf8","text":"é😀"}',
        '{"id":"crlf"}\r',
        '{"id":"last"}',
      ]
      const bytes = Buffer.from(`\ufeff${lines.join('\n')}`)
      const receipt = await ingest({
        ...base(),
        source: Readable.from([bytes], { objectMode: false }),
        index,
        ids: 'field',
        idField: 'id',
      })
      expect(receipt).toMatchObject({ read: 6, created: 6 })
      for (const line of lines) {
        const id = /"id"\s*:\s*"(\w+)"/.exec(line)?.[1] ?? ''
        expect((await world().source(index, id))?.trim()).toBe(line.trim())
      }
    })

    test('are confirmed by answers that come compressed', async () => {
      const source = Array.from({ length: 5000 }, (_, n) => ({ n }))
      const { created, bytes } = await ingest({ ...base(), source, index: newIndex() })
      expect(created).toBe(5000)
      // The status alone takes 26 bytes of each document.
      expect(bytes.received).toBeLessThan(5000 * 20)
    })

    test('lines that are no JSON object are refused with line and offset, and the run goes on', async () => {
      const index = newIndex()
      const refused: Refused[] = []
      const parts = ['{"a":1}\n', '[1,2]\n', '\n', '42\n', '{"a":"\u0000"}\n', '{"a":\n', '{"a":2}\n'].map(line =>
        Buffer.from(line),
      )
      parts.push(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x0a]), Buffer.from('{"a":3}'))
      const receipt = await ingest({
        ...base(),
        source: Readable.from([Buffer.concat(parts)], { objectMode: false }),
        format: 'ndjson',
        index,
        onEvent: event => event.type === 'rejected' && refused.push(...event.documents),
      })
      expect(receipt).toMatchObject({ read: 9, created: 3, rejected: 5, skipped: 1, unsent: 0, unknown: 0 })
      expect(refused.map(({ origin, type }) => [origin.document, origin.line, origin.offset, type])).toEqual([
        [2, 2, 8, 'DOCUMENT_NOT_JSON'],
        [3, 4, 15, 'DOCUMENT_NOT_JSON'],
        [4, 5, 18, 'DOCUMENT_NOT_JSON'],
        [5, 6, 28, 'DOCUMENT_NOT_JSON'],
        [7, 8, 42, 'DOCUMENT_NOT_JSON'],
      ])
      expect(await world().count(index)).toBe(3)
    })

    test('documents that the mapping refuses are rejected with their place, and their neighbours stored', async () => {
      const index = newIndex()
      const refused: Refused[] = []
      const lines = ['{"port":1}', '{"port":"none"}', '{"port":2}', '', '{"port":{"a":1}}', '{"port":3}']
      const receipt = await ingest({
        ...base(),
        source: Readable.from([Buffer.from(lines.join('\n'))], { objectMode: false }),
        index,
        onEvent: event => event.type === 'rejected' && refused.push(...event.documents),
      })
      expect(receipt).toMatchObject({ read: 6, created: 3, rejected: 2, skipped: 1 })
      expect(
        refused.map(({ status, origin, document }) => [status, origin.line, origin.offset, String(document)]),
      ).toEqual([
        [400, 2, 11, '{"port":"none"}'],
        [400, 5, 39, '{"port":{"a":1}}'],
      ])
      expect(receipt.rejections.reduce((sum, { documents: count }) => sum + count, 0)).toBe(2)
      expect(JSON.stringify(receipt.rejections)).not.toContain('none')
    })

    test('documents beyond the limits of the JSON parser are rejected, those at the limits stored', async () => {
      const refused: Refused[] = []
      const nested = (levels: number) => `{"b":${'['.repeat(levels)}1${']'.repeat(levels)}}\n`
      const digits = (many: number) => `{"a":[{"n":0.${'1'.repeat(many)}}]}\n`
      const lines = [nested(999), nested(1000), nested(5000), nested(100_000), digits(999), digits(1000)]
      const receipt = await ingest({
        ...base(),
        source: Readable.from([Buffer.from(lines.join(''))], { objectMode: false }),
        format: 'ndjson',
        index: newIndex(),
        onEvent: event => event.type === 'rejected' && refused.push(...event.documents),
      })
      expect(receipt).toMatchObject({ read: 6, created: 2, rejected: 4 })
      const deep =
        '[1:1005] failed to parse: Document nesting depth (1001) exceeds the maximum allowed (1000, from `StreamReadConstraints.getMaxNestingDepth()`)'
      const long =
        '[1:8] failed to parse: Number value length (1001) exceeds the maximum allowed (1000, from `StreamReadConstraints.getMaxNumberLength()`)'
      expect(refused.map(({ type, reason }) => [type, reason])).toEqual(
        [deep, deep, deep, long].map(reason => ['document_parsing_exception', reason]),
      )
    })

    test('documents with names of metadata and of blanks are refused, and _type is a field', async () => {
      const refused: Refused[] = []
      const lines = [
        '{"_id":{"$oid":"65f0"}}',
        '{"_source":{"a":1}}',
        '{"_source":"a"}',
        '{"_id":"a"}',
        '{" ":1}',
        '{"a":{" ":1}}',
        '{"_index":[1]}',
        '{"_id":null}',
        '{"_type":"x"}',
        '{"_type":{"a":1}}',
        '{"b":{"_id":{"a":1}}}',
      ]
      const receipt = await ingest({
        ...base(),
        source: Readable.from([Buffer.from(`${lines.join('\n')}\n`)], { objectMode: false }),
        format: 'ndjson',
        index: newIndex(),
        onEvent: event => event.type === 'rejected' && refused.push(...event.documents),
      })
      expect(receipt).toMatchObject({ read: 11, created: 2, rejected: 9 })
      expect(refused.map(({ type }) => type)).toEqual(refused.map(() => 'document_parsing_exception'))
      // The ids are those of this run.
      expect(refused.map(({ reason }) => reason.replace(/ in document with id '[^']+'/, ''))).toEqual([
        "[1:22] failed to parse field [_id] of type [_id]. Preview of field's value: '{$oid=65f0}'",
        "[1:18] failed to parse field [_source] of type [_source]. Preview of field's value: '{a=1}'",
        "[1:12] failed to parse field [_source] of type [_source]. Preview of field's value: 'a'",
        "[1:8] failed to parse field [_id] of type [_id]. Preview of field's value: 'a'",
        '[1:2] Field name cannot contain only whitespace: [ ]',
        '[1:7] Field name cannot contain only whitespace: [a. ]',
        "[1:12] failed to parse field [_index] of type [_index]. Preview of field's value: '1'",
        "[1:8] failed to parse field [_id] of type [_id]. Preview of field's value: 'null'",
        "[1:16] failed to parse field [_type] of type [text]. Preview of field's value: '{a=1}'",
      ])
    })

    test('gzip and JSON arrays load as they are, numbers to their last digit', async () => {
      const index = newIndex()
      const json = '{"meta":{"rows":2},"hits":{"items":[{"id":"a","n":1234567890123456789},\n {"id":"b","n":1.50}]}}'
      const receipt = await ingest({
        ...base(),
        source: Readable.from([gzipSync(json)], { objectMode: false }),
        pick: 'hits.items',
        index,
        ids: 'field',
        idField: 'id',
      })
      expect(receipt).toMatchObject({ read: 2, created: 2 })
      expect(await world().source(index, 'a')).toBe('{"id":"a","n":1234567890123456789}')
      expect(await world().source(index, 'b')).toBe('{"id":"b","n":1.50}')
    })

    test('operation index updates what create would refuse as a conflict', async () => {
      const index = newIndex()
      const load = async (more: object) => {
        const source = [
          { id: 'x', v: 1 },
          { id: 'y', v: 1 },
        ]
        return await ingest({ ...base(), source, index, ids: 'field', idField: 'id', ...more })
      }
      expect(await load({})).toMatchObject({ created: 2 })
      expect(await load({})).toMatchObject({ created: 0, rejected: 2, rejections: [{ status: 409, documents: 2 }] })
      expect(await load({ onConflict: 'skip' })).toMatchObject({ created: 0, rejected: 0, skipped: 2 })
      expect(await load({ op: 'index' })).toMatchObject({ updated: 2, created: 0 })
    })

    test('the cluster makes the ids when it is asked to', async () => {
      const index = newIndex()
      expect(await ingest({ ...base(), source: documents(50), index, ids: 'cluster' })).toMatchObject({ created: 50 })
      expect(await ingest({ ...base(), source: documents(50), index, ids: 'cluster', op: 'index' })).toMatchObject({
        created: 50,
      })
      expect(await world().count(index)).toBe(100)
    })

    test('a pipeline that does not exist stops the run instead of filling the dead letters', async () => {
      const run = ingest({
        ...base(),
        source: documents(500),
        index: newIndex(),
        pipeline: 'no-such-pipeline',
        batchDocs: 100,
      })
      const { code, receipt } = await failureOf(run)
      expect(code).toBe('REQUEST_REFUSED')
      expect(receipt).toMatchObject({ created: 0, rejected: 0 })
    })

    test('gzip bodies store the same documents', async () => {
      const index = newIndex()
      expect(await ingest({ ...base(), source: documents(1000), index, compress: 'gzip' })).toMatchObject({
        created: 1000,
      })
      expect(await world().count(index)).toBe(1000)
    })

    test('a dry run reads everything and stores nothing', async () => {
      const index = newIndex()
      expect(await ingest({ ...base(), source: documents(10), index, dryRun: true })).toMatchObject({
        read: 10,
        unsent: 10,
        requests: 0,
      })
      expect(await world().count(index)).toBe(0)
    })
  })
}
