import { expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/index.js'
import { changeOf, contentOf, readSeen, seenText, wholeMs } from '../../../../src/pipeline/source/ranges.js'
import type { SeenInput } from '../../../../src/pipeline/source/stored-file.js'

const file: SeenInput = { kind: 'file', size: 1024, modifiedMs: 1_700_000_000_123, content: 'ab12' }
const object: SeenInput = { kind: 'object', size: 2 ** 52, modifiedMs: 0, content: '4503599627370496' }

test('the facts of an input come back from their text', () => {
  for (const seen of [file, object]) expect(readSeen(seenText(seen))).toEqual(seen)
})

test('text that stands for nothing is refused', () => {
  for (const text of ['', 'file 1024 1 ', 'file 1024 1 xyz', 'pipe 1 1 ab', `${seenText(file)} `, 'file -1 1 ab']) {
    let thrown: unknown
    try {
      readSeen(text)
    } catch (error) {
      thrown = error
    }
    expect(isSluiceError(thrown) && thrown.code, text).toBe('OPTION_INVALID')
  }
})

test('ids depend on the content, and on a time only if nothing else tells one version from another', () => {
  expect(contentOf({ ...file, modifiedMs: 1 })).toBe(contentOf(file))
  expect(contentOf({ ...file, size: 1 })).not.toBe(contentOf(file))
  expect(contentOf({ ...file, content: 'ab13' })).not.toBe(contentOf(file))
  const unversioned = { ...object, content: '0', modifiedMs: 1000 }
  expect(contentOf({ ...unversioned, modifiedMs: 2000 })).not.toBe(contentOf(unversioned))
})

test('a file has changed if its size or its time differs, but not if a system keeps other fractions of the time', () => {
  const same = { size: 1024, mtimeMs: 1_700_000_000_123.456 }
  expect(changeOf(file, same)).toBeUndefined()
  expect(changeOf(file, { ...same, mtimeMs: wholeMs(same.mtimeMs) })).toBeUndefined()
  expect(changeOf(file, { ...same, size: 1025 })).toBe('it now has 1,025 bytes, but had 1,024 bytes before')
  expect(changeOf(file, { ...same, mtimeMs: 1_700_000_001_000 })).toBe(
    'it was modified at 2023-11-14T22:13:21.000Z, and before that at 2023-11-14T22:13:20.123Z',
  )
})
