import { expect, test } from 'vitest'
import { objectsBy } from '../../../../../src/pipeline/format/actions/top-objects.js'
import { kernelCutter } from '../../../../../src/pipeline/format/kernel/kernel.js'
import { plainCutter } from '../../../../../src/pipeline/format/cutters.js'
import { mutated, randomLine } from '../../../../support/random/random-lines.js'
import { rounds } from '../../../../support/rounds.js'
import { seeded } from '../../../../support/random/seeded.js'

/** Returns objects and refused lines, however they came together. */
async function read(cutter: ReturnType<typeof plainCutter>, bytes: Buffer, step: number): Promise<string[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += step) yield await Promise.resolve(bytes.subarray(at, at + step))
  }
  const seen: string[] = []
  try {
    for await (const { lines, problem } of objectsBy(cutter, 'a', chunks())) {
      if (problem === undefined) seen.push(...lines.toString('latin1').split('\n').slice(0, -1))
      else seen.push(`${problem}: ${lines.toString('latin1')}`)
    }
  } catch (error) {
    seen.push(String(error))
  }
  return seen
}

test.each(Array.from({ length: rounds(30, 2000) }, (_, seed) => seed))(
  'both cutters find the same objects and the same broken lines, in any chunks (seed %d)',
  async seed => {
    const random = seeded(seed)
    const line = () => {
      const text = Buffer.from(randomLine(random))
      return random.chance(0.3) ? mutated(text, random) : text
    }
    const lines = Array.from({ length: 1 + random.below(30) }, () => Buffer.concat([line(), Buffer.from('\n')]))
    const bytes = Buffer.concat(lines)
    const kernel = kernelCutter() ?? plainCutter()
    const whole = await read(plainCutter(), bytes, bytes.length)
    for (const step of [bytes.length, 1 + random.below(100)])
      for (const cutter of [plainCutter(), kernel]) expect(await read(cutter, bytes, step)).toEqual(whole)
  },
)
