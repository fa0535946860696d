import { describe, expect, test } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import { nestedField } from '../../../../src/pipeline/bulk/nested-field.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

const keys = ['id', 'ID', 'i\\u0064', 'i"d', '{', '}', '', 'id ', 'é', '__proto__', 'a:b', 'a,b', '\\', 'ids']

/** A JSON value as text, with white space wherever it may stand. */
function randomValue(random: Seeded, depth: number): string {
  const kinds = depth === 0 ? 7 : 9
  switch (random.below(kinds)) {
    case 0:
      return random.pick(['0', '-1', '1.5e-7', '1234567890123456789', '-0.0', '1E+2'])
    case 1:
      return random.pick(['true', 'false', 'null'])
    case 2:
      return '"{\\"id\\":\\"no\\"},["'
    case 3:
      return '"\\\\"'
    case 4:
      return '"\\u00e9\\/ é😀"'
    case 5:
      return '""'
    case 6:
      return '"]}\\\\\\""'
    case 7:
      return randomObject(random, depth - 1)
    default: {
      const items = Array.from({ length: random.below(4) }, () => space(random) + randomValue(random, depth - 1))
      return `[${items.join(`${space(random)},`)}${space(random)}]`
    }
  }
}

function randomObject(random: Seeded, depth: number): string {
  const fields = Array.from({ length: random.below(6) }, () => {
    const key = random.chance(0.3) ? escaped(random.pick(keys), random) : JSON.stringify(random.pick(keys))
    return `${space(random)}${key}${space(random)}:${space(random)}${randomValue(random, depth)}`
  })
  return `{${fields.join(`${space(random)},`)}${space(random)}}`
}

/** The same key, with some of its characters written as escapes. */
function escaped(key: string, random: Seeded): string {
  const characters = Array.from({ length: key.length }, (_, at) => {
    const unit = key.charCodeAt(at).toString(16).padStart(4, '0')
    return random.chance(0.5) ? `\\u${unit}` : JSON.stringify(key.charAt(at)).slice(1, -1)
  })
  return `"${characters.join('')}"`
}

const space = (random: Seeded) => random.pick(['', '', ' ', '\t', '\r', '  '])

describe('a top-level field', () => {
  test('is what JSON.parse finds, in any object, equal keys included', { tags: 'long' }, () => {
    const seeds = rounds(400, 4000)
    let found = 0
    for (let seed = 1; seed <= seeds; seed += 1) {
      const text = randomObject(seeded(seed), 3)
      for (const name of keys) {
        const raw = nestedField(text, name)
        const parsed = fieldsOf(text)
        const expected = parsed.find(([key]) => key === name)
        if (raw === undefined) expect(expected).toBeUndefined()
        else {
          found += 1
          expect(raw).toBe(raw.trim())
          expect(JSON.stringify(JSON.parse(raw))).toBe(expected?.[1])
        }
      }
    }
    expect(found).toBeGreaterThan(seeds / 4)
  })

  /** The object's own keys in the order in which they stand, duplicates included, each with its value as JSON. */
  function fieldsOf(text: string): [string, string][] {
    const seen: [string, string][] = []
    let rest = text
    for (let cut = topLevelCut(rest); cut !== undefined; cut = topLevelCut(rest)) {
      const [field] = Object.entries(JSON.parse(`{${cut.field}}`) as Record<string, unknown>)
      if (field === undefined) break
      seen.push([field[0], JSON.stringify(field[1])])
      rest = cut.rest
    }
    return seen
  }

  /** The shortest beginning of the object's inside that is a field by JSON.parse's own judgement. */
  function topLevelCut(object: string): { field: string; rest: string } | undefined {
    const inside = object.slice(1, -1)
    for (let end = 1; end <= inside.length; end += 1) {
      if (end < inside.length && inside[end] !== ',') continue
      const field = inside.slice(0, end)
      if (isJson(`{${field}}`)) return { field, rest: `{${inside.slice(end + 1)}}` }
    }
    return undefined
  }

  function isJson(text: string): boolean {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }

  test('keeps every digit, and is the first of equal keys', () => {
    expect(nestedField('{"id":9007199254740993123}', 'id')).toBe('9007199254740993123')
    expect(nestedField('{"id":1.50,"id":2}', 'id')).toBe('1.50')
    expect(nestedField('{"n":{"id":1},"a":["id",{"id":2}],"s":"\\"id\\":3","id":4}', 'id')).toBe('4')
    expect(nestedField('{"\\u0069d":5}', 'id')).toBe('5')
    expect(nestedField('{"__proto__":6}', '__proto__')).toBe('6')
    expect(nestedField('{}', 'id')).toBeUndefined()
    expect(nestedField(' \t{ }\r\n', 'id')).toBeUndefined()
  })
})

