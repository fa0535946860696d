import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/options/kinds.js'
import { maxRate } from '../../../src/options/traffic-kinds.js'

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
    [{}, 'is not one of { bytes } and { documents }'],
    [{ bytes: 1000, documents: 1 }, 'is not one of { bytes } and { documents }'],
    [{ bytes: 999 }, 'bytes 999 is not a whole number from 1000'],
    [{ docs: 5 }, 'docs is not an option'],
    ['20mb/s', 'is a string, not a plain object'],
    [20_000_000, 'is a number, not a plain object'],
  ])('of a program is refused: %j', (value, problem) => expect(maxRate().check(value)).toContain(problem))
})
