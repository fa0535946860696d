import { expect, test } from 'vitest'
import { haveSameValues, keptFields } from '../../../../../src/route/sender/layers/same-values.js'

const properties = {
  '@timestamp': { type: 'date' },
  nanos: { type: 'date_nanos' },
  day: { type: 'date', format: 'yyyy-MM-dd' },
  word: { type: 'keyword' },
  count: { type: 'long' },
  ratio: { type: 'float' },
  open: { type: 'boolean' },
  text: { type: 'text' },
  title: { type: 'text', fields: { keyword: { type: 'keyword' } } },
  host: { properties: { name: { type: 'keyword' }, ip: { type: 'ip' } } },
  lines: { type: 'nested', properties: { sku: { type: 'keyword' }, n: { type: 'long' } } },
}
const same = (one: string, other: string, keepsLists = false) => {
  const kept = keptFields({ properties }, keepsLists)
  const isSame = haveSameValues(Buffer.from(one), Buffer.from(other), kept)
  expect(haveSameValues(Buffer.from(other), Buffer.from(one), kept)).toBe(isSame)
  return isSame
}

// The left one was sent, and the right one is what an index builds of it.
test.each([
  ['{"b":1,"a":2}', '{"a":2,"b":1}'],
  ['{"host.name":"x","host":{"ip":"::1"}}', '{"host":{"ip":"::1","name":"x"}}'],
  ['{"host":[{"name":"b"},{"name":"a"},{"name":"b"}]}', '{"host":{"name":["a","b"]}}'],
  ['{"word":["b","a","a"],"count":[3,1,1]}', '{"count":[1,1,3],"word":["a","b"]}'],
  ['{"word":null,"count":[]}', '{}'],
  ['{"word":1.50,"count":"12","open":"true"}', '{"count":12,"open":true,"word":"1.50"}'],
  ['{"count":1234567890123456789}', '{"count":1234567890123456789}'],
  ['{"count":1.0}', '{"count":1}'],
  ['{"count":-0.120e3}', '{"count":-120}'],
  ['{"ratio":0.1}', '{"ratio":0.10000000149011612}'],
  ['{"@timestamp":"2026-11-29"}', '{"@timestamp":"2026-11-29T00:00:00.000Z"}'],
  ['{"@timestamp":"2026-11-29T10:11:12.5+02:00"}', '{"@timestamp":"2026-11-29T08:11:12.500Z"}'],
  ['{"@timestamp":"2026-11-29T10:11:12.123456Z"}', '{"@timestamp":"2026-11-29T10:11:12.123Z"}'],
  ['{"@timestamp":1764411072500}', '{"@timestamp":"2025-11-29T10:11:12.500Z"}'],
  ['{"@timestamp":-14500}', '{"@timestamp":"1969-12-31T23:59:45.500Z"}'],
  ['{"nanos":"2026-11-29T10:11:12.123456789Z"}', '{"nanos":"2026-11-29T10:11:12.123456789Z"}'],
  [String.raw`{"text":"\u00e9","word":"\/"}`, '{"text":"é","word":"/"}'],
  ['{"title":["b","a"]}', '{"title":["a","b"]}'],
  ['{"lines":[{"n":1,"sku":"a"},{"sku":"b"}]}', '{"lines":[{"sku":"a","n":1.0},{"sku":"b"}]}'],
])('an index builds the same of %s', (sent, built) => {
  expect(same(sent, built)).toBe(true)
})

test.each([
  ['{"a":1}', '{"a":2}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":[2,1]}', '{"a":[1,2]}'],
  ['{"a":1}', '{"a":1,"b":null,"c":0}'],
  ['{"count":[1,1]}', '{"count":1}'],
  ['{"count":1234567890123456789}', '{"count":1234567890123456788}'],
  ['{"count":1}', '{"count":10}'],
  ['{"count":1}', '{"count":-1}'],
  ['{"word":"2026-11-29"}', '{"word":"2026-11-29T00:00:00.000Z"}'],
  ['{"day":"2026-11-29"}', '{"day":"2026-11-29T00:00:00.000Z"}'],
  ['{"@timestamp":"2026-11-29T10:11:12.123Z"}', '{"@timestamp":"2026-11-29T10:11:12.124Z"}'],
  ['{"@timestamp":-15500}', '{"@timestamp":"1969-12-31T23:59:45.500Z"}'],
  ['{"nanos":"2026-11-29T10:11:12.123456789Z"}', '{"nanos":"2026-11-29T10:11:12.123456788Z"}'],
  ['{"text":["b","a"]}', '{"text":["a","b"]}'],
  ['{"host":{"name":"a"}}', '{"host":{"ip":"a"}}'],
  ['{"lines":[{"n":1,"sku":"a"},{"n":2,"sku":"b"}]}', '{"lines":[{"n":2,"sku":"a"},{"n":1,"sku":"b"}]}'],
])('another value is another document: %s', (one, other) => {
  expect(same(one, other)).toBe(false)
})

test('an index that keeps lists tells them apart by order and count', () => {
  const word = (...words: readonly string[]) => JSON.stringify({ word: words })
  expect(same(word('b', 'a'), word('a', 'b'), true)).toBe(false)
  expect(same(word('a', 'a'), word('a'), true)).toBe(false)
  expect(same(word('b', 'a', 'a'), word('b', 'a', 'a'), true)).toBe(true)
  expect(same('{"count":["12",1.0]}', '{"count":[12,1]}', true)).toBe(true)
})
