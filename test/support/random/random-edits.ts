import { checkEdits } from '../../../src/options/edit-kinds.js'
import type { EditOptions } from '../../../src/options/ingest-options.js'
import type { Seeded } from './seeded.js'

const names = ['a', 'b', 'c', 'é', 'a.b', 'a.c', 'b.a', 'a.b.c', 'a.b.a', 'c.é', 'n w']
const keys = ['a', 'b', 'c', 'é', 'a.b', 'b.c', '', 'n w', 'a.', 'aa', 'd']
const scalars = ['1', '1.0', '-0', '1e400', '9007199254740993123', '"x"', '""', '"a\\"}"', '"\\\\"', 'null', 'true']
const spaces = ['', '', '', ' ', '\t', '  ', '\r']

/** Returns edits that do not contradict each other. */
export function randomEdits(random: Seeded): EditOptions {
  const some = (most: number) => [...new Set(Array.from({ length: random.below(most + 1) }, () => random.pick(names)))]
  for (;;) {
    const edits: EditOptions = {
      set: Object.fromEntries(some(2).map(name => [name, { json: random.pick(['7', '{"a":1}', '"t"']) }])),
      ...(random.chance(0.5) ? { drop: some(2) } : {}),
      ...(random.chance(0.3) ? { keep: [random.pick(names), ...some(3)] } : {}),
      rename: Object.fromEntries(some(2).map(name => [name, random.pick(names)])),
    }
    try {
      checkEdits(edits, name => name)
      return edits
    } catch {
      // Another one.
    }
  }
}

/** Returns an object in JSON, with odd white space, escaped keys, keys that stand twice, and fields within fields. */
export function randomObject(random: Seeded, depth = 0): string {
  const space = () => random.pick(spaces)
  const value = (): string => {
    const kind = depth > 3 ? 0 : random.below(6)
    if (kind === 5) return randomObject(random, depth + 1)
    if (kind === 4) return `[${list(random.below(4), value)}]`
    return random.pick(scalars)
  }
  const list = (count: number, item: () => string) =>
    Array.from({ length: count }, () => space() + item() + space()).join(',') || space()
  const key = () => {
    const name = random.pick(keys)
    const escaped = name.replaceAll(/./g, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
    return random.chance(0.2) ? `"${escaped}"` : JSON.stringify(name)
  }
  const member = () => `${key()}${space()}:${space()}${random.chance(0.4) ? randomValue() : value()}`
  const randomValue = () => (depth > 3 ? '0' : randomObject(random, depth + 1))
  return `{${list(random.below(5), member)}}`
}
