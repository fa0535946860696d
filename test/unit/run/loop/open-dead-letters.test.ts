import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Source, StoredFile } from '../../../../src/base/flow.js'
import { loadOf } from '../../../../src/options/read-options.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { openDeadLetters } from '../../../../src/run/loop/open-dead-letters.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dead-letters-'))
  await writeFile(join(folder, 'in.ndjson'), '{}\n')
})
afterEach(async () => await rm(folder, { recursive: true }))

/** Returns whether the dead letter of a long document of this input points to a file. */
async function points(make: (plain: Source) => Partial<Source>, filesStay = true): Promise<string | undefined> {
  const path = join(folder, 'in.ndjson')
  const [plain] = await findSources({ files: [path] }, {})
  if (plain === undefined) throw new Error('no input was found')
  const { id, name, file } = plain
  const open = () => plain.open(new AbortController().signal)
  const source: Source = { id, name, ...(file === undefined ? {} : { file }), open, ...make(plain) }
  const deadLetters = join(folder, 'dead.ndjson')
  const target = { url: 'http://127.0.0.1:9' }
  const { documents } = loadOf({ target, index: 'i', source: path, deadLetters }, { from: 'run' })
  await using letters = await openDeadLetters(documents, { dryRun: false, sources: [source], run: 'r', filesStay })
  const document = Buffer.from(`{"a":"${'x'.repeat(1 << 20)}"}`)
  const origin = { input: name, document: 1, line: 1, offset: 0 }
  const why = { status: 400, type: 'x', reason: 'r', attempts: 1 }
  await letters.append([{ document, operation: 'create', ...why, origin }])
  const { origin: kept } = JSON.parse(await readFile(deadLetters, 'utf8')) as {
    readonly origin: { readonly stored?: { readonly file: string } }
  }
  return kept.stored?.file
}

/** The same file with other facts. */
function withFile(facts: Readonly<Record<string, unknown>>): (plain: Source) => Partial<Source> {
  return ({ file }) => {
    const made = Object.create(file ?? null) as StoredFile
    for (const [name, value] of Object.entries(facts)) Object.defineProperty(made, name, { value })
    return { file: made }
  }
}

test('a long document of a plain file is read from it again', async () => {
  expect(await points(() => ({}))).toBe(join(folder, 'in.ndjson'))
})

test.each<[string, (plain: Source) => Partial<Source>]>([
  ['a copy of stdin, which Sluice deletes', () => ({ copy: { id: 'c', of: '-', grows: false } })],
  [
    'a table, which is read by its changes',
    () => ({ cursor: { selection: {}, placeAt: () => ({}), after: end => end } }),
  ],
  ['a file that is followed, and may be deleted', withFile({ isReadOnce: true })],
  ['an object on a server', withFile({ path: 's3://bucket/in.ndjson' })],
  ['a range of a job, whose workers may run on other machines', () => ({ seen: 'size 3' })],
])('a long document is kept whole: %s', async (_, make) => {
  expect(await points(make)).toBeUndefined()
})

test('a long document is kept whole if the run deletes its files', async () => {
  expect(await points(() => ({}), false)).toBeUndefined()
})
