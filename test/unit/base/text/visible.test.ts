import { expect, test } from 'vitest'
import { quote } from '../../../../src/base/failure/failure.js'
import { shown, visible, visibleLines } from '../../../../src/base/text/shown.js'

const every = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter(
  one => !/\p{Surrogate}/u.test(one),
)
/** By Unicode's own tables: what controls, separates lines, or turns the order of text around. */
const acting = every.filter(one => /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(one))

test('a part of a line holds nothing that acts, and every other character', () => {
  expect(acting.length).toBe(65 + 2 + 12)
  expect(acting.filter(one => visible(one) === one || quote(`a${one}b`).includes(one))).toEqual([])
  expect(every.filter(one => !acting.includes(one) && visible(one) !== one)).toEqual(['\ufeff'])
})

test('whole lines keep their line ends', () => {
  expect(acting.filter(one => visibleLines(one) === one)).toEqual(['\n'])
  expect(visibleLines('{"a":1}\nbidi \u202e and CSI \u009b31m\r\n')).toBe(
    '{"a":1}\nbidi \\u202e and CSI \\u009b31m\\r\n',
  )
})

test('JSON keeps its meaning', () => {
  const value = { [`\\${every.join('')}`]: every.map(one => `\\${one}"`) }
  const text = `${JSON.stringify(value)}\n`
  expect(JSON.parse(visibleLines(text))).toEqual(value)
})

test('values cannot act in text of our own', () => {
  expect(shown`Run ${'a\nb\t\u001b[2J'} ended\n`).toBe('Run a\\nb\\t\\u001b[2J ended\n')
})
