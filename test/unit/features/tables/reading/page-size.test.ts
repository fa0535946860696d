import { expect, test } from 'vitest'
import { pageSize } from '../../../../../src/features/tables/reading/table-page.js'

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

test('a size that fails again and again is tried more and more seldom', () => {
  const size = pageSize(1000)
  expect(ask(size, 10_000, () => 300)).toBeLessThan(30)
  expect(size.rows).toBe(250)
})

test('an instance that gives up now and then, whatever the size, is asked for large pages all the same', () => {
  for (const every of [20, 33]) {
    const size = pageSize(1000)
    let rows = 0
    for (let page = 1; page <= 2000; page++) {
      if (page % every === 0) size.halve(size.rows)
      rows += size.rows
      size.worked()
    }
    expect(rows / 2000).toBeGreaterThan(800)
  }
})

test('a size that has proven itself is left where it does not work any more', () => {
  const size = pageSize(1000)
  expect(ask(size, 20, () => Infinity)).toBe(0)
  expect(ask(size, 5000, () => 300)).toBeLessThan(30)
  expect(size.rows).toBe(250)
})
