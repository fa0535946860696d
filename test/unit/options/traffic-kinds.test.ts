import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/options/kinds.js'
import { monthlyPlan } from '../../../src/options/carrying-kinds.js'
import { maxRate, planLimit } from '../../../src/options/traffic-kinds.js'

describe('a rate', () => {
  test.each([
    ['20mb/s', { bytes: 20_000_000 }],
    ['1kib/s', { bytes: 1024 }],
    ['20_000/s', { bytes: 20_000 }],
    ['5000docs/s', { documents: 5000 }],
    ['5_000 documents/s', { documents: 5000 }],
    ['1DOCS/S', { documents: 1 }],
  ])('%s is read', (text, expected) => expect(maxRate().read(text)).toEqual(expected))

  test.each(['20mb', '5000', '5000docs', 'docs/s', '/s', '0docs/s', '999/s', '1.5docs/s', '20mb/m', '-1mb/s'])(
    '%s is refused',
    text => expect(maxRate().read(text)).toBeInstanceOf(Problem),
  )

  test.each([{ bytes: 1000 }, { documents: 1 }])('of a program is taken: %j', value =>
    expect(maxRate().check(value)).toBeUndefined(),
  )

  test.each([
    [{}, 'must be either { bytes } or { documents }'],
    [{ bytes: 1000, documents: 1 }, 'must be either { bytes } or { documents }'],
    [{ bytes: 999 }, 'bytes 999 is not a whole number from 1000'],
    [{ docs: 5 }, 'docs is not an option'],
    ['20mb/s', 'is a string, not a plain object'],
    [20_000_000, 'is a number, not a plain object'],
  ])('of a program is refused: %j', (value, problem) => expect(maxRate().check(value)).toContain(problem))
})

describe('a monthly plan', () => {
  test.each([
    ['100gb/month', 1e11],
    ['100gb', 1e11],
    ['1.5tb / month', 1.5e12],
  ])('%s is read', (text, expected) => expect(monthlyPlan().read(text)).toBe(expected))

  test.each(['100', '100gb/year', 'gb/month', 'unlimited'])('%s is refused', text =>
    expect(monthlyPlan().read(text)).toBeInstanceOf(Problem),
  )
})

describe('the limit of a plan', () => {
  test.each([
    ['report', 'report'],
    ['STOP', 'stop'],
    ['slow', 'slow'],
    ['stop=95%', { stop: 95 }],
    ['slow=1%', { slow: 1 }],
  ])('%s is read', (text, expected) => {
    expect(planLimit().read(text)).toEqual(expected)
    expect(planLimit().check(expected)).toBeUndefined()
  })

  test.each(['', 'stop=0%', 'slow=101%', 'stop=95', 'report=90%', 'halt'])('%s is refused', text =>
    expect(planLimit().read(text)).toBeInstanceOf(Problem),
  )

  test.each([{ stop: 0 }, { slow: 101 }, {}, { stop: 90, slow: 80 }, 'halt', 5])('of a program is refused: %j', value =>
    expect(planLimit().check(value)).toEqual(expect.any(String)),
  )
})
