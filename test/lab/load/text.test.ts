/** Text: each line is a document. Positions are those of the lines, as with NDJSON. */
import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, inferMapping, ingest } from '../../../src/index.js'
import { zipOf } from '../../support/facts/archives.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source, format: 'text', ...smallBatches(), ...more })
}

const stored = () =>
  lab.control.ids(index).map(id => JSON.parse(String(lab.control.source(index, id))) as Record<string, unknown>)
const messages = () =>
  stored()
    .map(({ message }) => String(message))
    .toSorted()

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `${String(from + at).padStart(5, '0')} GET "/\\x" {"n":1}`)
const text = (lines: readonly string[]) => lines.map(line => `${line}\n`).join('')

test('each line is a document, whatever is in it. Blank lines are none', async () => {
  const lines = [
    'plain',
    '{"n":1}',
    ' "a"\t\\b',
    '\u001fDOCUMENT_ROW_INVALID x\u001f[]',
    '\u0000\u001b[31m',
    'Grüße 😀',
    '[1',
  ]
  await writeFile(path('a.log'), `\ufeff${lines.join('\r\n')}\n\n  \nlast`)
  expect(await load(path('a.log'))).toMatchObject({ read: 10, created: 8, skipped: 2, rejected: 0 })
  expect(messages()).toEqual([...lines, 'last'].toSorted())
  expect(stored().every(document => Object.keys(document).join() === 'message')).toBe(true)
})

test('edits and functions change the document of a line', async () => {
  await writeFile(path('a.log'), 'one\ntwo\n')
  const transform = (document: Record<string, unknown>) =>
    document['event'] === 'two' ? null : { ...document, letters: String(document['event']).length }
  await load(path('a.log'), { edits: { set: { host: 'web-1' }, rename: { message: 'event' } }, transform })
  expect(stored()).toEqual([{ event: 'one', letters: 3, host: 'web-1' }])
})

test('a line that is not UTF-8 is a dead letter with its place', async () => {
  await writeFile(path('a.log'), Buffer.from('good\ngr\xfcn\nlast\n', 'latin1'))
  expect(await load(path('a.log'))).toMatchObject({ created: 2, rejected: 1 })
  const [letter = ''] = (await readFile(path('dead.ndjson'), 'utf8')).split('\n')
  expect(JSON.parse(letter)).toMatchObject({ type: 'DOCUMENT_NOT_JSON', origin: { document: 2, line: 2 } })
})

test.each([
  ['a.log.gz', () => gzipSync(text(numbered(50)))],
  [
    'a.zip',
    () =>
      zipOf([
        { name: 'a.log', data: text(numbered(20)) },
        { name: 'b.log', data: text(numbered(30, 20)) },
      ]),
  ],
  ['wide.log', () => Buffer.from(`\ufeff${text(numbered(50))}`, 'utf16le')],
])('is read from %s', async (name, bytes) => {
  await writeFile(path(name), bytes())
  expect(await load(path(name))).toMatchObject({ created: 50, rejected: 0 })
  expect(messages()).toEqual(numbered(50))
})

test('is read from stdin', async () => {
  const stdin = Readable.from([Buffer.from('one\ntw'), Buffer.from('o\nthree')], { objectMode: false })
  expect(await load('-', { stdin })).toMatchObject({ created: 3 })
  expect(messages()).toEqual(['one', 'three', 'two'])
})

test.each(['a.log', 'a.log.gz'])('an interrupted load continues at its line: %s', async name => {
  const lines = numbered(2000)
  await writeFile(path(name), name.endsWith('.gz') ? gzipSync(text(lines)) : text(lines))
  for (const after of [300, 900]) {
    const controller = new AbortController()
    const onEvent = (event: IngestEvent) => {
      if (event.type === 'progress' && event.counts.created >= after) controller.abort('test')
    }
    expect(await codeOf(load(path(name), { signal: controller.signal, onEvent }))).toMatch(/^RUN_INTERRUPTED/)
  }
  const { created, thisProcess } = await load(path(name))
  expect(created).toBe(2000)
  expect(thisProcess.read).toBeLessThan(1500)
  expect(messages()).toEqual(lines)
})

test('of a file that has grown only new lines are loaded, also if its last line had no end, and a renamed one is known', async () => {
  await writeFile(path('a.log'), 'one\ntwo')
  await load(path('a.log'))
  expect(await load(path('a.log'))).toMatchObject({ read: 0 })
  await appendFile(path('a.log'), '\nthree\n')
  expect(await load(path('a.log'))).toMatchObject({ read: 2, created: 1, skipped: 1 })
  await rename(path('a.log'), path('b.log'))
  expect(await load(path('b.log'))).toMatchObject({ read: 0 })
  expect(messages()).toEqual(['one', 'three', 'two'])
})

test('if a last line without an end grows, its rest is a document of its own', async () => {
  await writeFile(path('a.log'), 'one\ntwo')
  await load(path('a.log'))
  await appendFile(path('a.log'), ' and more\nthree\n')
  expect(await load(path('a.log'))).toMatchObject({ read: 2, created: 2 })
  expect(messages()).toEqual([' and more', 'one', 'three', 'two'])
})

test('cannot be followed, has nothing to pick, and is no table', async () => {
  await writeFile(path('a.log'), 'one\n')
  for (const more of [{ follow: true }, { pick: 'a' }, { csv: { inferTypes: true } }])
    expect(await codeOf(load(path('a.log'), more))).toMatch(/^OPTION_INVALID/)
  expect(await inferMapping({ source: path('a.log'), format: 'text' })).toMatchObject({ documents: 1 })
})
