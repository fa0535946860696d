import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { idOfFields, idRule } from '../../../../src/pipeline/bulk/action-line.js'
import { rounds } from '../../../support/rounds.js'
import { seeded } from '../../../support/random/seeded.js'

const idOf = (document: object, field: string, more: { from?: 'hash'; separator?: string } = {}) =>
  idOfFields(JSON.stringify(document), idRule({ from: 'field', field, ...more }))

describe('the id of several fields', () => {
  test('is the values with a separator between them', () => {
    expect(idOf({ branch: 'DE', order: { no: 1001 } }, 'branch,order.no')).toBe('DE|1001')
    expect(idOf({ branch: 'DE', order: { no: 1001 } }, 'order.no , branch', { separator: '-' })).toBe('1001-DE')
    expect(idOf({ 'a,b': 1, c: 2 }, 'a\\,b,c')).toBe('1|2')
    expect(idOfFields('{"a":9007199254740993123,"b":1.50}', idRule({ from: 'field', field: 'a,b' }))).toBe(
      '9007199254740993123|1.50',
    )
  })

  test('keeps the text of a single field as it is', () => {
    expect(idOf({ a: 'x|y\\z' }, 'a')).toBe('x|y\\z')
  })

  test('is never that of other values, whatever they hold', () => {
    const random = seeded(1)
    for (const separator of ['|', '-', '$', '.', 'a', '1']) {
      const value = () =>
        Array.from({ length: 1 + random.below(4) }, () => random.pick([separator, separator, '\\', '\\', 'b'])).join('')
      const made = new Map<string, string>()
      for (let round = 0; round < rounds(600, 100_000); round += 1) {
        const document = { a: value(), b: value(), c: value() }
        const id = JSON.stringify(idOf(document, 'a,b,c', { separator }))
        const text = JSON.stringify(document)
        if ((made.get(id) ?? text) !== text) throw new Error(`${id} is the id of ${text} and of ${made.get(id)}`)
        made.set(id, text)
      }
      expect(made.size).toBeGreaterThan(500)
    }
    expect(idOf({ a: 'a|b', b: 'c' }, 'a,b')).toBe('a\\|b|c')
    expect(idOf({ a: 'a', b: 'b|c' }, 'a,b')).toBe('a|b\\|c')
  })

  test.each([
    [{ a: 1 }, 'a,b.c', { problem: 'is missing', field: 'b.c' }],
    [{ a: 1, b: null }, 'a,b', { problem: 'is neither a string nor a number', field: 'b' }],
    [{ a: 1, b: { c: 1 } }, 'a,b', { problem: 'is neither a string nor a number', field: 'b' }],
    [{ a: 1, b: [{ c: 1 }] }, 'a,b.c', { problem: 'is missing', field: 'b.c' }],
    [{ a: 1, b: '' }, 'a,b', { problem: 'is empty', field: 'b' }],
    [{ a: 'x'.repeat(256), b: 'x'.repeat(256) }, 'a,b', { problem: 'has more than 512 bytes', field: 'a,b' }],
  ])('is refused for %j', (document, field, problem) => {
    expect(idOf(document, field)).toEqual(problem)
  })

  test('may be hashed: that of any other program, however long the values are', () => {
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(idOf({ branch: 'DE', no: 1001 }, 'branch,no', { from: 'hash' })).toBe(sha256('DE|1001'))
    expect(idOf({ a: 'x|y' }, 'a', { from: 'hash' })).toBe(sha256('x|y'))
    const long = 'é'.repeat(5000)
    expect(idOf({ a: long, b: long }, 'a,b', { from: 'hash' })).toBe(sha256(`${long}|${long}`))
  })

  test.each([
    ['as a hash', { from: 'hash' }],
    ['as it stands', {}],
  ] as const)('is refused with half of a surrogate pair, %s', (_, given) => {
    // Elasticsearch would make the same id of both halves.
    for (const half of ['\ud800', 'cut \udc01', '\udc00\ud800'])
      expect(idOf({ a: half }, 'a', given)).toEqual({
        problem: 'contains half of a surrogate pair, which is not valid Unicode',
        field: 'a',
      })
    expect(idOf({ a: '\ud83d\ude00' }, 'a')).toBe('\ud83d\ude00')
  })
})
