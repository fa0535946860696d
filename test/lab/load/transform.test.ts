import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, ingest, replay, verify } from '../../../src/index.js'
import { eventually } from '../../support/eventually.js'
import { codeOf } from '../../support/lab/run-world.js'
import { checkpoint, index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), ...more })
}

const ids = () => lab.control.ids(index).toSorted()
const stored = () => ids().map(id => String(lab.control.source(index, id)))
const deadLetters = async () =>
  (await readFile(path('dead.ndjson'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)

/** Leaves every fifth document out, makes three of every seventh, rejects every eleventh, and keeps the others. */
const shape = `export default ({ n, ...rest }, { file, path, line }) => {
  if (n % 11 === 0) throw new RangeError('n is ' + n)
  if (n % 5 === 0) return null
  const document = { n, ...rest, at: file + ':' + line }
  return n % 7 === 0 ? [document, { ...document, part: 2 }, { ...document, part: 3 }] : document
}
`
const lines = (count: number, from = 1) =>
  Array.from({ length: count }, (_, at) => `{"n":${from + at},"v":1.0,"big":9007199254740993}\n`).join('')

/** What the function makes of lines 1 to `count`, by the numbers that ids end with. */
function expected(count: number, file: string): Map<string, string> {
  const documents = new Map<string, string>()
  for (let n = 1; n <= count; n += 1) {
    if (n % 11 === 0 || n % 5 === 0) continue
    const text = (part = '') => `{"n":${n},"v":1.0,"big":9007199254740993,"at":"${file}:${n}"${part}}`
    documents.set(String(n), text())
    for (const part of n % 7 === 0 ? [2, 3] : []) documents.set(`${n}.${part}`, text(`,"part":${part}`))
  }
  return documents
}

/** Stored documents by what their ids end with. */
function found(): Map<string, string> {
  return new Map(
    ids().map((id): [string, string] => [id.slice(id.indexOf('-') + 1), String(lab.control.source(index, id))]),
  )
}

describe('a function', () => {
  test('in a module leaves documents out, makes several, and rejects, and every line is accounted for', async () => {
    await writeFile(path('shape.mjs'), shape)
    await writeFile(path('a.ndjson'), `${lines(100)}\nno JSON\n\u001d+{"n":1}\n`)
    const receipt = await load(path('a.ndjson'), { transform: path('shape.mjs') })
    const made = expected(100, 'a.ndjson')
    const rejected = 9
    const leftOut = 19
    expect(receipt).toMatchObject({ created: made.size, rejected: rejected + 2, skipped: leftOut + 1, unsent: 0 })
    expect(receipt.read).toBe(made.size + rejected + 2 + leftOut + 1)
    expect(found()).toEqual(made)
    const letters = await deadLetters()
    expect(letters.at(0)).toMatchObject({
      type: 'DOCUMENT_NOT_TRANSFORMED',
      reason: 'not transformed: the function threw RangeError: n is 11 (line 2 of the module)',
      line: '{"n":11,"v":1.0,"big":9007199254740993}',
      origin: { document: 11, line: 11 },
    })
    expect(letters.slice(-2).map(({ type, origin }) => [type, (origin as { line: number }).line])).toEqual([
      ['DOCUMENT_NOT_JSON', 102],
      ['DOCUMENT_NOT_JSON', 103],
    ])
  })

  test('of a program sees documents of every format, after the edits, and decides ids, routing and indices', async () => {
    await writeFile(path('a.csv'), 'id,secret\n1,x\n')
    await writeFile(path('b.json'), '[\n{"id":"2",\n"secret":[{}]}]')
    await writeFile(path('d.ndjson.gz'), gzipSync('{"secret":"","id":"4"}'))
    const receipt = await load([path('a.csv'), path('b.json'), path('d.ndjson.gz')], {
      edits: { drop: ['secret'] },
      ids: 'field',
      idField: 'key',
      routingField: 'key',
      index: `${index}-{kind}`,
      transform: async ({ id, ...rest }, { line, file }) =>
        await Promise.resolve({ ...rest, key: `k${String(id)}`, kind: file.slice(0, 1), line }),
    })
    expect(receipt).toMatchObject({ created: 3, rejected: 0 })
    const source = (name: string, id: string) => String(lab.control.source(`${index}-${name}`, id))
    expect(source('a', 'k1')).toBe('{"key":"k1","kind":"a","line":1}')
    expect(source('b', 'k2')).toBe('{"key":"k2","kind":"b","line":1}')
    expect(source('d', 'k4')).toBe('{"key":"k4","kind":"d","line":1}')
  })

  test('keeps the ids of a dump, and makes only one document of one id', async () => {
    const action = '{"index":{"_id":"own"}}\n{"n":1}\n{"create":{}}\n{"n":2}\n{"index":{"_id":"two"}}\n{"n":3}\n'
    await writeFile(path('c.ndjson'), `${action}{"delete":{"_id":"gone"}}\n`)
    const transform = (document: object) => ('n' in document && document.n === 1 ? document : [document, { m: 1 }])
    const receipt = await load(path('c.ndjson'), { transform })
    expect(receipt).toMatchObject({ created: 3, notFound: 1, rejected: 1 })
    expect(stored().toSorted()).toEqual(['{"m":1}', '{"n":1}', '{"n":2}'])
    expect((await deadLetters())[0]).toMatchObject({
      type: 'DOCUMENT_NOT_TRANSFORMED',
      reason: 'not transformed: the function returned several documents, but the line has the id of one',
    })
  })

  test.each(['', '.gz'])(
    'survives an interruption%s in the middle of a line: no document twice, none lost',
    { tags: 'long' },
    async end => {
      await writeFile(
        path('shape.mjs'),
        `export default document => Array.from({ length: 25 }, (_, part) => ({ ...document, part }))`,
      )
      const file = path(`a.ndjson${end}`)
      const text = '{"n":1}\n{"n":2}\n{"n":3}\n{"n":4}'
      await writeFile(file, end === '' ? text : gzipSync(text))
      const given = { transform: path('shape.mjs'), batchDocs: 10, concurrency: 1 }
      const controller = new AbortController()
      const onEvent = (event: IngestEvent) => {
        if (event.type === 'progress' && event.counts.created >= 30) controller.abort('test')
      }
      expect(await codeOf(load(file, { ...given, signal: controller.signal, onEvent }))).toMatch(/^RUN_INTERRUPTED/)
      const { inputs } = await checkpoint()
      // The mark is in the middle of a line.
      expect(inputs[0]?.mark).toMatchObject({ kind: 'lines', within: expect.any(Number) })
      const receipt = await load(file, given)
      expect(receipt).toMatchObject({ status: 'finished', read: 100, created: 100, duplicate: 0 })
      expect(receipt.thisProcess.read).toBeLessThan(100)
      const numbers = [1, 2, 3, 4].flatMap(n =>
        Array.from({ length: 25 }, (_, at) => (at === 0 ? `${n}` : `${n}.${at + 1}`)),
      )
      expect([...found().keys()].toSorted()).toEqual(numbers.toSorted())
      expect(await load(file, given)).toMatchObject({ read: 0 })
    },
  )

  test('gets a last line without a line end again when it has grown, under the same ids', async () => {
    await writeFile(path('a.ndjson'), '{"n":1}\n{"n":2}')
    const given = { transform: (document: object) => [document, { more: true }], op: 'index' } as const
    expect(await load(path('a.ndjson'), given)).toMatchObject({ read: 4, created: 4 })
    await appendFile(path('a.ndjson'), '\n{"n":3}\n')
    expect(await load(path('a.ndjson'), given)).toMatchObject({ read: 2, created: 2 })
    expect([...found().keys()]).toEqual(['1', '1.2', '2', '2.2', '3', '3.2'])
  })

  test('that is another one counts for new lines, and ids are not known without it', { tags: 'long' }, async () => {
    await writeFile(path('shape.mjs'), shape)
    await writeFile(path('a.ndjson'), lines(3))
    const given = { transform: path('shape.mjs') }
    const { run } = await load(path('a.ndjson'), given)
    await writeFile(path('shape.mjs'), `${shape}// another\n`)
    expect(await load(path('a.ndjson'), given)).toMatchObject({ read: 0, exit: 0 })
    await writeFile(path('a.ndjson'), lines(4))
    expect(await load(path('a.ndjson'), given)).toMatchObject({ read: 1, exit: 0 })
    expect(await codeOf(verify({ ...way(), run, stateDir: path('state') }))).toMatch(/^RUN_IDS_UNKNOWN/)
  })

  test('that failed is not called by a replay', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), '{"n":11}\n')
    await load(path('a.ndjson'), { transform: () => 7 as unknown as object })
    const again = () => replay({ ...way(), source: path('dead.ndjson'), deadLetters: path('again.ndjson') })
    expect(await again()).toMatchObject({ created: 0, rejected: 1 })
    const [record] = await deadLetters()
    await writeFile(path('dead.ndjson'), `${JSON.stringify({ ...record, document: { n: 12 } })}\n`)
    expect(await again()).toMatchObject({ created: 1, rejected: 0 })
  })

  test('runs in a dry run, which sends nothing', async () => {
    await writeFile(path('a.ndjson'), lines(10))
    const receipt = await load(path('a.ndjson'), {
      transform: ({ n }) => (n === 1 ? null : [{ n }, { n }]),
      dryRun: true,
    })
    expect(receipt).toMatchObject({ read: 19, unsent: 18, skipped: 1 })
    expect(ids()).toEqual([])
  })
})

