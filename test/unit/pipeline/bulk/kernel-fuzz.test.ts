import { isUtf8 } from 'node:buffer'
import { expect, test } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import { type IndexPattern, patternIn } from '../../../../src/base/text/index-pattern.js'
import {
  type ActionTemplate,
  actionLine,
  actionTemplate,
  namedIndex,
} from '../../../../src/pipeline/bulk/action-line.js'
import { openKernel } from '../../../../src/pipeline/bulk/kernel/kernel.js'
import { LONGEST_HASHED } from '../../../../src/pipeline/bulk/kernel/layout.js'
import { kernelMemory } from '../../../../src/pipeline/bulk/kernel/memory.js'
import { mutated, randomLine } from '../../../support/random/random-lines.js'
import { seeded } from '../../../support/random/seeded.js'

// `npm run fuzz:kernel` asks for more, and for another seed each time.
const LINES = Number(process.env.FUZZ_COUNT ?? rounds(5000, 1_000_000))
const SEED = Number(process.env.FUZZ_SEED ?? 1)

const MAX_DEPTH = 64
/** What would make a valid line of many a broken one, if it were read as a part of it. */
const BAIT = Buffer.from('"}]}]}"}}}0,"a":1}\n{"id":"bait","tenant":"bait"}\n')

const templates: readonly ActionTemplate[] = [
  actionTemplate({ operation: 'create', ids: { from: 'run' } }, 'token'),
  actionTemplate({ operation: 'create', ids: { from: 'run', by: 'offset' } }, 'token', 'range'),
  actionTemplate({ operation: 'index', ids: { from: 'run', by: 'offset' }, routingField: 'tenant' }, 'token'),
  actionTemplate({ operation: 'index', ids: { from: 'cluster' } }, ''),
  actionTemplate({ operation: 'index', ids: { from: 'field', field: 'id' } }, ''),
  actionTemplate({ operation: 'create', ids: { from: 'field', field: 'id' }, routingField: 'tenant' }, ''),
  actionTemplate({ operation: 'create', ids: { from: 'field', field: 'tenant' }, routingField: 'tenant' }, ''),
  actionTemplate({ operation: 'index', ids: { from: 'field', field: 'id,tenant' } }, ''),
  actionTemplate({ operation: 'index', ids: { from: 'hash', field: 'tenant,id' }, routingField: 'tenant.id' }, ''),
  actionTemplate({ operation: 'index', ids: { from: 'field', field: 'tenant.id' } }, ''),
  actionTemplate(
    { operation: 'create', ids: { from: 'run' }, routingField: 'a longer key than sixteen bytes' },
    'token',
  ),
  ...[
    { indexPattern: 'logs-{id:yyyy.MM.dd}' },
    { indexPattern: 'logs-{id:xxxx.ww}-{tenant}', routingField: 'tenant' },
    { indexPattern: '{tenant.id}', ids: { from: 'hash', field: 'id,tenant' } as const },
    { indexPattern: 'a{id:yyyyMMdd-HH}', ids: { from: 'field', field: 'id' } as const },
    { indexPattern: 'a{tenant}b', ids: { from: 'cluster' } as const },
    { indexPattern: 'b-{tenant}', ids: { from: 'run', by: 'offset' } as const },
  ].map(({ indexPattern, ids = { from: 'run' }, ...more }) =>
    actionTemplate(
      { operation: 'create', ids, ...more, indexPattern: patternIn(indexPattern) as IndexPattern },
      'token',
    ),
  ),
]

/** What JSON.parse says of a line. */
function parsed(line: Buffer): { isBlank: boolean; isObject: boolean } {
  const text = line.toString()
  if (/^[ \t\r]*$/.test(text)) return { isBlank: true, isObject: false }
  try {
    const value: unknown = JSON.parse(text)
    return { isBlank: false, isObject: typeof value === 'object' && value !== null && !Array.isArray(value) }
  } catch {
    return { isBlank: false, isObject: false }
  }
}

