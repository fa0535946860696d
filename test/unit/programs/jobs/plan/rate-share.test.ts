import { expect, test } from 'vitest'
import { mostSharing, rateShare } from '../../../../../src/programs/jobs/plan/rate-share.js'

test.each([
  [{ documents: 5000 }, 4, { documents: 1250 }],
  [{ documents: 7 }, 2, { documents: 3 }],
  [{ bytes: 20_000_000 }, 8, { bytes: 2_500_000 }],
])('a rate of %j is divided by %i', (rate, sharing, share) => {
  expect(rateShare(rate, sharing)).toEqual(share)
})

test('no more requests are sent at once than the rate is enough for', () => {
  expect([mostSharing({ documents: 3 }), mostSharing({ bytes: 5000 }), mostSharing(undefined)]).toEqual([
    3,
    5,
    Infinity,
  ])
})
