import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deletionsPath, recallDeletions, rememberDeletions } from '../../../src/tables/deletions-file.js'
import { makeFolder } from '../../../src/disk/folders.js'
import { limitOf } from '../../../src/tables/reconcile.js'

let state: string
let path: string
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'deletions-'))
  path = deletionsPath(join(state, 'runs', 'abc.json'))
})
afterEach(async () => await rm(state, { recursive: true }))

test('what is remembered is recalled, beside the checkpoints', async () => {
  const followed = { audited: '2026-11-21 10:00:00', classes: ['task', 'incident'], index: 'u' }
  await rememberDeletions(path, followed)
  expect(path).toBe(join(state, 'deletions', 'abc.json'))
  expect(await recallDeletions(path)).toEqual(followed)
  await rememberDeletions(path, { reconciled: '2026-11-21T10:00:00.000Z' })
  expect(await recallDeletions(path)).toEqual({ reconciled: '2026-11-21T10:00:00.000Z' })
})

test.each([
  'no JSON',
  '[]',
  '{"version":2,"audited":"2026-11-21 10:00:00"}',
  '{"version":1,"audited":"yesterday","classes":[1],"reconciled":"soon"}',
])('what cannot be read is as if it were not there: %s', async text => {
  await makeFolder(dirname(path))
  await writeFile(path, text)
  expect(await recallDeletions(path)).toEqual({})
})

test('what cannot be written is left', async () => {
  await writeFile(join(state, 'deletions'), 'a file')
  await rememberDeletions(path, { classes: [] })
  expect(await recallDeletions(path)).toEqual({})
  expect(await readFile(join(state, 'deletions'), 'utf8')).toBe('a file')
})

test('a share of few documents still allows one', () => {
  expect([0, 1, 9, 10, 11, 1000].map(documents => limitOf('10%', documents))).toEqual([0, 1, 1, 1, 2, 100])
  expect([limitOf('0%', 50), limitOf('100%', 50), limitOf(7, 50)]).toEqual([0, 50, 7])
})
