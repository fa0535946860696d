import { beforeEach, expect, test } from 'vitest'
import { ENTRY_BYTES } from '../../../../src/programs/serve/segment.js'
import { SpoolRoom } from '../../../../src/programs/serve/spool-room.js'
import { HeldClock } from '../../../support/load/held-clock.js'

const LIMIT = 100_000
let used: number
let clock: HeldClock
let room: SpoolRoom
beforeEach(() => {
  used = 0
  clock = new HeldClock()
  room = new SpoolRoom({ limit: LIMIT, used: () => used, retryAfter: () => 5, clock })
})

/** Posts documents of this size. Returns whether they are stored. */
function post(bytes: number): boolean {
  if (room.isFull || !room.take(bytes)) return false
  used += bytes + ENTRY_BYTES
  return true
}

test('small requests do not take the room for ever that a large one waits for', () => {
  while (post(1_000));
  expect(post(50_000)).toBe(false)
  let refused = 0
  // The loader is as fast as the callers of small requests.
  for (let turn = 0; turn < 200; turn += 1) {
    used = Math.max(0, used - 1_000 - ENTRY_BYTES)
    if (!post(1_000)) refused += 1
    if (turn % 5 === 4 && post(50_000)) break
  }
  expect(used).toBeGreaterThan(50_000)
  expect(refused).toBeLessThan(60)
  expect(used).toBeLessThanOrEqual(LIMIT)
})

test('small requests that leave enough room are stored meanwhile', () => {
  used = LIMIT - 40_000
  expect(post(50_000)).toBe(false)
  used = LIMIT - 60_000
  expect(post(5_000)).toBe(true)
  expect(post(5_000)).toBe(false)
  expect(post(50_000)).toBe(true)
  expect(post(1_000)).toBe(true)
})

test('a large request that does not come again keeps others out for a minute', () => {
  used = LIMIT - 40_000
  expect(post(50_000)).toBe(false)
  expect(post(1_000)).toBe(false)
  clock.advance(70_001)
  expect(post(1_000)).toBe(true)
})

test('a request that is nearly as large as the spool keeps at most half of it free', () => {
  used = 10_000
  expect(post(95_000)).toBe(false)
  expect(post(20_000)).toBe(true)
  expect(post(30_000)).toBe(false)
})
