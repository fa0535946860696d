/** Inputs that are known by their lines, in whatever packing. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Lines, Source } from '../../../../../src/base/flow.js'
import { fileStat } from '../../../../../src/base/checksum/checksum.js'
import { decode } from '../../../../../src/pipeline/format/decode.js'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { StoredInput } from '../../../../../src/pipeline/source/stored-file.js'
import { type Checkpoint, type CheckpointInput, START } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import { ContentSum, isStoredAsLines, identityOf } from '../../../../../src/run/state/inputs/content.js'
import { recognise } from '../../../../../src/run/state/inputs/recognise.js'
import { tableOf } from '../../../../support/load/file-table.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'content-index-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

const at = (name: string) => join(folder, name)
const rows = (count: number, from = 1) => Array.from({ length: count }, (_, n) => `{"n":${from + n}}\n`).join('')

async function find(name: string): Promise<StoredInput> {
  return new StoredInput(0, tableOf(folder, name, fileStat(await stat(at(name)))))
}

let opened = 0
async function linesOf(source: Source): Promise<Lines> {
  opened += 1
  return await decode(source, source.open(new AbortController().signal), { format: 'auto' })
}

/** Loads a file, and returns what its run keeps of it, as Sluice does now or did before it knew contents. */
async function loaded(
  name: string,
  text: string | Uint8Array,
  version: 'now' | 'older' = 'now',
): Promise<CheckpointInput> {
  await writeFile(at(name), text)
  const source = await find(name)
  const lines = await linesOf(source)
  const sum = new ContentSum(lines.at)
  let count = 0
  for await (const chunk of sum.of(lines.bytes)) count += chunk.filter(byte => byte === 10).length
  const head = source.reading?.head
  const own = isStoredAsLines(lines, source) ? (head === undefined ? undefined : { head }) : sum.identity()
  const { bytes } = sum
  const mark = { ...START, kind: lines.kind, document: count + 1, line: count + 1, offset: lines.at + bytes }
  const file = identityOf(source)
  const content = own === undefined || version === 'older' ? {} : { content: own }
  await rm(at(name))
  return { id: 1, name, token: name, status: 'finished', mark, read: count, hasStored: true, file, ...content }
}

function run(...inputs: CheckpointInput[]): Checkpoint {
  const target = { url: 'https://c', index: 'i' }
  const whole = { status: 'finished', began: '1', written: '1', target, scope: 'i', key: 'k', sources: [] } as const
  return { run: '1', ...whole, options: {}, isDoubtful: false, inputs, left: 0, counts: nothing, rejections: [] }
}

async function seen(input: CheckpointInput, name: string, text: string | Uint8Array) {
  await writeFile(at(name), text)
  const [one] = await recognise([await find(name)], [run(input)], { linesOf })
  return one?.kind === 'known' ? (one.packed?.isWhole === false ? 'more' : 'same') : 'new'
}

const array = (count: number) => `[${Array.from({ length: count }, (_, n) => `{"n":${n + 1}}`).join(',')}]`

test.each([
  ['a.ndjson', rows(40), 'a.ndjson.gz', gzipSync(rows(40)), 'same'],
  ['a.ndjson', rows(40), 'a.ndjson.1.gz', gzipSync(rows(60)), 'more'],
  ['a.ndjson.gz', gzipSync(rows(40)), 'a.ndjson', rows(40), 'same'],
  ['a.ndjson.gz', gzipSync(rows(40)), 'b.ndjson', rows(60), 'more'],
  ['a.ndjson.gz', gzipSync(rows(40), { level: 1 }), 'b.ndjson.gz', gzipSync(rows(50), { level: 9 }), 'more'],
  ['a.json', array(30), 'b.json.gz', gzipSync(array(31)), 'more'],
  ['a.ndjson', `\ufeff${rows(40)}`, 'b.ndjson.gz', gzipSync(rows(40)), 'same'],
  ['a.ndjson', rows(2), 'b.ndjson.gz', gzipSync(rows(3)), 'more'],
])('%s is found again', async (was, text, name, now, expected) => {
  expect(await seen(await loaded(was, text), name, now)).toBe(expected)
})

test.each([
  ['one line less', rows(40), gzipSync(rows(39))],
  ['another line in the middle', rows(40), gzipSync(rows(40).replace('{"n":20}', '{"n":99}'))],
  ['another end, and the same beginning', rows(40), gzipSync(rows(39) + rows(1, 99))],
  ['broken gzip', rows(40), gzipSync(rows(40)).subarray(0, 40)],
  ['nothing', rows(40), gzipSync('')],
])('a file with %s is new', async (_, text, now) => {
  expect(await seen(await loaded('a.ndjson', text), 'b.ndjson.gz', now)).toBe('new')
})

test.each([
  ['app.log', rows(1), 'app.log.1.gz', gzipSync(rows(5))],
  ['app.log', '1\n', 'b.log.gz', gzipSync('1\n2\n')],
  ['a.log.gz', gzipSync(rows(1)), 'b.log.gz', gzipSync(rows(2))],
  ['2026.log.gz', gzipSync(rows(1)), '2026.log.1.gz', gzipSync(rows(2))],
  ['2026.log', '{"n":1}', '2026.log.1.gz', gzipSync(rows(2))],
])('one line is enough: %s is found again', async (was, text, name, now) => {
  expect(await seen(await loaded(was, text), name, now)).toBe('more')
})

test('a state without first bytes is compared only among names of one series', async () => {
  const older = await loaded('app.log', rows(100), 'older')
  expect(await seen(older, 'app.log.1.gz', gzipSync(rows(120)))).toBe('more')
  expect(await seen(older, 'other.log.gz', gzipSync(rows(120)))).toBe('new')
})

test('a new file whose first bytes no input has is not decoded', async () => {
  const before = await loaded('a.ndjson', rows(100))
  opened = 0
  expect(await seen(before, 'b.ndjson', rows(100, 500))).toBe('new')
  expect(opened).toBe(0)
})
