import { expect, test } from 'vitest'
import { fairShare } from '../../../../../src/programs/jobs/control/fair-share.js'

test.each([
  // Two workers of four slots each.
  [3, [4, 4], 2],
  [4, [4, 4], 2],
  [1, [4, 4], 1],
  [2, [4, 4, 4], 1],
  // A small worker cannot use its part, so the others get it.
  [9, [1, 16, 4], 4],
  [12, [1, 16, 4], 7],
  // The limit is enough for all of them.
  [8, [4, 4], undefined],
  [16, [4, 4], undefined],
  [2, [1, 1, 1], undefined],
  [3, [4], 3],
])('a limit of %i over workers with slots of %j gives each %j', (limit, slots, share) => {
  expect(fairShare(limit, slots)).toBe(share)
})
