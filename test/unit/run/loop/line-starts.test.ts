import { expect, test } from 'vitest'
import { LineStarts } from '../../../../src/run/loop/moved-lines.js'

test('lines that the kernel leaves are found by their number, and forgotten behind a mark', () => {
  const starts = new LineStarts(0, 1)
  for (let line = 1; line <= 20_000; line += 1) starts.add(10, true)
  expect([1, 4096, 4097, 4098, 15_000].map(line => starts.startOf(line))).toEqual(
    [0, 4095, 4096, 4097, 14_999].map(line => line * 10),
  )
  // It knows only the first line that it still holds.
  expect(starts.startOf(1)).toBeGreaterThan(100_000)
})