describe('a nested field', () => {
  test('is found by every path that joins its keys, and is the first that has it', () => {
    const paths = ['a', 'a.b', 'a.b.c', 'b.c', 'a.c', '', '.', 'a.', '.a', 'a..b']
    const keys = ['a', 'b', 'c', 'a.b', 'b.c', 'a.b.c', '', 'a.']
    const object = (random: Seeded, depth: number): string => {
      const fields = Array.from({ length: random.below(4) }, () => {
        const value = depth > 0 && random.chance(0.6) ? object(random, depth - 1) : String(random.below(100))
        return `"${random.pick(keys)}":${random.chance(0.1) ? `[${value}]` : value}`
      })
      return `{${fields.join(', ')}}`
    }
    let found = 0
    for (let seed = 1; seed <= rounds(500, 5000); seed += 1) {
      const text = object(seeded(seed), 3)
      const all = pathsIn(text)
      for (const path of paths) {
        const expected = all.find(([joined]) => joined === path)?.[1]
        const raw = nestedField(text, path)
        expect(raw, `${path} in ${text}`).toBe(expected)
        if (raw !== undefined) found += 1
      }
    }
    expect(found).toBeGreaterThan(100)
  })

  /** Every value that no array holds, with its keys joined by dots, in the order in which the values begin. */
  function pathsIn(text: string): [string, string][] {
    const found: [string, string][] = []
    const open: { readonly path: string; readonly at: number }[] = []
    const joined = (key: string) => (open.length > 1 ? `${open.at(-1)?.path ?? ''}.${key}` : key)
    let [arrays, key] = [0, '']
    for (const { 0: token, index } of text.matchAll(/"[^"]*"|[{}[\]]|\d+/g)) {
      if (token === '[') arrays += 1
      else if (token === ']') arrays -= 1
      if (arrays > 0 || token === ']') {
        if (token === '[' && arrays === 1) found.push([joined(key), text.slice(index, endOfArray(text, index))])
        continue
      }
      if (token.startsWith('"')) key = token.slice(1, -1)
      else if (token === '{') {
        const path = joined(key)
        if (open.length > 0) found.push([path, text.slice(index, endOfObject(text, index))])
        open.push({ path, at: index })
      } else if (token === '}') open.pop()
      else found.push([joined(key), token])
    }
    return found
  }

  const endOfObject = (text: string, from: number) => endOf(text, from, '{', '}')
  const endOfArray = (text: string, from: number) => endOf(text, from, '[', ']')

  function endOf(text: string, from: number, opening: string, closing: string): number {
    let depth = 0
    for (let at = from; ; at += 1) {
      if (text[at] === opening) depth += 1
      else if (text[at] === closing && (depth -= 1) === 0) return at + 1
    }
  }

  test('keeps every digit, looks into no array, and reads keys with escapes', () => {
    expect(nestedField('{"order":{"no":9007199254740993123}}', 'order.no')).toBe('9007199254740993123')
    expect(nestedField('{"order.no":1,"order":{"no":2}}', 'order.no')).toBe('1')
    expect(nestedField('{"order":{"at":0},"order.no":3}', 'order.no')).toBe('3')
    expect(nestedField('{"order":[{"no":4}]}', 'order.no')).toBeUndefined()
    expect(nestedField('{"\\u006frder":{"n\\u006f":"5"}}', 'order.no')).toBe('"5"')
    expect(nestedField('{"order":{"no":{"a":6}}}', 'order.no')).toBe('{"a":6}')
  })
})
