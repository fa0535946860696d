import { expect, test } from 'vitest'
import type { TransformFunction } from '../../../../src/options/ingest-options.js'
import { describeError, transformDocument } from '../../../../src/features/transform/transform-document.js'
import { Untransformable } from '../../../../src/features/transform/untransformable.js'

const place = { file: 'a.ndjson', path: 'logs/a.ndjson', line: 7 }

/** What a document becomes: documents, or why not. */
async function made(text: string, transform: unknown, maxBytes = 100_000): Promise<readonly string[] | string> {
  const result = await transformDocument(text, place, transform as TransformFunction, { maxBytes })
  return result instanceof Untransformable ? result.message : result.map(String)
}

const same = (document: object) => document
const copy = (document: object) => ({ ...document })
const deepCopy = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(deepCopy)
  if (typeof value !== 'object' || value === null || 'text' in value) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, deepCopy(one)]))
}

const unusual = [
  '9007199254740993',
  '-1234567890123456789',
  '12345678901234567000',
  '1.0',
  '10.50',
  '-0',
  '-0.0',
  '0.0000001',
  '1e2',
  '1E+400',
  '1e-400',
  '0.12345678901234567890',
  '123456789012345678.5',
  '1e23',
  '100000000000000000000000',
]

test.each(unusual)('the number %s stays as it is, also in a copy', async number => {
  const text = `{"a":${number},"b":[3,${number},"${number}"],"c":{"a":1.5,"n":${number}}}`
  for (const transform of [same, copy, deepCopy]) expect(await made(text, transform)).toEqual([text])
})

test('numbers of one name that are written in two ways stay as they are in objects that are not copied', async () => {
  const text = '{"a":{"n":1.0},"b":{"n":1},"c":[1.0,1,-0,0]}'
  expect(await made(text, copy)).toEqual([text])
  // A copy of the inner objects has the same numbers, written as JavaScript writes them.
  expect(await made(text, deepCopy)).toEqual(['{"a":{"n":1},"b":{"n":1},"c":[1,1,-0,0]}'])
})

test('usual numbers are numbers, integers that would be rounded are bigint, and others refuse to be calculated with', async () => {
  const types = (document: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(document).map(([name, value]) => [name, typeof value]))
  expect(await made('{"a":1.0,"b":-0,"c":9007199254740991,"d":9007199254740992,"e":1e400}', types)).toEqual([
    '{"a":"number","b":"number","c":"number","d":"bigint","e":"object"}',
  ])
  const sum = ({ n }: { n: number }) => ({ n: n + 1 })
  expect(await made('{"n":10.50}', sum)).toEqual(['{"n":11.5}'])
  expect(await made('{"n":9007199254740993}', sum)).toMatch(/^the function threw TypeError: .*BigInt/)
  const exactly = 'it uses a number that JavaScript cannot hold exactly. Use its .text'
  for (const transform of [
    sum,
    ({ n }: { n: number }) => ({ is: n > 1 }),
    (document: object) => JSON.parse(JSON.stringify(document)) as unknown,
  ])
    expect(await made('{"n":1e400}', transform)).toBe(exactly)
  expect(await made('{"n":1e400}', (document: object) => structuredClone(document))).toMatch(/DataCloneError/)
  expect(await made('{"n":1e400}', ({ n }: { n: object }) => ({ spread: { ...n } }))).toBe(exactly)
  expect(await made('{"n":1e400}', ({ n }: { n: { text: string } }) => ({ text: n.text, m: n }))).toEqual([
    '{"text":"1e400","m":1e400}',
  ])
})

test('a new value of a number is written as JavaScript writes it', async () => {
  const transform = (document: Record<string, unknown>) => ({ ...document, a: 2, n: 12n ** 20n, z: -0 })
  expect(await made('{"a":1.0,"b":2.0}', transform)).toEqual([`{"a":2,"b":2.0,"n":${12n ** 20n},"z":-0}`])
})

