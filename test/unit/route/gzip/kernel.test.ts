import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { mostBytes } from '../../../../src/route/gzip/kernel/kernel.js'
import { BLOCK_BYTES, WINDOW_BYTES } from '../../../../src/route/gzip/kernel/layout.js'
import { gzipped } from '../../../support/random/gzip-fuzz.js'

const text = Buffer.from('a text that no part of repeats: 0123456789')
/** Bytes that no level of zlib shrinks. */
const noise = gzipSync(Buffer.from(Array.from({ length: 400_000 }, (_, at) => at.toString(36)).join(' ')))

describe('zlib reads what the kernel writes', () => {
  test.each([
    ['no byte', Buffer.alloc(0)],
    ['one byte', Buffer.from('x')],
    ['as many bytes as are read at once', Buffer.from('12345678')],
    ['one byte many times', Buffer.alloc(BLOCK_BYTES, 'x')],
    ['every byte once', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['nothing that repeats', noise],
    ['nothing that repeats, over blocks', Buffer.concat([noise, noise, noise])],
    ['exactly one block', Buffer.alloc(BLOCK_BYTES, text)],
    ['one block and a byte', Buffer.alloc(BLOCK_BYTES + 1, text)],
    ['many blocks', Buffer.alloc(7 * BLOCK_BYTES + 12_345, text)],
    ['two bytes by turns', Buffer.alloc(100_000, 'ab')],
  ])('%s', (_, body) => {
    const file = gzipped(body)
    expect(gunzipSync(file).equals(body)).toBe(true)
    expect(file.length).toBeLessThanOrEqual(mostBytes(body.length))
  })

  test.each([-1, 0, 1])('a match as far back as the format allows, and %i', more => {
    const between = noise.subarray(0, WINDOW_BYTES + more - text.length)
    const body = Buffer.concat([text, between, text, text])
    expect(gunzipSync(gzipped(body)).equals(body)).toBe(true)
  })

  test.each([3, 4, 5, 257, 258, 259, 260, 516, 517])('%i bytes that repeat', bytes => {
    const part = noise.subarray(100, 100 + bytes)
    const body = Buffer.concat([part, text, part, Buffer.from('!'), part])
    expect(gunzipSync(gzipped(body)).equals(body)).toBe(true)
  })

  test.each([-13, -12, -11, -8, -1, 0, 1, 5])('a match that begins %i bytes from the end of a block', at => {
    const body = Buffer.concat([text, noise.subarray(0, BLOCK_BYTES - text.length + at), text, text])
    expect(gunzipSync(gzipped(body)).equals(body)).toBe(true)
  })

  test('symbols that are so unequal that codes would be longer than the format allows', () => {
    const counts = Array.from({ length: 24 }, (_, at) => Math.round(1.62 ** at))
    const body = Buffer.concat(counts.map((count, symbol) => Buffer.alloc(count, symbol + 65)))
    for (let at = body.length - 1; at > 0; at -= 1) {
      const other = (at * 2_654_435_761) % (at + 1)
      const byte = body[at] ?? 0
      body[at] = body[other] ?? 0
      body[other] = byte
    }
    expect(gunzipSync(gzipped(body)).equals(body)).toBe(true)
  })
})

test('what does not shrink is stored: its file is no longer than a few bytes a block', () => {
  expect(gzipped(noise).length).toBeLessThan(noise.length + 200)
})

test('log lines get smaller than by zlib at its level 1', () => {
  const lines = Array.from({ length: 5000 }, (_, at) =>
    JSON.stringify({
      '@timestamp': `2026-01-01T00:00:${at % 60}.${at}Z`,
      level: at % 7 === 0 ? 'warn' : 'info',
      at: at * 7919,
    }),
  )
  const body = Buffer.from(lines.join('\n'))
  expect(gzipped(body).length).toBeLessThan(gzipSync(body, { level: 1 }).length)
})
