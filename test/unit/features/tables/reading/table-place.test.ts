import { expect, test } from 'vitest'
import { MOST_VERSIONS, versionOf, versionsSeen } from '../../../../../src/features/tables/reading/table-place.js'
import { idOf } from '../../../../support/servers/fake-instance.js'

const time = (second: number) =>
  `2026-11-21 10:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}`

test('versions outlive a place, and tell changes of a row apart', () => {
  const seen = versionsSeen()
  seen.add(time(1), versionOf(idOf(1), '0'))
  seen.add(time(2), versionOf(idOf(1), '1'))
  const kept = versionsSeen(JSON.parse(JSON.stringify(seen)))
  expect(kept.has(time(1), versionOf(idOf(1), '0'))).toBe(true)
  expect(kept.has(time(1), versionOf(idOf(1), '1'))).toBe(false)
  expect(kept.newest()).toBe(time(2))
  kept.forgetBefore(time(2))
  expect(Object.keys(kept.toJSON())).toEqual([time(2)])
})

test('of too many the oldest are forgotten', () => {
  const seen = versionsSeen()
  for (let n = 0; n <= MOST_VERSIONS; n++) seen.add(time(n % 60), versionOf(idOf(n), '0'))
  const kept = Object.values(seen.toJSON()).join('').length / 12
  expect(kept).toBeLessThanOrEqual(MOST_VERSIONS * 0.9)
  expect(seen.has(time(0), versionOf(idOf(0), '0'))).toBe(false)
  expect(seen.has(time(59), versionOf(idOf(59), '0'))).toBe(true)
  expect(seen.isWholeFrom(time(0))).toBe(false)
  expect(seen.isWholeFrom(time(59))).toBe(true)
})

test.each([null, 'x', { '2026-11-21 10:00:00': 'short' }, { '2026-11-21 10:00:00': 5 }])('%j are no versions', kept => {
  expect(() => versionsSeen(kept)).toThrow(TypeError)
})
