import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ZstdFrame } from '../../../../src/base/compression/zstd.js'

const fixture = (name: string) => readFileSync(new URL(`../../../../fixtures/${name}`, import.meta.url))

/** Returns the lengths of the frames, if all bytes are given in chunks of that size. */
function lengths(bytes: Buffer, size: number): { whole: number[]; isOver: boolean } {
  const whole: number[] = []
  let frame = new ZstdFrame()
  let length = 0
  for (let from = 0; from < bytes.length; from += size)
    for (let rest = bytes.subarray(from, from + size); rest.length > 0;) {
      const taken = frame.take(rest)
      length += taken
      rest = rest.subarray(taken)
      if (!frame.isOver) continue
      whole.push(length)
      length = 0
      frame = new ZstdFrame()
    }
  return { whole, isOver: length === 0 }
}

test('finds where each frame ends', () => {
  const one = fixture('plain.ndjson.zst')
  const several = fixture('two-frames.ndjson.zst')
  for (const size of [1, 2, 3, 5, 1000]) {
    expect(lengths(one, size)).toEqual({ whole: [one.length], isOver: true })
    const found = lengths(several, size)
    expect(found.isOver).toBe(true)
    // Two of them carry no data, but other bytes.
    expect(found.whole).toHaveLength(5)
    expect([found.whole[0], found.whole[3]]).toEqual([13, 13])
  }
  for (let cut = 1; cut < one.length; cut += 1) expect(lengths(one.subarray(0, cut), 1000).isOver).toBe(false)
})

test('a block that repeats one byte, dictionaries and sizes of contents are passed over', () => {
  const magic = '28b52ffd'
  // Descriptor, window, dictionary and content size, then the last block: one byte, repeated five times.
  const rle = '2b0000aa'
  for (const [descriptor, fields] of [
    ['00', '58'],
    ['20', '05'],
    ['21', 'dd05'],
    ['42', '58dddd0500'],
    ['83', '58dddddddd05000000'],
    ['c0', '580500000000000000'],
    ['e4', '0500000000000000'],
  ] as const) {
    const sum = descriptor === 'e4' ? '01020304' : ''
    const frame = Buffer.from(`${magic}${descriptor}${fields}${rle}${sum}`, 'hex')
    expect({ descriptor, ...lengths(Buffer.concat([frame, frame]), 4) }).toEqual({
      descriptor,
      whole: [frame.length, frame.length],
      isOver: true,
    })
  }
})

test('other data is no frame', () => {
  expect(() => new ZstdFrame().take(Buffer.from('{"n":1}'))).toThrow(RangeError)
})
