import { expect, test } from 'vitest'
import { byName } from '../../../../src/pipeline/source/find-files.js'
import { seeded } from '../../../support/random/seeded.js'

test.each([
  ['part-9.ndjson', 'part-10.ndjson', 'part-11.ndjson'],
  ['2026-01-09', '2026-01-10', '2026-1-11'],
  ['a', 'a01x', 'a1', 'a1.b', 'a1x', 'a2', 'ab'],
  ['Z', 'a', 'ä'],
  ['x99999999999999999998', 'x99999999999999999999', 'x100000000000000000000'],
  ['0', '00', '1'],
])('sorts %s', (...names) => {
  expect(names.toReversed().toSorted(byName)).toEqual(names)
})

test('is one order of all names', () => {
  const { below, pick } = seeded(7)
  const letters = ['0', '1', '2', '9', 'a', '.', '/', '!']
  const name = () => Array.from({ length: below(5) }, () => pick(letters)).join('')
  for (let round = 0; round < 2_000; round += 1) {
    const [a, b, c] = [name(), name(), name()]
    expect(byName(a, b) + byName(b, a)).toBe(0)
    expect(byName(a, b) === 0).toBe(a === b)
    const isChain = byName(a, b) < 0 && byName(b, c) < 0
    if (isChain) expect([a, b, c, byName(a, c) < 0]).toEqual([a, b, c, true])
  }
})