test('names and texts stay as they are', async () => {
  const text = '{"constructor":1,"toString":{"hasOwnProperty":2},"":"\\ud800 \\" \\\\ é\\u0000"}'
  expect(await made(text.replace('é', '\\u00e9'), same)).toEqual([text])
  expect(await made(' { "a" : [ ] , "b" : { } , "c" : [ true , false , null , "\\\\" ] } \r', same)).toEqual([
    '{"a":[],"b":{},"c":[true,false,null,"\\\\"]}',
  ])
})

test.each([
  ['{"a":1,"\\u0061":2}', 'it has a field twice, and an object of JavaScript holds only one'],
  ['{"a":[{"__proto__":{"x":1}}]}', 'it has a field __proto__, which an object of JavaScript does not keep'],
  [`{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`, 'it has more than 1000 levels'],
])('%s is refused', async (text, problem) => {
  expect(await made(text, same)).toBe(problem)
})

test('null leaves a document out, an array makes several, a promise is awaited', async () => {
  expect(await made('{"n":1}', () => null)).toEqual([])
  expect(await made('{"n":1}', () => [])).toEqual([])
  const several = async (document: object, where: object) => await Promise.resolve([document, where, { ...document }])
  expect(await made('{"n":1.0}', several)).toEqual([
    '{"n":1.0}',
    '{"file":"a.ndjson","path":"logs/a.ndjson","line":7}',
    '{"n":1.0}',
  ])
})

const itself: Record<string, unknown> = {}
itself['a'] = { b: itself }
const doubled = Array.from({ length: 64 }).reduce<object>(inner => ({ a: inner, b: inner }), { n: 1 })

test.each([
  [undefined, 'the function returned nothing. Return the document, or null to leave it out'],
  [7, 'its result is the number 7, not an object'],
  ['x', 'its result is a string, not an object'],
  [[{ a: 1 }, null], 'its result is null, not an object'],
  [[[{ a: 1 }]], 'one of its results is an array, not an object'],
  [new Map([['a', 1]]), 'it holds a Map, which JSON cannot hold'],
  [{ a: new Set([1]) }, 'it holds a Set, which JSON cannot hold'],
  [{ a: Promise.resolve(1) }, 'it holds a Promise, which JSON cannot hold'],
  [{ a: Number.NaN }, 'it holds the number NaN, which JSON cannot hold'],
  [{ a: [1 / 0] }, 'it holds the number Infinity, which JSON cannot hold'],
  [{ a: [undefined] }, 'it holds undefined, which JSON cannot hold'],
  [{ a: () => 1 }, 'it holds a function, which JSON cannot hold'],
  [{ a: new Date(Number.NaN) }, 'it holds a Date without a value, which JSON cannot hold'],
  [itself, 'it has more than 1000 levels, or holds itself'],
  [{ a: Array.from({ length: 64 }).reduce<object>(inner => [inner, inner], []) }, 'it has more than 100000 characters'],
  [doubled, 'it has more than 100000 characters'],
  [[{ a: 'x'.repeat(90_000) }, { a: 'x'.repeat(90_000) }], 'the function returned more than 100000 bytes'],
] as const)('a result is refused: %#', async (result, problem) => {
  expect(await made('{"a":1}', () => result)).toBe(problem)
})

test('undefined leaves a field out, and a date is its text', async () => {
  expect(await made('{"a":1}', () => ({ a: undefined, b: new Date(0) }))).toEqual(['{"b":"1970-01-01T00:00:00.000Z"}'])
})

test('whatever is thrown is a reason in one line', async () => {
  const thrown = async (error: unknown) =>
    await made('{}', () => {
      throw error
    })
  expect(await thrown(new TypeError('no\n\u001ftotal'))).toBe('the function threw TypeError: no total')
  expect(await thrown(null)).toBe('the function threw null')
  expect(await thrown('x'.repeat(1000))).toHaveLength('the function threw '.length + 301)
  const hostile = {
    toString: () =>
      (() => {
        throw new Error('again')
      })(),
  }
  expect(await thrown(hostile)).toBe('the function threw something that cannot be shown')
  expect(await made('{}', async () => await Promise.reject(new Error('later')))).toBe('the function threw Error: later')
  const error = new Error('here')
  error.stack = 'Error: here\n    at file:///a/shape.mjs:12:5'
  expect(describeError(error, 'file:///a/shape.mjs')).toBe('Error: here (line 12 of the module)')
})
