import { describe, expect, test } from 'vitest'
import { nameOf, patternIn, readPattern, wildcardOf } from '../../../../src/base/text/index-pattern.js'

const named = (pattern: string, ...values: readonly string[]) => {
  const read = readPattern(pattern)
  if ('problem' in read) throw new Error(read.problem)
  return nameOf(read, values)
}

describe('the pattern of an index', () => {
  test.each([
    ['logs-{@timestamp:yyyy.MM.dd}', 'logs-*'],
    ['{a}-{b:xxxx-ww}', '*-*'],
    ['{a}{b}', '*'],
  ])('%s has the names %s', (pattern, wildcard) => {
    const read = patternIn(pattern)
    expect(read === undefined ? undefined : wildcardOf(read)).toBe(wildcard)
  })

  test.each([
    ['logs-{a', 'has an unmatched brace'],
    ['logs-a}', 'has an unmatched brace'],
    ['logs-{{a}}', 'has an unmatched brace'],
    ['logs-{}', 'names no field'],
    ['logs-{:yyyy}', 'names no field'],
    ['logs-{a:}', 'a date format that Sluice does not know'],
    ['logs-{a:YYYY}', 'a date format that Sluice does not know'],
    ['logs-{a:yyyy-ww}', 'mixes weeks and days'],
    ['logs-{a:xxxx.MM}', 'mixes weeks and days'],
    ['Logs-{a}', 'has upper-case letters'],
    ['-{a}', 'starts with -'],
    ['a b{a}', 'contains a space'],
  ])('%s is refused', (pattern, problem) => {
    expect(readPattern(pattern)).toEqual({ problem: expect.stringContaining(problem) as string })
  })

  test('the name of one index is none', () => {
    expect(patternIn('logs-app')).toBeUndefined()
  })
})

describe('the name that values make', () => {
  test.each([
    ['x-{a:yyyy.MM.dd}', '2026-01-02T03:04:05Z', 'x-2026.01.02'],
    ['x-{a:yyyyMMddHH}', '2026-01-02T03:04', 'x-2026010203'],
    ['x-{a:yyyy.MM.dd}', '2026-01-01T00:30:00+01:00', 'x-2025.12.31'],
    ['x-{a:yyyy-MM-dd_HH}', '2025-12-31 23:59:59.999-0030', 'x-2026-01-01_00'],
    ['x-{a:HH}', '2026-01-01', 'x-00'],
    ['x-{a:yyyy}', '0001-01-01', 'x-0001'],
    ['x-{a:yyyy.MM.dd}', '1767322800', 'x-2026.01.02'],
    ['x-{a:yyyy.MM.dd}', '1767322800.75', 'x-2026.01.02'],
    ['x-{a:yyyy.MM.dd}', '1767322800123', 'x-2026.01.02'],
    ['x-{a:yyyy.MM.dd}', '999999999999', 'x-2001.09.09'],
    ['x-{a:xxxx.ww}', '2024-12-29', 'x-2024.52'],
    ['x-{a:xxxx.ww}', '2024-12-30', 'x-2025.01'],
    ['x-{a:xxxx.ww}', '2021-01-03', 'x-2020.53'],
    ['x-{a:xxxx.ww}', '2021-01-04', 'x-2021.01'],
    ['x-{a:xxxx.ww}', '1965-01-01', 'x-1964.53'],
    ['x-{a}', 'é.1', 'x-é.1'],
    ['.x-{a}', '1', '.x-1'],
  ])('%s and %s: %s', (pattern, value, name) => {
    expect(named(pattern, value)).toBe(name)
  })

  test.each([
    ['2026-02-29'],
    ['2026-13-01'],
    ['2026-1-2'],
    ['2026-01-02T24:00'],
    ['2026-01-02T23:60'],
    ['2026-01-02T23:59:60'],
    ['2026-01-02T23'],
    ['2026-01-02T23:59+19:00'],
    ['0000-01-01T00:00+01:00'],
    ['2026-01-02T23:59:59.'],
    ['20260102'],
    ['12345678901'],
    ['17673228001234'],
    ['1767322800123.5'],
    ['-1767322800'],
    ['1.7673228e9'],
    ['yesterday'],
  ])('%s is no date', value => {
    const field = { problem: 'is not a date that Sluice reads', field: 'a' }
    expect(named('x-{a:yyyy}', value)).toEqual(field)
  })

  test.each([
    ['x-{a}', 'A', 'has upper-case letters'],
    ['x-{a}', 'a b', 'contains a space'],
    ['x-{a}', 'a\u0001', 'contains a control character'],
    ['x-{a}', 'a,b', 'contains ,'],
    ['{a}', '-b', 'starts with -'],
    ['{a}', '.security-7', 'starts with a dot'],
    ['{a}', '_all', 'starts with _'],
    ['x-{a}', 'b'.repeat(254), 'has 256 bytes, 255 are allowed'],
    ['x-{a}', '\ud800', 'contains half of a surrogate pair, which is not valid Unicode'],
  ])('%s and %j are no name', (pattern, value, problem) => {
    expect(named(pattern, value)).toEqual({ problem: `makes a name that ${problem}`, field: 'a' })
  })
})
