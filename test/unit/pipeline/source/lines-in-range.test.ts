import { expect, test } from 'vitest'
import { linesInRange } from '../../../../src/pipeline/source/lines-in-range.js'
import { randomCuts, randomText } from '../../../support/random/cut-text.js'
import { rounds } from '../../../support/rounds.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

/** An object in memory. Each chunk is overwritten when the next one is asked for, as a source may do. */
function objectOf(text: Buffer, chunkBytes: () => number, asked: [number, number][] = []) {
  const read = async function* (from: number, to: number) {
    asked.push([from, to])
    for (let at = from; at < to;) {
      const chunk = Buffer.from(text.subarray(at, Math.min(to, at + chunkBytes())))
      at += chunk.length
      yield await Promise.resolve(chunk)
      chunk.fill('\n')
    }
  }
  return { size: text.length, read }
}

async function textOf(text: Buffer, from: number, to: number, chunkBytes: () => number) {
  const { at, bytes } = await linesInRange(objectOf(text, chunkBytes), from, to)
  const parts: Buffer[] = []
  for await (const chunk of bytes) parts.push(Buffer.from(chunk))
  return { at, text: Buffer.concat(parts).toString() }
}

/** The lines of a text with their offsets, as a person would find them. */
function linesOf(text: Buffer): { at: number; line: string }[] {
  const found: { at: number; line: string }[] = []
  for (let at = 0; at < text.length;) {
    const lineFeed = text.indexOf('\n', at)
    const end = lineFeed === -1 ? text.length : lineFeed + 1
    found.push({ at, line: text.toString('utf8', at, end) })
    at = end
  }
  return found
}

test('a range holds exactly the lines that begin in it, wherever the text is cut', async () => {
  for (let seed = 1; seed <= rounds(150, 20_000); seed += 1) {
    const random = seeded(seed)
    const text = randomText(random)
    const chunkBytes = chunksOf(random)
    const cuts = randomCuts(random, text)
    for (const [number, from] of cuts.slice(0, -1).entries()) {
      const to = cuts[number + 1] ?? 0
      const wanted = linesOf(text).filter(({ at }) => at >= from && at < to)
      const found = await textOf(text, from, to, chunkBytes)
      expect(found.text, `seed ${seed}, ${from} to ${to}`).toBe(wanted.map(({ line }) => line).join(''))
      expect(found.at, `seed ${seed}, ${from} to ${to}`).toBe(wanted[0]?.at ?? to)
    }
  }
})

function chunksOf(random: Seeded): () => number {
  const most = random.pick([1, 2, 7, 100])
  return () => 1 + random.below(most)
}

test('a last line is read on in pieces that grow, and no further than its end', async () => {
  const text = Buffer.from(`${'a'.repeat(9)}\n${'b'.repeat(1 << 20)}\n${'c'.repeat(9 << 20)}\n`)
  const asked: [number, number][] = []
  const { at, bytes } = await linesInRange(
    objectOf(text, () => 1 << 20, asked),
    5,
    20,
  )
  const parts: Buffer[] = []
  for await (const chunk of bytes) parts.push(Buffer.from(chunk))
  expect(at).toBe(10)
  expect(Buffer.concat(parts).equals(text.subarray(10, 11 + (1 << 20)))).toBe(true)
  const lengths = asked.map(([from, to]) => to - from)
  expect(lengths).toEqual([16, 64 << 10, 256 << 10, 1 << 20])
  expect(asked.map(([from]) => from).slice(1)).toEqual([20, 20 + (64 << 10), 20 + (320 << 10)])
})

test('a range that ends at a line end reads nothing behind it', async () => {
  const text = Buffer.from('one\ntwo\nthree\n')
  const asked: [number, number][] = []
  const { bytes } = await linesInRange(
    objectOf(text, () => 100, asked),
    4,
    8,
  )
  const parts: Buffer[] = []
  for await (const chunk of bytes) parts.push(Buffer.from(chunk))
  expect(Buffer.concat(parts).toString()).toBe('two\n')
  expect(asked).toEqual([[3, 8]])
})
