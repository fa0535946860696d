import { isUtf8 } from 'node:buffer'
import { expect, test } from 'vitest'
import { NO_FAULT, SOMEWHERE, jsonFault } from '../../../../src/base/json/json-fault.js'
import { mutated, randomLine } from '../../../support/random/random-lines.js'
import { rounds } from '../../../support/rounds.js'
import { seeded } from '../../../support/random/seeded.js'

/** What JSON.parse says. */
function judged(line: Buffer): number {
  try {
    JSON.parse(line.toString('latin1'))
    return NO_FAULT
  } catch (error) {
    const place = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(String(error))?.[1]
    return place === undefined ? SOMEWHERE : Number(place)
  }
}

/** Other versions of the engine may name more places, or fewer. */
const isSameEngine = process.versions.v8.startsWith('11.')

function areAlike(ours: number, theirs: number): boolean {
  if (isSameEngine || (ours >= 0 && theirs >= 0)) return ours === theirs
  return (ours === NO_FAULT) === (theirs === NO_FAULT)
}

const found = (line: Buffer) =>
  jsonFault(Buffer.concat([Buffer.from('}"'), line, Buffer.from('"}')]), 2, line.length + 2)

test.each([
  '',
  '\n',
  '{',
  '}',
  '{"a":',
  '{"a":\n',
  '{"a" 1}',
  '{"a":1',
  '{"a":1,}',
  '{"a":1 "b":2}',
  '{,}',
  '{a:1}',
  '[1,]',
  '[1 2]',
  '[,1]',
  '[1',
  '1 2',
  '{} {}',
  '{}x',
  '01',
  '-',
  '-x',
  '-01',
  '1.',
  '1.x',
  '1e',
  '1e+',
  '1e5x',
  '.5',
  '+1',
  'tru',
  'tru1',
  'tr"e"',
  'nul\n',
  'falsey',
  'NaN',
  'undefined',
  '"',
  '"a',
  '"a\n',
  '"\\',
  '"\\x"',
  '"\\u12',
  '"\\u12G4"',
  '"\\u1"',
  '"tab\there"',
  'id,name\n',
  "{'a':1}",
  '{"a":1}\n{"a":2}',
  '"\u00e9"',
  '\u00e9',
  '{"a":[{"b":[true,false,null,-0.5e-3,"\\u00e9\\n"]}]} ',
])('finds the fault of %j where JSON.parse does', text => {
  const line = Buffer.from(text)
  expect([found(line), judged(line)]).toSatisfy(([ours = 0, theirs = 0]: number[]) => areAlike(ours, theirs))
})

const LINES = rounds(5000, 1_000_000)

test(`agrees with JSON.parse on ${LINES} mutated lines, and on each cut off somewhere`, () => {
  const random = seeded(2)
  let faults = 0
  for (let count = 0; count < LINES;) {
    const whole = Buffer.from(randomLine(random))
    const changed = random.chance(0.1) ? whole : mutated(whole, random)
    const line = random.chance(0.3) ? changed.subarray(0, random.below(changed.length + 1)) : changed
    if (!isUtf8(line)) continue
    count += 1
    const [ours, theirs] = [found(line), judged(line)]
    if (!areAlike(ours, theirs)) throw new Error(`${ours}, not ${theirs}: ${JSON.stringify(line.toString('latin1'))}`)
    if (ours !== NO_FAULT) faults += 1
  }
  expect(faults).toBeGreaterThan(LINES / 10)
})
