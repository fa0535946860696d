import { describe, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { topLevelField } from '../../../src/bulk/top-level-field.js'
import { type Seeded, seeded } from '../../support/seeded.js'

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
  test('is what JSON.parse finds, in any object, equal keys included', () => {
    const seeds = rounds(400, 4000)
    let found = 0
    for (let seed = 1; seed <= seeds; seed += 1) {
      const text = randomObject(seeded(seed), 3)
      for (const name of keys) {
        const raw = topLevelField(text, name)
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
    expect(topLevelField('{"id":9007199254740993123}', 'id')).toBe('9007199254740993123')
    expect(topLevelField('{"id":1.50,"id":2}', 'id')).toBe('1.50')
    expect(topLevelField('{"n":{"id":1},"a":["id",{"id":2}],"s":"\\"id\\":3","id":4}', 'id')).toBe('4')
    expect(topLevelField('{"\\u0069d":5}', 'id')).toBe('5')
    expect(topLevelField('{"__proto__":6}', '__proto__')).toBe('6')
    expect(topLevelField('{}', 'id')).toBeUndefined()
    expect(topLevelField(' \t{ }\r\n', 'id')).toBeUndefined()
  })
})
