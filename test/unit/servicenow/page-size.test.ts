import { expect, test } from 'vitest'
import { pageSize } from '../../../src/servicenow/page-size.js'

/** Answers pages of at most so many rows; how many were given up. */
function ask(size: ReturnType<typeof pageSize>, pages: number, most: () => number): number {
  let givenUp = 0
  for (let page = 0; page < pages; page++) {
    while (size.rows > most()) {
      size.halve(size.rows)
      givenUp++
    }
    size.worked()
  }
  return givenUp
}

test('pages are halved down to one row, and grow again', () => {
  const size = pageSize(1000)
  for (let n = 0; n < 12; n++) size.halve(size.rows)
  expect(size.rows).toBe(1)
  expect(ask(size, 200, () => Infinity)).toBe(0)
  expect(size.rows).toBe(1000)
})

test('what fails again and again is tried more and more seldom', () => {
  const size = pageSize(1000)
  expect(ask(size, 10_000, () => 300)).toBeLessThan(30)
  expect(size.rows).toBe(250)
})
