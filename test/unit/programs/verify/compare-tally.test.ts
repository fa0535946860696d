import { expect, test } from 'vitest'
import { comparedInput, firstIds, sumOfCounts } from '../../../../src/programs/verify/compare-tally.js'

test('keeps the first ids of each kind, and counts all', () => {
  const input = comparedInput('elasticsearch:orders', 2)
  for (const id of ['a', 'b', 'c']) input.add(id, 'missing')
  input.add('d', 'different')
  input.add('e', 'equal')
  input.add('f', 'rejected')
  input.add('g', 'unread')
  const result = input.result()
  expect(result).toEqual({
    name: 'elasticsearch:orders',
    documents: 7,
    equal: 1,
    rejected: 1,
    missing: 3,
    different: 1,
    unread: 1,
    missingIds: ['a', 'b'],
    differentIds: ['d'],
    unreadIds: ['g'],
  })
  expect(sumOfCounts([result, result])).toMatchObject({ documents: 14, missing: 6, equal: 2 })
})

test('lists no more ids than asked for', () => {
  const ids = firstIds(0)
  ids.add('a')
  expect([ids.count, ids.list]).toEqual([1, []])
})
