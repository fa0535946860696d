import { expect, test } from 'vitest'
import { elements } from '../../../../src/pipeline/format/elements.js'
import { tokensInto } from '../../../../src/pipeline/format/tokens.js'

/** Parses a text that comes in windows of this size. Returns the number of pieces, and the lines. */
function parsed(text: string, window: number): { pieces: number; lines: string } {
  const found = elements(undefined)
  const parser = tokensInto(found)
  let pieces = 0
  let lines = ''
  for (let from = 0; from < text.length; from += window) {
    const bytes = Buffer.from(text.slice(from, from + window))
    for (let at = 0; at < bytes.length; pieces += 1) {
      const end = parser.endOfPiece(bytes, at, bytes.length)
      expect(parser.parse(bytes.toString('utf8', at, end))).toBeUndefined()
      at = end
    }
    lines += String(found.take() ?? '')
  }
  expect(parser.end()).toBe('whole')
  return { pieces, lines }
}

test.each(['}', '{}', ']', '\\"}', '\\\\}', '\\\\\\"]'])(
  'a string with many times %s is parsed in few pieces',
  text => {
    const line = `{"a":"${text.repeat(10_000)}","b":"}","c":[{}]}`
    const { pieces, lines } = parsed(`[${line},${line}]`, 1 << 20)
    expect(lines).toBe(`${line}\n${line}\n`)
    expect(pieces).toBeLessThan(40)
  },
)

test('strings with brackets, quotes and backslashes stay the same, however the input is cut', () => {
  const line = '{"a":"}\\\\","b":["\\\\\\"}","\\"]","\\\\"],"c}":"{\\"}"}'
  for (let window = 1; window < 2 * line.length; window += 1)
    expect(parsed(`[${line},${line}]`, window).lines, `windows of ${window}`).toBe(`${line}\n${line}\n`)
})
