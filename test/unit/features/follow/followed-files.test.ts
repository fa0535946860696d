import { appendFile, mkdtemp, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FollowedFiles } from '../../../../src/features/follow/followed-files.js'
import { HeldClock } from '../../../support/load/held-clock.js'

let folder: string
let said: string[]
let warned: string[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'follow-'))
  said = []
  warned = []
})
afterEach(async () => await rm(folder, { recursive: true }))

const at = (name: string) => join(folder, name)
const clock = new HeldClock()

function files(...names: string[]): FollowedFiles {
  return new FollowedFiles({
    names,
    areListed: false,
    folder,
    clock,
    beganMs: 0,
    format: 'auto',
    say: (_, message) => said.push(message),
    warn: message => warned.push(message),
  })
}

/** Reads what waits, and returns it. */
async function readAll(following: FollowedFiles): Promise<string> {
  let text = ''
  for (const file of following.all.filter(({ isReady }) => isReady))
    for await (const chunk of file.bytes(file.read, file.end, { into: undefined, opened: () => {} }))
      text += chunk.toString()
  return text
}

test('whole lines are read, each once', async () => {
  await writeFile(at('a.ndjson'), '{"n":1}\n{"n":')
  await using following = files('*.ndjson')
  await following.scan()
  expect(await readAll(following)).toBe('{"n":1}\n')
  await following.scan()
  expect(await readAll(following)).toBe('')
  await appendFile(at('a.ndjson'), '2}\n\n{')
  await writeFile(at('b.ndjson'), '{"n":3}\n')
  await following.scan()
  expect(await readAll(following)).toBe('{"n":2}\n\n{"n":3}\n')
  expect(following.all.map(({ unfinished }) => unfinished)).toEqual([1, 0])
  expect(said).toEqual(['b.ndjson is new'])
})

test('short lines are read before a long line that has no line feed yet', async () => {
  await writeFile(at('a.ndjson'), `{"n":1}\n{"n":"${'x'.repeat(300)}`)
  await using following = files('*.ndjson')
  await following.scan()
  expect(await readAll(following)).toBe('{"n":1}\n')
  await appendFile(at('a.ndjson'), '"}\n')
  await following.scan()
  expect(await readAll(following)).toBe(`{"n":"${'x'.repeat(300)}"}\n`)
  expect(said).toEqual([])
})

test('a line longer than what is looked at at once is found', async () => {
  const long = `{"n":"${'x'.repeat(200_000)}"}\n`
  await writeFile(at('a.ndjson'), `${long}${long}${'y'.repeat(150_000)}`)
  await using following = files('*.ndjson')
  await following.scan()
  expect(await readAll(following)).toBe(long + long)
  await appendFile(at('a.ndjson'), 'z'.repeat(100_000))
  await following.scan()
  expect(await readAll(following)).toBe('')
  await appendFile(at('a.ndjson'), '\n')
  await following.scan()
  expect(await readAll(following)).toHaveLength(250_001)
})

test('checksums of what was read need no file', async () => {
  await writeFile(at('a.ndjson'), '{"n":1}\n')
  await using following = files('a.ndjson')
  await following.scan()
  await readAll(following)
  const [file] = following.all
  const [known] = (await file?.sums([8])) ?? []
  expect(known).toBeTypeOf('string')
  expect(await file?.sums([8, 9])).toEqual([known, undefined])
  expect(await file?.sums([8])).toEqual([known])
})

test('checksums of what was not read here are taken again when the file has changed', async () => {
  await writeFile(at('a.ndjson'), '{"n":1}\n')
  await using following = files('a.ndjson')
  await following.scan()
  const [file] = following.all
  const [before] = (await file?.sums([8])) ?? []
  await writeFile(at('a.ndjson'), '{"n":2}\n{"n":3}\n')
  await following.scan()
  expect((await file?.sums([8]))?.[0]).not.toBe(before)
})

