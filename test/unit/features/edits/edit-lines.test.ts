import { expect, test } from 'vitest'
import { DocumentEditor } from '../../../../src/features/edits/document-editor.js'
import { editLines } from '../../../../src/features/edits/edit-lines.js'
import { openEditKernel } from '../../../../src/features/edits/kernel/kernel.js'
import { rulesOf } from '../../../../src/features/edits/rules.js'

async function* chunked(text: string, bytes: number) {
  await Promise.resolve()
  for (let from = 0; from < text.length; from += bytes) yield Buffer.from(text.slice(from, from + bytes))
}

async function edited(text: string, { bytes = Infinity, longest = 1 << 20, isPlain = false } = {}) {
  const rules = rulesOf({ set: undefined, drop: ['a'], keep: undefined, rename: undefined })
  const kernel = isPlain ? undefined : openEditKernel()
  kernel?.prepare(rules, [])
  const given = { kind: 'lines', at: 100, line: 7, bytes: chunked(text, Math.min(bytes, text.length)) } as const
  const { lines, starts } = editLines(given, new DocumentEditor(rules, []), kernel, longest)
  const parts: Buffer[] = []
  for await (const part of lines.bytes) parts.push(Buffer.from(part))
  return { text: Buffer.concat(parts).toString(), starts }
}

const ways = [true, false].flatMap(isPlain => [1, 7, Infinity].map(bytes => ({ isPlain, bytes })))

test.each(ways)('a line is found where it began in the input (%j)', async how => {
  const text = '{"a":1,"b":2}\n\nno JSON\n{"\\u0061":1}\r\n{"b":3}'
  const { text: made, starts } = await edited(text, how)
  expect(made).toBe('{"b":2}\n\nno JSON\n{}\r\n{"b":3}')
  expect([7, 8, 9, 10, 11, 12].map(line => starts.startOf(line))).toEqual([100, 114, 115, 123, 137, 144])
})

test.each(ways.filter(({ bytes }) => bytes < Infinity))(
  'a line that is too long passes as it is, also at the end (%j)',
  async how => {
    const long = `{"a":"${'x'.repeat(40)}"}`
    const { text, starts } = await edited(`{"a":1}\n${long}\n{"a":2}\n${long}`, { ...how, longest: 20 })
    expect(text).toBe(`{}\n${long}\n{}\n${long}`)
    const end = 100 + 8 + long.length + 1 + 8
    expect([8, 9, 10, 11].map(line => starts.startOf(line))).toEqual([108, end - 8, end, end + long.length])
  },
)
