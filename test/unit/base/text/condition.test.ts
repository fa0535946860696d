import { describe, expect, test } from 'vitest'
import { conditionAtEnd, kindOfCondition, numberIn } from '../../../../src/base/text/condition.js'
import { readInstant } from '../../../../src/base/text/point-in-time.js'

describe('the number that a field gives', () => {
  test.each([
    ['0', '0'],
    ['0007', '7'],
    ['000', '0'],
    ['9007199254740993', '9007199254740993'],
    ['9223372036854775807', '9223372036854775807'],
    ['2026-03-01T00:00:00Z', '1772323200000000000'],
    ['2026-03-01 01:00:00.000000001+01:00', '1772323200000000001'],
    ['2026-03-01', '1772323200000000000'],
    ['1970-01-01T00:00:00Z', '0'],
    ['2262-04-11T23:47:16.854775807Z', '9223372036854775807'],
  ])('is exact: %s', (text, digits) => expect(numberIn(text, true)).toBe(digits))

  test.each(['', '-1', '1.0', '1e3', '+5', ' 5', '0x10', 'yesterday', '2026-02-30', '2026-03-01T00:00:00.0000000001Z'])(
    'is none in %j',
    text => expect(numberIn(text, true)).toEqual({ problem: 'is neither a whole number from 0 on nor a date' }),
  )

  test('is none beyond the range of Elasticsearch', () => {
    expect(numberIn('9223372036854775808', true)).toEqual({ problem: 'is larger than 9223372036854775807' })
    expect(numberIn('10000000000000000000', true)).toEqual({ problem: 'is larger than 9223372036854775807' })
    const beyond = { problem: 'is a date before 1970 or after 2262-04-11' }
    expect(numberIn('1969-12-31T23:59:59Z', true)).toEqual(beyond)
    expect(numberIn('2262-04-11T23:47:16.854775808Z', true)).toEqual(beyond)
  })

  test('is never a date, if it says which change was read', () =>
    expect(numberIn('2026-03-01', false)).toEqual({ problem: 'is not a whole number from 0 on' }))
})

test('a date has seconds and fractions, with a point or a comma', () => {
  expect(readInstant('1970-01-01T00:00:01,5Z')).toBe(1_500_000_000n)
  expect(readInstant('1970-01-01T00:01')).toBe(60_000_000_000n)
  expect(readInstant('1970-01-01T00:00:00.1000000000Z')).toBe(100_000_000n)
})

describe('the condition of an action line', () => {
  test.each([
    ['{"index":{"_id":"a","version":9007199254740993,"version_type":"external_gte"}}', 'version'],
    ['{"delete":{"_id":"a","routing":"r","version":0,"version_type":"external"}}\n', 'version'],
    ['{"update":{"_id":"a","if_seq_no":3,"if_primary_term":1}}', 'sequence'],
  ] as const)('is found: %s', (action, kind) => {
    const condition = conditionAtEnd(action) ?? ''
    expect(action).toContain(condition)
    expect(kindOfCondition(condition)).toBe(kind)
  })

  test('is not what an id says', () => {
    const id = 'a","version":1,"version_type":"external_gte"}}'
    expect(conditionAtEnd(`{"index":{"_id":${JSON.stringify(id)}}}`)).toBeUndefined()
  })

  test('is in no other words', () => {
    expect(kindOfCondition('"version":1')).toBeUndefined()
    expect(kindOfCondition('"version":1,"version_type":"internal"')).toBeUndefined()
    expect(kindOfCondition('"version":1e3,"version_type":"external"')).toBeUndefined()
    expect(kindOfCondition('"if_seq_no":1')).toBeUndefined()
    expect(kindOfCondition('"if_seq_no":1,"if_primary_term":0')).toBeUndefined()
    expect(kindOfCondition('"version":007,"version_type":"external"')).toBeUndefined()
    expect(kindOfCondition('"version":9223372036854775808,"version_type":"external"')).toBeUndefined()
  })
})
