import { expect, test } from 'vitest'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import { patternIn } from '../../../../src/base/text/index-pattern.js'
import { HeldClock } from '../../../support/load/held-clock.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

/** What a batcher makes of lines: the bodies, the documents by index, and why lines are refused. */
async function framed(bytes: Buffer, pattern: string, plain: boolean) {
  const indexPattern = patternIn(pattern)
  if (indexPattern === undefined) throw new Error(`${pattern} is no pattern`)
  const slots = new SlotPool(1, 20_000)
  const batcher = new Batcher({
    operation: 'create',
    ids: { from: 'run' },
    indexPattern,
    batchBytes: 20_000,
    batchDocs: 1000,
    batchMs: 1000,
    maxDocumentBytes: 1000,
    slots,
    clock: new HeldClock(),
    plain,
    longLine: async () => await Promise.reject(new Error('a long line')),
  })
  const chunks = (async function* () {
    for (let at = 0; at < bytes.length; at += 50_000) yield await Promise.resolve(bytes.subarray(at, at + 50_000))
  })()
  const bodies: string[] = []
  const indices = new Map<string, number>()
  const reasons: string[] = []
  const input = { id: 1, name: 'a.ndjson' }
  const take = (batch: NonNullable<ReturnType<Batcher['rest']>>) => {
    bodies.push(batch.bytes.toString())
    for (const { reason } of batch.refused) reasons.push(reason)
    const named = [...(batch.indices ?? [])]
    // Each document of the batch is counted once.
    expect(named.reduce((sum, [, documents]) => sum + documents, 0)).toBe(batch.docs)
    for (const [index, documents] of named) indices.set(index, (indices.get(index) ?? 0) + documents)
    batch.release()
  }
  for await (const batch of batcher.frame(input, 'token', { kind: 'lines', at: 0, bytes: chunks })) take(batch)
  const rest = batcher.rest()
  if (rest !== undefined) take(rest)
  return { text: bodies.join(''), indices: Object.fromEntries(indices), reasons }
}

const pad = (number: number) => String(number).padStart(2, '0')
const clock = (random: Seeded) => `${pad(random.below(24))}:${pad(random.below(61))}:${pad(random.below(60))}`

const values: readonly ((random: Seeded) => string)[] = [
  random => `"2026-01-${pad(1 + random.below(31))}T${clock(random)}.${random.below(1000)}Z"`,
  random => `"2026-0${1 + random.below(3)}-${pad(random.below(33))}T${clock(random)}+05:30"`,
  random => `"2026-01-02 ${clock(random)}-0${random.below(10)}:00"`,
  random => String(1_767_000_000 + random.below(10_000_000)),
  random => String(1_767_000_000_000 + random.below(1_000_000_000)),
  random => `"v${random.below(3000)}"`,
  random => `"${random.pick(['a', 'b', 'Upper', 'a b', '', '\\u0061', 'é'])}"`,
  random => random.pick(['null', '1.5', '{"b":1}', '[1]', 'true', '7']),
]

test.each(['x-{t:yyyy.MM.dd}', 'x-{t:HH}-{o.b}', 'x-{o.b}', '{t}.{o.b}', 'x-{t:xxxx.ww}'])(
  'the kernel names the same indices as plain JavaScript, and counts as it does: %s',
  async pattern => {
    const random = seeded(7)
    const lines = Array.from({ length: 6000 }, (_, n) => {
      const [time, branch] = [random.pick(values)(random), random.pick(values)(random)]
      return random.chance(0.02) ? '{"n":1}' : `{"n":${n},"o":{"b":${branch}},"t":${time}}`
    })
    const bytes = Buffer.from(`${lines.join('\n')}\n`)
    const kernel = await framed(bytes, pattern, false)
    expect(kernel).toEqual(await framed(bytes, pattern, true))
    expect(Object.keys(kernel.indices).length).toBeGreaterThan(3)
    expect(kernel.reasons.length).toBeGreaterThan(3)
  },
)

test('documents are counted once if a later line is not UTF-8', async () => {
  const lines = Array.from({ length: 500 }, (_, n) => `{"n":${n},"b":"one"}\n`).join('')
  const bytes = Buffer.concat([Buffer.from(`${lines}{"n":500,"b":"`), Buffer.from([0xc3]), Buffer.from('"}\n')])
  const { indices, reasons } = await framed(bytes, 'x-{b}', false)
  expect([indices, reasons]).toEqual([{ 'x-one': 500 }, [expect.stringContaining('not valid UTF-8')]])
})
