import { expect, test } from 'vitest'
import { Checksum } from '../../../../../src/base/checksum/checksum.js'
import type { Lines, Mark } from '../../../../../src/base/flow.js'
import { StreamedLines } from '../../../../../src/run/state/inputs/streamed-lines.js'
import { seeded } from '../../../../support/random/seeded.js'

/** Yields the text in chunks, in memory that the next chunk overwrites. */
function linesOf(text: string, sizes: () => number, at = 0): Lines {
  const bytes = Buffer.from(text)
  const memory = Buffer.alloc(bytes.length)
  async function* chunks() {
    for (let from = 0, size = sizes(); from < bytes.length; from += size, size = sizes()) {
      const chunk = bytes.subarray(from, from + size)
      chunk.copy(memory)
      yield memory.subarray(0, chunk.length)
    }
  }
  return { kind: 'lines', at, bytes: chunks() }
}

async function textOf(lines: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of lines) text += Buffer.from(chunk).toString()
  return text
}

const markAt = (line: number, offset: number, tail = 0): Mark => ({ kind: 'lines', document: line, line, offset, tail })

test('lines are compared, and then read from any line on, however they come in', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = seeded(seed)
    const all = Array.from(
      { length: 1 + random.below(40) },
      (_, n) => `{"n":${n},"fill":"${'x'.repeat(random.below(30))}"}\n`,
    )
    const text = all.join('')
    const known = random.below(text.length + 1)
    const before = all.findIndex((_, n) => all.slice(0, n + 1).join('').length > known)
    const whole = before === -1 ? all.length : before
    const line = 1 + random.below(whole + 1)
    const at = random.pick([0, 3])
    const opened = new StreamedLines(linesOf(text, () => 1 + random.below(50), at))
    expect((await opened.first()).length).toBe(Math.min(256, text.length))
    expect((await opened.readTo(known))?.sum).toBe(Checksum.of(Buffer.from(text.slice(0, known))))
    const offset = all.slice(0, line - 1).join('').length
    expect(opened.has(line)).toBe(true)
    const lines = opened.from(markAt(line, at + offset))
    expect(lines).toMatchObject({ document: line, line, at: at + offset })
    expect(await textOf(lines.bytes)).toBe(text.slice(offset))
    expect(opened.sum.identity()).toMatchObject({ bytes: text.length, sum: Checksum.of(Buffer.from(text)) })
  }
})

test.each([
  { rest: '\n{"n":2}\n', end: 1 },
  { rest: '\r\n{"n":2}\n', end: 2 },
  { rest: '0}\n', end: 0 },
])('a last line without a line end is passed only if a line end follows: $end', async ({ rest, end }) => {
  const text = '{"n":0}\n{"n":1}'
  const opened = new StreamedLines(linesOf(text + rest, () => 1))
  await opened.readTo(text.length)
  const mark = markAt(2, 8, 7)
  expect(await opened.endBehind(mark, text.length)).toBe(end)
  const line = end === 0 ? 2 : 3
  expect(opened.has(line)).toBe(true)
  const from = end === 0 ? text.slice(8) + rest : rest.slice(end)
  expect(await textOf(opened.from(markAt(line, 0)).bytes)).toBe(from)
})

test('only the last part of what was compared stays in memory', async () => {
  const line = `{"fill":"${'x'.repeat(1_000_000)}"}\n`
  const opened = new StreamedLines(linesOf(line.repeat(40), () => 1 << 16))
  await opened.readTo(line.length * 30)
  expect([1, 10, 20, 31].map(number => opened.has(number))).toEqual([false, false, true, true])
  expect((await textOf(opened.from(markAt(20, 0)).bytes)).length).toBe(line.length * 21)
})
