import { afterEach, beforeEach, expect, test } from 'vitest'
import { isoTime, localTime } from '../../../../src/base/time/clock.js'

const zone = process.env['TZ']
beforeEach(() => delete process.env['TZ'])
afterEach(() => {
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
})

test.each([
  ['UTC', '2026-11-21T23:03:08.007+00:00', '2026-11-21 23:03:08'],
  ['Europe/Berlin', '2026-11-22T00:03:08.007+01:00', '2026-11-22 00:03:08'],
  ['America/St_Johns', '2026-11-21T19:33:08.007-03:30', '2026-11-21 19:33:08'],
  ['Asia/Kathmandu', '2026-11-22T04:48:08.007+05:45', '2026-11-22 04:48:08'],
])('a time in %s has its offset, and is the same instant', (name, iso, local) => {
  process.env['TZ'] = name
  const at = '2026-11-21T23:03:08.007Z'
  expect(isoTime(at)).toBe(iso)
  expect(localTime(at)).toBe(local)
  expect(Date.parse(isoTime(at))).toBe(Date.parse(at))
})

test('in summer the offset is another one', () => {
  process.env['TZ'] = 'Europe/Berlin'
  expect(isoTime(Date.UTC(2026, 6, 1))).toBe('2026-07-01T02:00:00.000+02:00')
})
