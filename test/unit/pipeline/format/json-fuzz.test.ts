import { expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import type { Cutter } from '../../../../src/pipeline/format/cut.js'
import { linesBy } from '../../../../src/pipeline/format/json-lines.js'
import { kernelCutter } from '../../../../src/pipeline/format/kernel/kernel.js'
import { plainCutter } from '../../../../src/pipeline/format/cutters.js'
import { mutated, randomLine } from '../../../support/random/random-lines.js'
import { rounds } from '../../../support/rounds.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

// `npm run fuzz:json` asks for more, and for another seed each time.
const DOCUMENTS = Number(process.env.FUZZ_COUNT ?? rounds(300, 1_000_000))
const SEED = Number(process.env.FUZZ_SEED ?? 1)

/** Takes nothing: the parser does everything. */
const parserOnly: Cutter = {
  input: plainCutter().input,
  cut: from => ({ lines: Buffer.alloc(0), objects: 0, takenTo: from, stoppedAt: from, stop: 'other' }),
}

interface Read {
  /** As Latin-1. */
  readonly lines: string
  readonly code: string | undefined
  readonly message: string
}

async function read(cutter: Cutter, bytes: Buffer, pick: string | undefined, size = bytes.length): Promise<Read> {
  let lines = ''
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size)
  }
  try {
    for await (const part of linesBy(cutter, 'input', chunks(), pick)) lines += Buffer.from(part).toString('latin1')
    return { lines, code: undefined, message: '' }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { lines, code: error.code, message: error.message }
  }
}

/** One or more JSON documents with elements, and the path of them. */
function randomDocument(random: Seeded): { readonly text: string; readonly pick: string | undefined } {
  const gap = () => random.pick(['', '', ' ', '\n', '\r\n  ', '\t', '  \n'])
  const element = () => {
    const line = randomLine(random)
    if (random.chance(0.7)) return line
    try {
      return JSON.stringify(JSON.parse(line), undefined, random.pick([1, 2, '\t']))
    } catch {
      return line
    }
  }
  const array = () => {
    const list = Array.from({ length: random.below(5) }, () => gap() + element() + gap())
    return `[${list.join(',') || gap()}]`
  }
  switch (random.below(5)) {
    case 0:
      return { text: Array.from({ length: random.below(4) }, () => gap() + element()).join(''), pick: undefined }
    case 1:
      return { text: `${array()}${gap()}${array()}`, pick: undefined }
    case 2:
      return { text: `{"b":[${element()}],${gap()}"a":${gap()}${array()},"c":${element()}}${gap()}`, pick: 'a' }
    case 3:
      return { text: `[1,{"a":${array()}}]{"0":2}[{},{"a":${array()}}]`, pick: '1.a' }
    default:
      return { text: array(), pick: undefined }
  }
}

/** Writes the strings of lines as the parser's tokens are written. */
function withoutEscapes(lines: string): string {
  return lines.replaceAll(/"(?:[^"\\]|\\.)*"/g, text => {
    const value = JSON.parse(Buffer.from(text, 'latin1').toString()) as string
    return Buffer.from(JSON.stringify(value)).toString('latin1')
  })
}

test(`the cutters agree with the parser on ${DOCUMENTS} mutated documents, seed ${SEED}`, async () => {
  const random = seeded(SEED)
  const kernel = kernelCutter()
  if (kernel === undefined) throw new Error('no kernel on this machine')
  const plain = plainCutter()
  const seen = { whole: 0, malformed: 0, truncated: 0, lines: 0 }
  for (let count = 1; count <= DOCUMENTS; count += 1) {
    const { text, pick } = randomDocument(random)
    const whole = Buffer.from(text)
    const bytes = random.chance(0.3) ? whole : mutated(whole, random)
    const expected = await read(parserOnly, bytes, pick)
    const got = await read(kernel, bytes, pick)
    const same = (what: string, one: unknown, other: unknown) => {
      if (one === other) return
      const of = `number ${count}, pick ${pick}: ${JSON.stringify(bytes.toString('latin1'))}`
      throw new Error(`${what} of ${of}:\n${JSON.stringify(one)}\n${JSON.stringify(other)}`)
    }
    same('the lines', withoutEscapes(got.lines), withoutEscapes(expected.lines))
    same('the message', got.message, expected.message)
    const cut = await read(kernel, bytes, pick, 1 + random.below(bytes.length))
    // The parser loses a scalar element if what follows it in the same piece is broken.
    const kept = (lines: string) => (got.code === undefined ? lines : lines.replaceAll(/^[^{[].*\n/gm, ''))
    same('the lines in chunks', kept(cut.lines), kept(got.lines))
    same('the failure in chunks', cut.code, got.code)
    const plainly = await read(plain, bytes, pick, random.chance(0.5) ? bytes.length : 1 + random.below(bytes.length))
    same('the lines in plain JavaScript', kept(plainly.lines), kept(got.lines))
    same('the failure in plain JavaScript', plainly.code, got.code)
    seen[got.code === undefined ? 'whole' : got.code === 'INPUT_TRUNCATED' ? 'truncated' : 'malformed'] += 1
    if (got.lines !== '') seen.lines += 1
  }
  for (const cases of Object.values(seen)) expect(cases).toBeGreaterThan(DOCUMENTS / 50)
  console.log(`seed ${SEED}: ${JSON.stringify(seen)}`)
})
