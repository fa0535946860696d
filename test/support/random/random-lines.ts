import type { Seeded } from './seeded.js'

/** What is likely to be read wrongly, in a valid line or in one that a mutation has just made invalid. */
const oddLines = [
  '{}',
  ' \t{ } \r',
  '{"":""}',
  '{"a":[]}',
  '{"a":[[],{},[{}]]}',
  '{"a":1,}',
  '{,}',
  '{"a":[1,]}',
  '{"a":[,1]}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{"a":1}}',
  '{"a":1}]',
  '{"a":1} x',
  '{"a":[1}',
  '{"a":{"b":1]}',
  '{"a":-0.1e+5,"b":-0,"c":0E0,"d":1e-9}',
  '{"a":01}',
  '{"a":-}',
  '{"a":1.}',
  '{"a":.5}',
  '{"a":1e}',
  '{"a":1e+}',
  '{"a":+1}',
  '{"a":0x1}',
  '{"a":123456789012345678901234567890.123456789012345678901234567890e123}',
  '{"a":true,"b":false,"c":null}',
  '{"a":tru}',
  '{"a":falsey}',
  '{"a":nul',
  '{"a":True}',
  '{"a":NaN}',
  '{"a":"\\ud800","b":"\\u00e9\\/\\b\\f\\n\\r\\t\\"\\\\"}',
  '{"a":"\\u12g4"}',
  '{"a":"\\x"}',
  '{"a":"\\"}',
  '{"a":"\u007f\u0080é😀\u2028"}',
  '{"a":"tab\there"}',
  '{"a":"unfinished',
  "{'a':1}",
  '{a:1}',
  '{"a":1/**/}',
  '\u{feff}{"a":1}',
  '[]',
  '[{"a":1}]',
  '1',
  '"a"',
  'null',
  '',
  ' \r\t ',
  '{"a":"0123456789abcde"}',
  '{"a":"0123456789abcdef"}',
  '{"a":"0123456789abcdef0"}',
  '{"0123456789abcdef":"0123456789abcdef0123456789abcde\\"0123456789abcdef"}',
]

const keys = [
  'id',
  'id',
  'tenant',
  'tenant',
  'tenant.id',
  'ID',
  'i\\u0064',
  'id ',
  'ids',
  '',
  'é',
  'a:b',
  'a longer key than sixteen bytes',
]
const ids = [
  '"a"',
  '7',
  '-1.50',
  '""',
  'null',
  'true',
  '"a\\nb"',
  '[1]',
  '{"id":1}',
  '{"id":"a|b","tenant":{"id":2}}',
  '"a|b"',
  '"|"',
  `"${'y'.repeat(512)}"`,
  `"${'z'.repeat(513)}"`,
  '"é😀"',
  '9007199254740993123',
  '"2026-01-02T23:59:59.123Z"',
  '"2026-01-01T03:04:05,678+05:30"',
  '"2024-12-30 00:10-0100"',
  '"2025-12-29"',
  '"2026-02-29T10:11"',
  '"2026-01-02T23:60:00Z"',
  '1767322800',
  '1767322800123',
  '"1767322800.5"',
]

/** A line, without its line feed: as a rule one document, often with the fields `id` and `tenant`. */
export function randomLine(random: Seeded): string {
  if (random.chance(0.15)) return random.pick(oddLines)
  const fields = Array.from({ length: random.below(6) }, () => {
    const value = random.chance(0.4) ? random.pick(ids) : randomValue(random, 3)
    return `${space(random)}"${random.pick(keys)}"${space(random)}:${space(random)}${value}${space(random)}`
  })
  return `${space(random)}{${fields.join(',')}}${space(random)}`
}

function randomValue(random: Seeded, depth: number): string {
  switch (random.below(depth === 0 ? 6 : 9)) {
    case 0:
      return String(random.below(1e6) / random.pick([1, 1000]))
    case 1:
      return random.pick(['0', '-0', '-1.5E+7', '12345678901234567890', '1e-300'])
    case 2:
      return random.pick(['true', 'false', 'null'])
    case 3:
      return `"${'x'.repeat(random.below(40))}"`
    case 4:
      return `"${'x'.repeat(random.below(20))}\\${random.pick(['n', '"', '\\', 'u00e9', '/'])}${'y'.repeat(random.below(20))}"`
    case 5:
      return random.pick(['"é😀"', '"]}"', '"{\\"id\\":1}"', '" "'])
    case 6: {
      // Around the depth where the kernel hands over.
      const levels = random.chance(0.1) ? 55 + random.below(15) : random.below(4)
      return random.chance(0.5)
        ? `${'['.repeat(levels)}1${']'.repeat(levels)}`
        : `${'{"id":'.repeat(levels)}1${'}'.repeat(levels)}`
    }
    case 7: {
      const members = Array.from(
        { length: random.below(4) },
        () => `"${random.pick(keys)}":${randomValue(random, depth - 1)}`,
      )
      return `{${space(random)}${members.join(',')}${space(random)}}`
    }
    default: {
      const elements = Array.from({ length: random.below(4) }, () => space(random) + randomValue(random, depth - 1))
      return `[${elements.join(',')}${space(random)}]`
    }
  }
}

const space = (random: Seeded) => (random.chance(0.8) ? '' : random.pick([' ', '\t', '\r', '  ']))

const LINE_FEED = 0x0a
const meaningful = Buffer.from('{}[]",:\\ 0123456789eE+-.truefalsn\t\r/bu"{}[]",:\\')

/** The same bytes with some of them removed, added, replaced, repeated or cut off. Never with a line feed. */
export function mutated(line: Buffer, random: Seeded): Buffer {
  let bytes = line
  for (let changes = random.pick([1, 1, 2, 3]); changes > 0; changes -= 1) bytes = mutatedOnce(bytes, random)
  return bytes
}

function mutatedOnce(bytes: Buffer, random: Seeded): Buffer {
  const at = random.below(bytes.length + 1)
  const to = Math.min(bytes.length, at + 1 + random.below(8))
  const put = (middle: Uint8Array, rest: number) => Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(rest)])
  switch (random.below(6)) {
    case 0:
      return put(Buffer.alloc(0), at + 1)
    case 1:
      return put(Buffer.from([randomByte(random)]), at)
    case 2:
      return put(Buffer.from([randomByte(random)]), at + 1)
    case 3:
      return put(Buffer.alloc(0), to)
    case 4:
      return put(Buffer.concat([bytes.subarray(at, to), bytes.subarray(at, to)]), to)
    default:
      return random.chance(0.2) ? bytes.subarray(0, at) : put(Buffer.from([meaningfulByte(random)]), at)
  }
}

function randomByte(random: Seeded): number {
  if (random.chance(0.85)) return meaningfulByte(random)
  const byte = random.below(256)
  return byte === LINE_FEED ? 0 : byte
}

function meaningfulByte(random: Seeded): number {
  return meaningful[random.below(meaningful.length)] as number
}