/** How deep brackets nest, for a valid line: strings left out. */
function depthOf(line: Buffer): number {
  let depth = 0
  let deepest = 0
  for (const bracket of line
    .toString('latin1')
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    .matchAll(/[[\]{}]/g)) {
    depth += '[{'.includes(bracket[0]) ? 1 : -1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

test(`the kernel agrees with JSON.parse on ${LINES} mutated lines, seed ${SEED}`, () => {
  const random = seeded(SEED)
  const memory = kernelMemory(1, 1 << 20)
  const kernel = openKernel(memory)
  const slot = memory?.slots[0]
  if (kernel === undefined || slot === undefined) throw new Error('no kernel on this machine')
  const limits = { bodyBytes: slot.length, documents: 1, lineBytes: slot.length }
  const seen = { framed: 0, blank: 0, left: 0, leftThoughValid: 0, named: 0, notUtf8: 0 }
  for (let count = 0; count < LINES;) {
    const template = random.pick(templates)
    kernel.prepare(template)
    for (let more = 1000; more > 0 && count < LINES; more -= 1) {
      const whole = Buffer.from(randomLine(random))
      const line = random.chance(0.25) ? whole : mutated(whole, random)
      count += 1
      const number = random.pick([1, 9, 10, 99, 12_345, 999_999_999, Number.MAX_SAFE_INTEGER])
      // So that lines lie across the end of a piece (4096 bytes), and what was in the pieces before is no matter.
      const from = random.chance(0.2)
        ? random.below(64)
        : 4096 - random.below(line.length + 70) + 4096 * random.below(3)
      const at = Math.max(0, from)
      const before = random.chance(0.5) ? Buffer.alloc(at, '"') : Buffer.alloc(at, 'x')
      kernel.load(Buffer.concat([before, line, Buffer.from('\n'), BAIT]))
      let framed = kernel.frame(at, at + line.length + 1, slot, 0, limits, number)
      const { isBlank, isObject } = parsed(line)
      const action = isObject ? actionLine(template, number, () => line.toString()) : undefined
      if (template.index !== undefined && typeof action === 'string' && framed.namePlace > 0) {
        // JavaScript has made the name, and the kernel finds it from now on.
        kernel.rememberName(framed.namePlace, namedIndex(action, template.index))
        framed = kernel.frame(at, at + line.length + 1, slot, 0, limits, number)
        seen.named += 1
      }
      const fail = (what: string) => {
        throw new Error(`${what}, number ${count}: ${JSON.stringify(line.toString('latin1'))}`)
      }
      if (framed.documents > 0 && framed.isAscii && line.some(byte => byte > 0x7f)) fail('other bytes are no ASCII')
      if (!isUtf8(line)) {
        // The caller of the kernel finds that out.
        if (framed.documents > 0) seen.notUtf8 += 1
      } else if (framed.blankLines > 0) {
        if (!isBlank || framed.documents > 0 || framed.blankBytes !== line.length + 1) fail('a blank line')
        seen.blank += 1
      } else if (framed.documents > 0) {
        if (!isObject || typeof action !== 'string') return fail('a line that should be refused')
        const body = slot.subarray(0, framed.bodyBytes)
        if (!body.equals(Buffer.concat([Buffer.from(action), line, Buffer.from('\n')]))) fail('another body')
        if (framed.lineBytes !== line.length + 1) fail('another length')
        seen.framed += 1
      } else {
        if (framed.stop !== 'line' || framed.lineBytes + framed.bodyBytes > 0)
          fail('a line that is neither framed nor left')
        seen.left += 1
        if (typeof action !== 'string') continue
        seen.leftThoughValid += 1
        const looksAtText = [typeof template.id, typeof template.index, typeof template.routing].includes('object')
        // A separator within a value is left to JavaScript, and so are long values of a hash.
        const isLongHash = typeof template.id === 'object' && template.id.isHashed && line.length > LONGEST_HASHED
        const hasLongName = template.index !== undefined && namedIndex(action, template.index).length > 64
        const hasSeparator = looksAtText && /[\\|]/.test(line.toString())
        const isUsual = depthOf(line) <= MAX_DEPTH && !hasSeparator && !isLongHash && !hasLongName
        if (isUsual) fail('a usual line left to JavaScript')
      }
    }
  }
  expect(seen.framed).toBeGreaterThan(LINES / 20)
  expect(seen.left).toBeGreaterThan(LINES / 10)
  expect(seen.named).toBeGreaterThan(0)
  expect(seen.notUtf8).toBeGreaterThan(0)
  expect(seen.blank).toBeGreaterThan(0)
  expect(seen.leftThoughValid).toBeGreaterThan(0)
  console.log(`seed ${SEED}: ${JSON.stringify(seen)}`)
})
