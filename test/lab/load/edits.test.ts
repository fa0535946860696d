import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  ingest,
  isSluiceError,
  replay,
} from '../../../src/index.js'
import { codeOf } from '../../support/lab/run-world.js'
import { checkpoint, index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), ...more })
}

const text = (id: string) => String(lab.control.source(index, id))
const ids = () => lab.control.ids(index)
const stored = () => ids().map(text)
const deadLetters = async () =>
  (await readFile(path('dead.ndjson'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

const edits = {
  set: { '@timestamp': '{now}', from: '{file}:{line}', 'meta.n': { json: '1234567890123456789' } },
  drop: ['secret'],
  rename: { nr: 'id' },
} as const

/** Lines of different lengths, so that each has an offset of its own. */
const lines = (count: number, from = 1) =>
  Array.from({ length: count }, (_, at) => `{"nr": ${from + at}, "secret":"${'x'.repeat(at % 7)}", "v":1.0}\n`).join('')

describe('edits', () => {
  test('change only the fields that they name, and ids come from the edited document', async () => {
    await writeFile(path('a.ndjson'), '\n{"nr":9007199254740993, "secret" : 1 ,"v": 1.0 , "meta":{ }}\n')
    const receipt = await load(path('a.ndjson'), { edits, ids: 'field', idField: 'id' })
    expect(receipt).toMatchObject({ status: 'finished', read: 2, created: 1, skipped: 1 })
    const now = (await checkpoint()).began
    const meta = '{ "n":1234567890123456789}'
    expect(text('9007199254740993')).toBe(
      `{"id":9007199254740993,"v": 1.0 , "meta":${meta},"@timestamp":"${now}","from":"a.ndjson:2"}`,
    )
  })

  test('reach documents of every format', async () => {
    await writeFile(path('a.csv'), 'id,secret\n1,x\n')
    await writeFile(path('b.json'), '[\n{"id":"2",\n"secret":[{}]}]')
    await writeFile(path('c.ndjson'), '{"index":{"_id":"own"}}\n{"id":"3","secret":null}\n{"delete":{"_id":"other"}}\n')
    await writeFile(path('d.ndjson.gz'), gzipSync('{"secret":"","id":"4"}'))
    const source = [path('a.csv'), path('b.json'), path('c.ndjson'), path('d.ndjson.gz')]
    const receipt = await load(source, { edits: { drop: ['secret'], set: { line: { json: '{line}' } } } })
    expect(receipt).toMatchObject({ created: 4, rejected: 0 })
    expect(stored().toSorted()).toEqual([
      '{"id":"1","line":1}',
      '{"id":"2","line":1}',
      '{"id":"3","line":1}',
      '{"id":"4","line":1}',
    ])
    expect(text('own')).toBe('{"id":"3","line":1}')
  })

  test('that cannot be made, and broken lines, are dead letters as they were read', async () => {
    await writeFile(
      path('a.ndjson'),
      '{"nr":1,"id":2}\n{"nr":2,"v":}\n\u001fx\u001f{"nr":3}\n{"nr":4,"v":1}\n{"nr":5,"v":{"w":1}}\n',
    )
    const receipt = await load(path('a.ndjson'), { edits })
    expect(receipt).toMatchObject({ read: 5, created: 1, rejected: 4 })
    const found = await deadLetters()
    expect(found.map(({ type, line, origin }) => [type, line, (origin as { line: number }).line])).toEqual([
      ['DOCUMENT_NOT_EDITED', '{"nr":1,"id":2}', 1],
      ['DOCUMENT_NOT_JSON', '{"nr":2,"v":}', 2],
      ['DOCUMENT_NOT_JSON', '\u001fx\u001f{"nr":3}', 3],
      ['document_parsing_exception', undefined, 5],
    ])
    expect(found[0]?.['reason']).toBe("not edited: it has both 'nr' and 'id', so the first cannot be renamed")
    // What the index rejects is kept as it was sent.
    expect(found[3]?.['document']).toMatchObject({ id: 5, from: 'a.ndjson:5' })
  })

  test('that could not be made are not made by a replay', async () => {
    await writeFile(path('a.ndjson'), '{"nr":1,"id":2}\n')
    await load(path('a.ndjson'), { edits })
    const again = () => replay({ ...way(), source: path('dead.ndjson'), deadLetters: path('again.ndjson') })
    expect(await again()).toMatchObject({ created: 0, rejected: 1 })
    const [record] = await deadLetters()
    await writeFile(path('dead.ndjson'), `${JSON.stringify({ ...record, document: { id: 2 } })}\n`)
    expect(await again()).toMatchObject({ created: 1, rejected: 0 })
    expect(stored()).toEqual(['{"id":2}'])
  })

  test.each([
    ['', ''],
    ['.gz', 'gzip'],
  ])(
    'survive an interruption%s: each document is stored once, with the time of the first start',
    { tags: 'long' },
    async end => {
      const pack = (given: string) => (end === '' ? given : gzipSync(given))
      await writeFile(path(`a.ndjson${end}`), pack(`${lines(120)}\nnot json\n${lines(180, 121)}`))
      const controller = new AbortController()
      const onEvent = (event: IngestEvent) => {
        if (event.type === 'progress' && event.counts.created >= 60) controller.abort('test')
      }
      const cut = load(path(`a.ndjson${end}`), { edits, signal: controller.signal, onEvent })
      expect(await codeOf(cut)).toMatch(/^RUN_INTERRUPTED/)
      const { began, inputs } = await checkpoint()
      // The mark is one of the input, not of the edited lines.
      const { document, line, offset, kind } = inputs[0]?.mark ?? {}
      const before = `${lines(120)}\nnot json\n${lines(180, 121)}`.slice(0, offset)
      expect([kind, before.at(-1), before.split('\n').length]).toEqual(['lines', '\n', line])
      expect(document).toBeGreaterThan(60)
      await rename(path(`a.ndjson${end}`), path(`b.ndjson${end}`))
      const receipt = await load(path(`b.ndjson${end}`), { edits })
      expect(receipt).toMatchObject({ status: 'finished', read: 302, rejected: 1, skipped: 1 })
      expect(receipt.thisProcess.read).toBeLessThan(302)
      const documents = stored().map(one => JSON.parse(one) as Record<string, unknown>)
      expect(documents.map(({ id }) => id).toSorted((a, b) => Number(a) - Number(b))).toEqual(
        Array.from({ length: 300 }, (_, at) => at + 1),
      )
      for (const one of documents) {
        const n = Number(one['id'])
        expect(one).toMatchObject({ '@timestamp': began, from: `a.ndjson${end}:${n <= 120 ? n : n + 2}` })
        expect(one).not.toHaveProperty('secret')
      }
    },
  )

  test('of new lines are those of a run of its own, and a last line without a line end grows', async () => {
    await writeFile(path('a.ndjson'), '{"n":1}\n{"n":2}')
    const given = { edits: { set: { line: { json: '{line}' } } } } as const
    expect(await load(path('a.ndjson'), given)).toMatchObject({ read: 2, created: 2 })
    await appendFile(path('a.ndjson'), '\n{"n":3}\n')
    expect(await load(path('a.ndjson'), given)).toMatchObject({ read: 1, created: 1 })
    expect(stored().toSorted()).toEqual(['{"n":1,"line":1}', '{"n":2,"line":2}', '{"n":3,"line":3}'])
  })

  test('may change for the lines that come later, which is said', async () => {
    await writeFile(path('a.ndjson'), '{"n":1}\n{"n":2}\n')
    await load(path('a.ndjson'), { edits: { set: { env: 'test' } } })
    await appendFile(path('a.ndjson'), '{"n":3}\n')
    const said: string[] = []
    const onEvent = (event: IngestEvent) => {
      if (event.type === 'preflight') said.push(...event.notes)
    }
    const prod = { edits: { set: { env: 'prod' } }, onEvent }
    expect(await load(path('a.ndjson'), prod)).toMatchObject({ read: 1, created: 1, exit: 0 })
    expect(said.join()).toContain('set was {"env":"test"} but is now {"env":"prod"}. Its new lines get the new options')
    said.length = 0
    await appendFile(path('a.ndjson'), '{"n":4}\n')
    expect(await load(path('a.ndjson'), prod)).toMatchObject({ read: 1, created: 1, exit: 0 })
    expect(said.join()).not.toContain('Its new lines get the new options')
    const stored = lab.control
      .ids(index)
      .map(id => JSON.parse(String(lab.control.source(index, id))) as { n: number; env: string })
    expect(stored.toSorted((a, b) => a.n - b.n).map(({ env }) => env)).toEqual(['test', 'test', 'prod', 'prod'])
    expect(await load(path('a.ndjson'))).toMatchObject({ read: 0, exit: 0 })
  })

  test.each([
    [{ set: { 'a.b': 1, a: 2 } }, "edits.set: sets 'a.b' and also a field that holds it"],
    [{ set: { a: '{time}' } }, 'edits.set: has {time}, which Sluice does not know'],
    [{ set: { a: 2 ** 53 } }, 'edits.set: has a number that JavaScript cannot hold exactly'],
    [{ set: { a: { json: '01' } } }, 'edits.set: has a value after := that is not JSON'],
    [{ drop: ['a..b'] }, 'edits.drop: has a field without a name'],
    [{ rename: { a: 'b', c: 'b' } }, "edits.rename: gives two fields the name 'b'"],
    [{ rename: { a: 'b' }, set: { 'b.c': 1 } }, "edits.rename: writes 'b', and edits.set writes 'b.c'"],
    [{ rename: { a: 'b' }, keep: ['b'] }, "edits.rename: renames 'a', which is not in edits.keep"],
    [{ rename: { 'a.b': 'c' }, drop: ['a.b.d'] }, "edits.rename: moves 'a.b' to another place"],
  ])('%j are refused', async (given, message) => {
    const error: unknown = await load([{ a: 1 }], { edits: given }).catch((why: unknown) => why)
    expect(isSluiceError(error) && error.message).toContain(message)
  })
})