test('a file that was truncated and has grown beyond its former size is another one', async () => {
  await writeFile(at('a.ndjson'), '{"n":1}\n')
  await using following = files('*.ndjson')
  await following.scan()
  await readAll(following)
  await writeFile(at('a.ndjson'), '{"n":2}\n{"n":3}\n')
  await following.scan()
  expect(await readAll(following)).toBe('{"n":2}\n{"n":3}\n')
  await truncate(at('a.ndjson'))
  await following.scan()
  expect(said).toEqual(
    Array(2).fill('a.ndjson was truncated or overwritten. Sluice reads it from its start, as a new input'),
  )
})

test('a renamed file is followed until it is quiet for long', async () => {
  await writeFile(at('a.ndjson'), '{"n":1}\n')
  await using following = files('*.ndjson')
  await following.scan()
  await readAll(following)
  await rename(at('a.ndjson'), at('a.1'))
  await following.scan()
  await appendFile(at('a.1'), '{"n":2}\n')
  await following.scan()
  expect(await readAll(following)).toBe('{"n":2}\n')
  expect(said).toEqual(['a.ndjson was renamed to a.1. Sluice reads the former file to its end'])
  clock.advance(700_000)
  await following.scan()
  expect(following.all).toEqual([])
})

test('a rotated file that was compressed is named so, and by the name that it had', async () => {
  const renamed = (name: string) =>
    `${name}.ndjson was renamed to ${name}.ndjson.1. Sluice reads the former file to its end`
  for (const name of ['a', 'b', 'c']) await writeFile(at(`${name}.ndjson`), '{"n":1}\n')
  await using following = files('*.ndjson')
  await following.scan()
  await readAll(following)
  for (const name of ['a', 'b']) await rename(at(`${name}.ndjson`), at(`${name}.ndjson.1`))
  await following.scan()
  expect(said.splice(0).toSorted()).toEqual([renamed('a'), renamed('b')])
  await writeFile(at('a.ndjson.1.gz'), gzipSync('{"n":1}\n'))
  // Renamed and compressed between two looks, with the time of the original, as gzip does.
  await writeFile(at('c.ndjson.1.gz'), gzipSync('{"n":1}\n'))
  const { atime, mtime } = await stat(at('c.ndjson'))
  await utimes(at('c.ndjson.1.gz'), atime, mtime)
  for (const name of ['a.ndjson.1', 'b.ndjson.1', 'c.ndjson']) await rm(at(name))
  await following.scan()
  expect(said.toSorted()).toEqual([
    'a.ndjson.1 (formerly a.ndjson) was compressed to a.ndjson.1.gz. Sluice had read 8 bytes of it',
    'b.ndjson.1 (formerly b.ndjson) was deleted. Sluice had read 8 bytes of it',
    'c.ndjson was compressed to c.ndjson.1.gz. Sluice had read 8 bytes of it',
  ])
})

test('at most 64 files are open, and a deleted one is let go', async () => {
  for (let n = 0; n < 100; n += 1) await writeFile(at(`${n}.ndjson`), '{"n":1}\n')
  await using following = files('*.ndjson')
  await following.scan()
  expect((await readAll(following)).length).toBe(800)
  expect(following.open).toBe(64)
  await rm(at('0.ndjson'))
  await rm(at('99.ndjson'))
  await following.scan()
  expect(following.all).toHaveLength(98)
  expect(said.toSorted()).toEqual([
    '0.ndjson was deleted, or moved to another folder. Sluice had read 8 bytes of it',
    '99.ndjson was deleted. Sluice had read 8 bytes of it',
  ])
  // A file that was young at the first look is looked at again, and opened for that.
  expect(following.open).toBeLessThanOrEqual(64)
  for (let n = 1; n < 98; n += 1) await rm(at(`${n}.ndjson`))
  await following.scan()
  expect(following.all.map(({ name }) => name)).toEqual(['98.ndjson'])
  expect(following.open).toBeLessThanOrEqual(1)
})
