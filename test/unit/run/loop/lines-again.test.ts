import { describe, expect, test } from 'vitest'
import { Checksum } from '../../../../src/base/checksum/checksum.js'
import { beginning, untilAborted } from '../../../../src/run/loop/lines-again.js'

async function* chunksOf(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size))
}

async function read(lines: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of lines) text += Buffer.from(chunk).toString()
  return text
}

describe('lines that must begin as before', () => {
  const known = { bytes: 10, sum: Checksum.of(Buffer.from('0123456789')) }

  test.each([1, 3, 10, 100])('pass, in chunks of %i', async size => {
    expect(await read(beginning(chunksOf('0123456789abc', size), known, 'a'))).toBe('0123456789abc')
    expect(await read(beginning(chunksOf('0123456789', size), known, 'a'))).toBe('0123456789')
  })

  test.each(['0123456788abc', '012345678', ''])('fail if they are others: "%s"', async text => {
    for (const size of [1, 3, 100]) {
      const failing = read(beginning(chunksOf(text, size), known, 'a'))
      await expect(failing).rejects.toMatchObject({ code: 'INPUT_REPLACED' })
    }
  })
})

test('waiting for lines ends when the signal aborts', async () => {
  const controller = new AbortController()
  const never = { [Symbol.asyncIterator]: () => ({ next: async () => await new Promise<never>(() => undefined) }) }
  const reading = read(untilAborted(never, controller.signal))
  controller.abort(new Error('stop'))
  await expect(reading).rejects.toThrow('stop')
  await expect(read(untilAborted(chunksOf('abc', 1), controller.signal))).rejects.toThrow('stop')
  expect(await read(untilAborted(chunksOf('abc', 1), new AbortController().signal))).toBe('abc')
})