describe('a hostile module', () => {
  test.each([
    ['a path without a file', undefined, /^TRANSFORM_NOT_LOADED: .*cannot be read \(ENOENT\)/],
    ['no function', 'export const shape = 1', /^TRANSFORM_NOT_LOADED: .*its default export is not a function/],
    ['a syntax error', 'export default (', /^TRANSFORM_NOT_LOADED: .*SyntaxError/],
    ['an error', 'throw new Error("no")', /^TRANSFORM_NOT_LOADED: .*Error: no/],
    ['an exit', 'process.exit(3)', /^TRANSFORM_NOT_LOADED: .*it ended its thread with exit code 3/],
  ])('with %s is refused before anything is sent', async (_, code, message) => {
    if (code !== undefined) await writeFile(path('shape.mjs'), code)
    await writeFile(path('a.ndjson'), lines(3))
    expect(await codeOf(load(path('a.ndjson'), { transform: path('shape.mjs') }))).toMatch(message)
    expect(ids()).toEqual([])
  })

  test('that prints, and answers at any time, disturbs nothing', { tags: 'long' }, async () => {
    const code = `export default async document => {
      if (document.n % 1000 === 0) console.log('printed')
      if (document.n % 50 === 0) await new Promise(setImmediate)
      return document
    }`
    await writeFile(path('shape.mjs'), code)
    await writeFile(path('a.ndjson'), lines(8000))
    using printed = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
    const receipt = await load(path('a.ndjson'), {
      transform: path('shape.mjs'),
      batchDocs: 5000,
      batchBytes: 1_000_000,
    })
    expect(receipt).toMatchObject({ read: 8000, created: 8000 })
    expect(found().get('7777')).toBe('{"n":7777,"v":1.0,"big":9007199254740993}')
    await eventually(() => expect(printed.mock.calls.map(([text]) => String(text)).join('')).toContain('printed'))
  })
})
