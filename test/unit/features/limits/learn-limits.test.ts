import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limitsPath, recallLimits, rememberLimits } from '../../../../src/features/limits/learn-limits.js'

const DAY = 86_400_000
const now = Date.UTC(2026, 10, 21)

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'limits-'))
  path = limitsPath(folder, 'uuid')
})
afterEach(async () => await rm(folder, { recursive: true }))

test('limits are there for seven days, for their owner alone', async () => {
  expect(await recallLimits(path, now)).toEqual({})
  await rememberLimits(path, { concurrency: 8, bodyBytes: 2_500_000 }, now)
  for (const later of [0, 7 * DAY]) {
    expect(await recallLimits(path, now + later)).toEqual({ concurrency: 8, bodyBytes: 2_500_000 })
  }
  expect(await recallLimits(path, now + 7 * DAY + 1)).toEqual({})
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(dirname(path))).mode & 0o777).toBe(0o700)
})

test('the newest counts, and nothing else is left in the folder', async () => {
  await rememberLimits(path, { concurrency: 8, bodyBytes: 2_500_000 }, now)
  await rememberLimits(path, { concurrency: 3 }, now)
  expect(await recallLimits(path, now)).toEqual({ concurrency: 3 })
  expect(await readdir(dirname(path))).toHaveLength(1)
})

test('each cluster has its own, and its name is not to be read from that of the file', async () => {
  const other = limitsPath(folder, 'https://user.example')
  expect(other).not.toBe(path)
  expect(other).toMatch(/\/limits\/[0-9a-f]{32}\.json$/)
  await rememberLimits(path, { concurrency: 8 }, now)
  expect(await recallLimits(other, now)).toEqual({})
})

test('a file that is broken is as if it were not there, and is replaced', async () => {
  await rememberLimits(path, { concurrency: 8 }, now)
  const whole = await readFile(path, 'utf8')
  const broken = [
    '',
    'null',
    '[]',
    whole.slice(0, 20),
    '{"version":2,"concurrency":8}',
    '{"version":1,"concurrency":8}',
  ]
  for (const concurrency of ['"8"', '0', '-1', '1.5', '1e99', 'null'])
    broken.push(whole.replace('"concurrency":8', `"concurrency":${concurrency}`))
  for (const text of broken) {
    await writeFile(path, text)
    expect(await recallLimits(path, now), text).toEqual({})
  }
  await rememberLimits(path, { concurrency: 5 }, now)
  expect(await recallLimits(path, now)).toEqual({ concurrency: 5 })
})

test('limits that cannot be written are left, without a word', async () => {
  await writeFile(join(folder, 'limits'), 'a file where the folder should be')
  await rememberLimits(path, { concurrency: 8 }, now)
  expect(await recallLimits(path, now)).toEqual({})
})
