import { describe, expect, test } from 'vitest'
import { lookUp } from '../../../../src/base/failure/symptoms.js'
import { inLab, onServers } from '../../../diagnosis/overview.js'
import { threads } from '../../../diagnosis/threads.js'

describe('a line that a program printed, as people pasted it in public', () => {
  const printed = threads.flatMap(({ printed: line, code, at }) => (line === undefined ? [] : [{ line, code, at }]))

  test.each(printed)('leads to $code: $line', ({ line, code }) => {
    expect(lookUp(line).symptoms.flatMap(({ codes }) => codes)).toContain(code)
  })

  test('comes from 60 threads or more, each of them once', () => {
    const places = threads.map(({ at }) => String(at))
    expect(places.filter((place, n) => places.indexOf(place) !== n)).toEqual([])
    expect(places.length).toBeGreaterThanOrEqual(60)
  })

  test('is that of a cause that is planted', () => {
    const planted = new Set([...inLab, ...onServers].map(cause => cause.planted))
    expect(threads.filter(thread => !planted.has(thread.planted))).toEqual([])
  })
})
