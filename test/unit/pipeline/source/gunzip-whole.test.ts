import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { gunzipWhole } from '../../../../src/pipeline/source/gunzip-whole.js'

describe.each([1000, 100_000])('a whole file in gzip, of %i documents', documents => {
  const text = '{"a":1}\n'.repeat(documents)
  const file = gzipSync(text)
  const most = 1 << 20

  test('is decoded at once, also if it has several members', async () => {
    expect((await gunzipWhole(file, text.length))?.toString()).toBe(text)
    const members = Buffer.concat([file, gzipSync(''), gzipSync('{}\n'), file])
    expect((await gunzipWhole(members, 2 * text.length + 3))?.toString()).toBe(`${text}{}\n${text}`)
  })

  test('is left to the decoder of pieces if more comes out than allowed, whatever its last bytes promise', async () => {
    expect(await gunzipWhole(file, text.length - 1)).toBe(undefined)
    expect(await gunzipWhole(Buffer.concat([file, gzipSync('{}\n')]), text.length + 2)).toBe(undefined)
    const lying = Buffer.from(file)
    lying.writeUInt32LE(1, file.length - 4)
    expect(await gunzipWhole(lying, most)).toBe(undefined)
  })

  test('is left to the decoder of pieces if anything is wrong with it', async () => {
    const broken = Buffer.from(file)
    broken.writeUInt32LE(7, file.length - 8)
    const extended = [0, 120].map(byte => Buffer.concat([file, Buffer.alloc(9, byte)]))
    const others = [Buffer.from(text), file.subarray(0, 18), file.subarray(0, -1), broken, ...extended]
    for (const other of others) expect(await gunzipWhole(other, most)).toBe(undefined)
  })
})

test('an empty file in gzip is decoded at once, and one of no bytes is left to the decoder of pieces', async () => {
  expect(await gunzipWhole(gzipSync(''), 1)).toHaveLength(0)
  expect(await gunzipWhole(Buffer.alloc(0), 1)).toBe(undefined)
})
