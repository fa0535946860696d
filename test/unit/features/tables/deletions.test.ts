import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deletionsPath, lastComparison } from '../../../../src/features/tables/deletions.js'
import { makeFolder } from '../../../../src/base/disk/safe-files.js'
import type { FoundRun } from '../../../../src/run/state/resume/find-run.js'
import { limitOf } from '../../../../src/features/tables/reconcile.js'

const AT = '2026-11-21T10:00:00.000Z'

let state: string
let run: string
let path: string
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'deletions-'))
  run = join(state, 'runs', 'first.jsonl')
  path = deletionsPath(run, 'abc')
})
afterEach(async () => await rm(state, { recursive: true }))

async function last(indexUuid?: string, isIndexMissing = false) {
  const found: unknown = { path: run, key: 'abc', target: { indexUuid }, isIndexMissing }
  return await lastComparison(found as FoundRun)
}

test('the time of a comparison is remembered beside the runs, for the same index and all runs of a command', async () => {
  await (await last('one')).remember(AT)
  run = join(state, 'runs', 'second.jsonl')
  expect(path).toBe(join(state, 'deletions', 'abc.json'))
  expect((await last('one')).at).toBe(AT)
  expect((await last()).at).toBe(AT)
  expect((await last('two')).at).toBeUndefined()
  expect((await last('one', true)).at).toBeUndefined()
})

test('a command whose index was not known once keeps the index that it knows', async () => {
  await (await last('one')).remember(AT)
  await (await last()).remember('2026-11-22T10:00:00.000Z')
  expect((await last('two')).at).toBeUndefined()
  expect((await last('one')).at).toBe('2026-11-22T10:00:00.000Z')
})

test('a load without a checkpoint remembers nothing', async () => {
  const found: unknown = { path: undefined, target: {}, isIndexMissing: false }
  const none = await lastComparison(found as FoundRun)
  await none.remember(AT)
  expect(none.at).toBeUndefined()
})

test.each(['no JSON', '[]', `{"version":2,"reconciled":"${AT}"}`, '{"version":1,"reconciled":"soon"}'])(
  'what cannot be read is as if it were not there: %s',
  async text => {
    await makeFolder(dirname(path))
    await writeFile(path, text)
    expect((await last('one')).at).toBeUndefined()
  },
)

test('a list that cannot be written is left', async () => {
  await writeFile(join(state, 'deletions'), 'a file')
  await (await last('one')).remember(AT)
  expect((await last('one')).at).toBeUndefined()
  expect(await readFile(join(state, 'deletions'), 'utf8')).toBe('a file')
})

test('a share of few documents still allows one', () => {
  expect([0, 1, 9, 10, 11, 1000].map(documents => limitOf('10%', documents))).toEqual([0, 1, 1, 1, 2, 100])
  expect([limitOf('0%', 50), limitOf('100%', 50), limitOf(7, 50)]).toEqual([0, 50, 7])
})
