import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { IdSet, isSysId } from '../../../../../src/features/tables/reading/id-set.js'

/** As spread as the platform's own. */
function idOf(number: number): string {
  return createHash('md5').update(String(number)).digest('hex')
}

const numbers = Array.from({ length: 20_000 }, (_, number) => number)

test('ids that were added in order are found, and no others', () => {
  const ids = numbers.map(idOf).toSorted()
  const set = new IdSet()
  for (const id of ids) set.add(id)
  expect(set.size).toBe(20_000)
  expect(ids.every(id => set.has(id))).toBe(true)
  expect(numbers.some(number => set.has(idOf(number + 20_000)))).toBe(false)
})

test('ids that were added in any order are found, also between additions', () => {
  const set = new IdSet()
  for (const number of numbers) {
    if (number % 4999 === 0) expect(set.has(idOf(number))).toBe(false)
    set.add(idOf(number))
    if (number % 4999 === 0) expect(set.has(idOf(number))).toBe(true)
  }
  expect(numbers.every(number => set.has(idOf(number)))).toBe(true)
  expect(numbers.some(number => set.has(idOf(-1 - number)))).toBe(false)
})

test('the first and the last of all ids are ids', () => {
  const set = new IdSet()
  for (const digit of ['0', 'f', '8']) set.add(digit.repeat(32))
  expect(['0', '8', 'f'].map(digit => set.has(digit.repeat(32)))).toEqual([true, true, true])
  expect(['1', '7', 'e'].map(digit => set.has(digit.repeat(32)))).toEqual([false, false, false])
})

test('an id that is no 32 hex digits is kept as it is', () => {
  const set = new IdSet()
  const irregular = ['incident_default', 'A'.repeat(32), '0'.repeat(31), '']
  for (const id of irregular) set.add(id)
  expect(irregular.some(isSysId)).toBe(false)
  expect(irregular.every(id => set.has(id))).toBe(true)
  expect(set.has('a'.repeat(32))).toBe(false)
  expect(set.size).toBe(4)
})

test('pages hold every id once, as it was added', () => {
  const set = new IdSet()
  const ids = [...numbers.slice(0, 5000).map(idOf), 'irregular']
  for (const id of ids) set.add(id)
  const pages = [...set.pages(999)]
  expect(pages.map(({ length }) => length)).toEqual([999, 999, 999, 999, 999, 6])
  expect(pages.flat().toSorted()).toEqual(ids.toSorted())
})
