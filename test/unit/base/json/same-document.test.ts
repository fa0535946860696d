import { expect, test } from 'vitest'
import { isSameDocument } from '../../../../src/base/json/same-document.js'

test.each([
  ['{"n":1}', '{"n":1}', true],
  ['{"n":1}', ' { "n" :\t1 }\n', true],
  ['{"a b":"c d"}', '{"a b":"cd"}', false],
  ['{"a":"x\\" y"}', '{ "a":"x\\" y"}', true],
  ['{"a":"x\\\\","b":1}', '{"a":"x\\\\", "b":1}', true],
  ['{"a":"x\\" y"}', '{"a":"x\\"  y"}', false],
  ['{"n":1.0}', '{"n":1}', false],
  ['{"n":1}', '{"n":1} ', true],
  ['{"n":1}', '{"n":12}', false],
  ['{"a":1,"b":2}', '{"b":2,"a":1}', false],
  ['{}', '', false],
])('%s and %s: %s', (one, other, isSame) => {
  expect(isSameDocument(Buffer.from(one), Buffer.from(other))).toBe(isSame)
  expect(isSameDocument(Buffer.from(other), Buffer.from(one))).toBe(isSame)
})
