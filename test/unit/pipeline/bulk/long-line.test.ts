import { afterEach, expect, test, vi } from 'vitest'
import { lineProblem } from '../../../../src/pipeline/bulk/judge-line.js'

afterEach(() => vi.restoreAllMocks())

const LONG = 2 << 20
const problemOf = (line: Buffer) => lineProblem(line, 0, line.length, true)

test('the values of a long line are never made', { tags: 'long' }, () => {
  const parse = vi.spyOn(JSON, 'parse')
  for (const unit of ['{},', '1,', '"",', '[[]],']) {
    const line = Buffer.concat([
      Buffer.from('{"a":['),
      Buffer.alloc(LONG - (LONG % unit.length), unit),
      Buffer.from('0]}'),
    ])
    expect(problemOf(line)).toBe(undefined)
    expect(problemOf(line.subarray(0, -1))).toBe(`broken JSON at byte ${line.length - 1} of the line`)
  }
  for (const [open, close] of [
    ['[', ']'],
    ['{"":', '}'],
  ] as const) {
    const levels = Math.floor(LONG / open.length)
    const line = Buffer.from(`{"a":${open.repeat(levels)}1${close.repeat(levels)}}`)
    expect(problemOf(line)).toBe(undefined)
    expect(problemOf(line.subarray(0, -1))).toBe(`broken JSON at byte ${line.length - 1} of the line`)
  }
  expect(parse).not.toHaveBeenCalled()
})

test('a long line has the problems of a short one', () => {
  const lines = ['{"a":1}', '{"a":1,}', '{"a" 1}', '[1]', '7', 'nul', '{"a":[{]}', '{"a":1}}', '{"b":01}', '"text"']
  const verdicts = (behind: string) => lines.map(line => problemOf(Buffer.from(line + behind)))
  expect(verdicts(' '.repeat(LONG))).toEqual(verdicts(' '.repeat(9)))
})
