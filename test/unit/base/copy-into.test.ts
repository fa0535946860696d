import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { copyInto } from '../../../src/base/memory.js'

const plain = (bytes: number) => Buffer.alloc(bytes)
const shared = (bytes: number) => Buffer.from(new SharedArrayBuffer(bytes))

test.each([
  ['plain to plain', plain, plain],
  ['plain to shared', plain, shared],
  ['shared to plain', shared, plain],
  ['shared to shared', shared, shared],
])('bytes are copied, and nothing around them: %s', (_, from, to) => {
  for (const length of [0, 1, 255, 256, 257, 4099, 70_001])
    for (const start of [0, 1, 7])
      for (const at of [0, 3, 8]) {
        const source = from(start + length + 5)
        randomBytes(source.length).copy(source)
        const target = to(at + length + 9).fill(0xee)
        const bytes = new Uint8Array(source.buffer, start, length)
        expect(copyInto(target, at, bytes)).toBe(length)
        expect(target.subarray(at, at + length).equals(bytes)).toBe(true)
        expect(target.subarray(0, at).every(byte => byte === 0xee)).toBe(true)
        expect(target.subarray(at + length).every(byte => byte === 0xee)).toBe(true)
      }
})

test('what does not fit is refused, and nothing is written', () => {
  const target = shared(300)
  expect(() => copyInto(target, 100, plain(256).fill(1))).toThrow(RangeError)
  expect(() => copyInto(target, 290, plain(20).fill(1))).toThrow(RangeError)
  expect(target.every(byte => byte === 0)).toBe(true)
})
