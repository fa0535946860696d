import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PackedText } from '../../../../../src/run/state/checkpoint/packed-text.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packed-text-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

async function packed(text: string): Promise<PackedText> {
  const path = join(folder, 'text')
  await writeFile(path, text)
  return PackedText.read(path)
}

/** All lines, each from where the one before it ended. */
function linesOf(text: PackedText): string[] {
  const lines: string[] = []
  for (let at = 0; ;) {
    const line = text.lineAt(at)
    if (line === undefined) return lines
    lines.push(line.toString())
    at += line.length + 1
  }
}

test.each([
  ['a short file', 100],
  ['a long file', 40_000],
])('reads the lines of %s, some of them longer than a block', async (_, count) => {
  const lines = Array.from(
    { length: count },
    (__, n) => `${n} ${'ü'.repeat(n % 50)}${'x'.repeat(n % 97 === 0 ? 20_000 : 0)}`,
  )
  expect(linesOf(await packed(`${lines.join('\n')}\n`))).toEqual(lines)
})

test.each([
  ['a short file', 3],
  ['a long file', 200_000],
])('returns no line that has no end: %s', async (_, count) => {
  const whole = Array.from({ length: count }, (__, n) => `line ${n}`)
  expect(linesOf(await packed(`${whole.join('\n')}\ntorn`))).toEqual(whole)
})

test('reads lines of a long file in any order', { tags: 'long' }, async () => {
  const lines = Array.from({ length: 100_000 }, (_, n) => `{"line":${n}}`)
  const starts: number[] = []
  let at = 0
  for (const line of lines) {
    starts.push(at)
    at += line.length + 1
  }
  const text = await packed(`${lines.join('\n')}\n`)
  for (let n = 0; n < lines.length; n += 37) {
    const number = (n * 7919) % lines.length
    expect(text.lineAt(starts[number] ?? 0)?.toString()).toBe(lines[number])
  }
})

test('throws the error of the file system if there is no file', () => {
  expect(() => PackedText.read(join(folder, 'none'))).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('an empty file has no line', async () => {
  expect(linesOf(await packed(''))).toEqual([])
})
