import { describe, expect, test } from 'vitest'
import { BodySize } from '../../../../src/route/sender/layers/learn.js'

const MB = 1_000_000

/** Bodies as large as they may be, to a cluster that takes no larger ones than that; how large each was. */
function send(size: BodySize, bodies: number, takes: number): number[] {
  return Array.from({ length: bodies }, () => {
    const bytes = size.next
    size.sent(bytes)
    if (bytes <= takes) size.taken(bytes)
    else size.tooLarge(bytes)
    return bytes
  })
}

describe('how large a body may be', () => {
  test('stays what was asked for while nothing is too large', () => {
    const size = new BodySize(5 * MB)
    expect(send(size, 3, 10 * MB)).toEqual([5 * MB, 5 * MB, 5 * MB])
    expect(size.learnt).toBeUndefined()
  })

  test('is halved until it passes, and stays so for this run', () => {
    const size = new BodySize(5 * MB)
    expect(send(size, 5, 2 * MB)).toEqual([5 * MB, 2.5 * MB, 1.25 * MB, 1.25 * MB, 1.25 * MB])
    expect(size.learnt).toBe(1.25 * MB)
  })

  test('never falls below 64 KiB', () => {
    const size = new BodySize(100_000)
    send(size, 5, 0)
    expect(size.next).toBe(65_536)
  })
})

describe('the limit that an earlier run found', () => {
  test('is where this one begins; one larger body is tried, and not another', () => {
    const size = new BodySize(5 * MB, MB)
    expect(send(size, 5, 1.5 * MB)).toEqual([MB, 2 * MB, MB, MB, MB])
    expect(size.learnt).toBe(MB)
  })

  test('is left behind when larger ones pass again', () => {
    const size = new BodySize(5 * MB, MB)
    expect(send(size, 6, 100 * MB)).toEqual([MB, 2 * MB, 4 * MB, 5 * MB, 5 * MB, 5 * MB])
    expect(size.learnt).toBeUndefined()
  })

  test('tries with one body alone, however many are on their way', () => {
    const size = new BodySize(5 * MB, MB)
    send(size, 1, 5 * MB)
    expect(size.next).toBe(2 * MB)
    size.sent(1.9 * MB)
    for (let body = 0; body < 3; body += 1) {
      expect(size.next).toBe(MB)
      size.sent(MB)
    }
    size.taken(MB)
    expect(size.next).toBe(MB)
    size.taken(1.9 * MB)
    expect(size.next).toBe(4 * MB)
  })

  test('still counts when the bodies of a run were smaller anyway', () => {
    const size = new BodySize(MB, 2 * MB)
    expect(send(size, 2, 10 * MB)).toEqual([MB, MB])
    expect(size.learnt).toBe(2 * MB)
  })

  test('comes down further where that is too large now', () => {
    const size = new BodySize(5 * MB, MB)
    expect(send(size, 3, 0.6 * MB)).toEqual([MB, 0.5 * MB, 0.5 * MB])
  })
})
