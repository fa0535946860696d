import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RangeLetters } from '../../../../../src/programs/jobs/range/range-letters.js'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sluice-letters-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a worker whose ranges have none needs no folder of the job', async () => {
  const place = join(folder, 'job')
  await using letters = new RangeLetters(place)
  expect(existsSync(await letters.newFile('a'))).toBe(false)
  expect(existsSync(place)).toBe(false)
})

test('two workers with the same range write files of their own, and the last one stays whole', async () => {
  const place = join(folder, 'job')
  await using one = new RangeLetters(place)
  await using other = new RangeLetters(place)
  const [first, second] = [await one.newFile('a'), await other.newFile('a')]
  writeFileSync(first, 'first\n')
  writeFileSync(second, 'second\n')
  await one.keep('a', first)
  expect(readFileSync(await other.keep('a', second), 'utf8')).toBe('second\n')
  expect(readdirSync(place)).toEqual(['a.ndjson'])
})

test('a folder that cannot be made is named', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await using letters = new RangeLetters(join(file, 'job'))
  const written = await letters.newFile('a')
  writeFileSync(written, 'letter\n')
  await expect(letters.keep('a', written)).rejects.toMatchObject({ code: 'DEAD_LETTERS_UNWRITABLE' })
})

test('a link with the usual name of the folder is not followed', async () => {
  mkdirSync(join(folder, 'elsewhere'))
  const place = join(folder, 'sluice-dead-letters-logs-0123456789ab')
  symlinkSync(join(folder, 'elsewhere'), place)
  await using letters = new RangeLetters(place)
  const written = await letters.newFile('a')
  writeFileSync(written, 'letter\n')
  await expect(letters.keep('a', written)).rejects.toMatchObject({
    code: 'DEAD_LETTERS_UNWRITABLE',
    message: expect.stringContaining('is a symbolic link') as string,
  })
  expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
})

test('nothing of its own stays', async () => {
  const letters = new RangeLetters(join(folder, 'job'))
  const file = await letters.newFile('a')
  writeFileSync(file, 'letter\n')
  await letters[Symbol.asyncDispose]()
  expect(existsSync(file)).toBe(false)
})
