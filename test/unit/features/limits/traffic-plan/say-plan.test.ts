import { describe, expect, test } from 'vitest'
import { DAY_MS, type Period, periodAt } from '../../../../../src/features/limits/traffic-plan/period.js'
import { sayPlan } from '../../../../../src/features/limits/traffic-plan/say-plan.js'

const GB = 1e9
const day = (number: number, hour = 0) => Date.UTC(2026, 10, number, hour)

describe('the month of a plan', () => {
  test.each([
    ['2026-11-30T23:59:59Z', 1, '2026-11-01', '2026-12-01'],
    ['2026-12-01T00:00:00Z', 1, '2026-12-01', '2027-01-01'],
    ['2026-11-14T23:59:59Z', 15, '2026-10-15', '2026-11-15'],
    ['2026-11-15T00:00:00Z', 15, '2026-11-15', '2026-12-15'],
    ['2026-01-03T12:00:00Z', 28, '2025-12-28', '2026-01-28'],
    ['2028-03-01T00:00:00Z', 28, '2028-02-28', '2028-03-28'],
  ])('at %s that begins on day %i is %s to %s', (now, begins, from, until) =>
    expect(periodAt(Date.parse(now), begins)).toEqual({ from: Date.parse(from), until: Date.parse(until) }),
  )
})

/** Says it for the same bytes on each whole day of November until the 12th, and some today. */
function said(aDay: number, today: number, more: { plan?: number; since?: number | undefined; now?: number } = {}) {
  const { plan = 100 * GB, now = day(12, 15) } = more
  const since = 'since' in more ? more.since : Date.UTC(2026, 5, 1)
  const days = new Map<number, number>()
  const first = Math.max(since ?? now, day(1))
  for (let at = Math.floor(first / DAY_MS) * DAY_MS; at + DAY_MS <= now; at += DAY_MS) days.set(at, aDay)
  const midnight = Math.floor(now / DAY_MS) * DAY_MS
  days.set(midnight, today)
  const used = ({ from, until }: Period) =>
    [...days].reduce((sum, [at, bytes]) => (at >= from && at < until ? sum + bytes : sum), 0)
  return sayPlan({ period: periodAt(now, 1), now, bytes: plan, since, used })
}

describe('the plan', () => {
  test('says when the next mark is reached, if every day is like those before', () => {
    expect(said(5 * GB, 5 * GB)).toBe('60 of 100 GB used, at this rate 80% on the 16th')
    expect(said(5 * GB, 0)).toBe('55 of 100 GB used, at this rate 80% on the 16th')
    expect(said(7 * GB, 7 * GB)).toBe('84 of 100 GB used, at this rate 100% on the 15th')
    expect(said(7 * GB, 2 * GB)).toBe('79 of 100 GB used, at this rate 80% today')
  })

  test('says what the month ends with, if no mark is reached', () => {
    expect(said(2 * GB, 1 * GB)).toBe('23 of 100 GB used, at this rate 60% at the end of the month')
    expect(said(0, 0)).toBe('0 of 100 GB used, at this rate 0% at the end of the month')
    expect(said(3 * GB, 3 * GB)).toBe('36 of 100 GB used, at this rate 80% on the 27th')
  })

  test('makes no forecast from less than two whole days', () => {
    expect(said(5 * GB, 1 * GB, { now: day(2, 23) })).toBe('6 of 100 GB used, too little history for a forecast')
    expect(said(5 * GB, 0, { since: undefined })).toBe('0 of 100 GB used, too little history for a forecast')
    expect(said(5 * GB, 1 * GB, { since: day(10) })).toBe(
      '11 of 100 GB used, counted since the 10th, too little history for a forecast',
    )
    expect(said(5 * GB, 5 * GB, { since: day(9) })).toBe(
      '20 of 100 GB used, counted since the 9th, at this rate 80% on the 24th',
    )
  })

  test('says that it is used up', () => {
    expect(said(9 * GB, 5 * GB)).toBe('104 of 100 GB used, and the next month of the plan begins on the 1st')
  })

  test('has the unit of the plan, and names little as little', () => {
    expect(said(0, 1000)).toContain('less than 0.01 of 100 GB used')
    expect(said(0, 240_000_000)).toContain('0.24 of 100 GB used')
    expect(said(0, 1.24e12, { plan: 2.5e12 })).toContain('1.2 of 2.5 TB used')
    expect(said(0, 500_000, { plan: 1_000_000 })).toContain('0.5 of 1 MB used')
  })

  test.each([
    [1, '1st'],
    [2, '2nd'],
    [3, '3rd'],
    [4, '4th'],
    [11, '11th'],
    [12, '12th'],
    [13, '13th'],
    [21, '21st'],
    [22, '22nd'],
    [23, '23rd'],
  ])('names day %i as %s', (number, name) =>
    expect(said(0, 0, { since: day(number), now: day(28) })).toContain(
      number === 1 ? 'at the end' : `since the ${name}`,
    ),
  )
})
