import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActionOptions } from '../../../../src/pipeline/bulk/action-line.js'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import type { Batch, Lines, LongLine, Origin, Source } from '../../../../src/base/flow.js'
import { decode } from '../../../../src/pipeline/format/decode.js'
import { linesOfRange } from '../../../../src/run/loop/lines-of-range.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { type InputRange, RangeList, seenText, wholeMs } from '../../../../src/pipeline/source/ranges.js'
import { systemClock } from '../../../../src/base/time/clock.js'
import { randomCuts, randomText } from '../../../support/random/cut-text.js'
import { rounds } from '../../../support/rounds.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

let folder: string
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'ranges-'))))
afterAll(async () => await rm(folder, { recursive: true }))

/** What came of a text: each document by its id, lines that were refused or were too long, and how many were blank. */
interface Framed {
  readonly documents: readonly string[]
  readonly refused: readonly string[]
  readonly blank: number
}

interface Setting {
  readonly actions: ActionOptions
  readonly plain: boolean
  readonly batchBytes: number
  readonly maxDocumentBytes: number
}

/** Frames inputs one behind the other, as a load does. */
async function frameAll(
  sources: readonly Source[],
  { actions, ...more }: Setting,
  linesOf: (source: Source, into: Batcher['reading']) => Promise<Lines>,
): Promise<Framed> {
  using slots = new SlotPool(2, more.batchBytes)
  const documents: string[] = []
  const refused: string[] = []
  let blank = 0
  const longLine = async (_: unknown, { offset }: Origin, _operation: unknown, id = ''): Promise<LongLine> => {
    const end = async () => await Promise.resolve(void refused.push(`${id} DOCUMENT_TOO_LARGE at ${offset}`))
    const nothing = async () => await Promise.resolve()
    return await Promise.resolve({ write: nothing, end, abandon: nothing })
  }
  const batcher = new Batcher({ ...actions, ...more, batchDocs: 3, batchMs: 1000, slots, clock: systemClock, longLine })
  const take = (batch: Batch) => {
    const originOf = batch.origins()
    const parts = batch.bytes.toString().split('\n')
    for (let at = 0; at < batch.docs; at += 1)
      documents.push(`${parts[2 * at]} ${parts[2 * at + 1]} at ${originOf(at).offset}`)
    for (const { id, type, reason, document, origin } of batch.refused) {
      // Whether such a line passes in pieces depends on where the chunks end.
      const why = type === 'DOCUMENT_TOO_LARGE' ? type : `${type} ${reason} ${Buffer.from(document).toString('hex')}`
      refused.push(`${id} ${why} at ${origin.offset}`)
    }
    blank += batch.blank
    batch.release()
  }
  for (const source of sources)
    for await (const batch of batcher.frame(source, 'token', await linesOf(source, batcher.reading))) take(batch)
  const rest = batcher.rest()
  if (rest !== undefined) take(rest)
  return { documents, refused, blank }
}

const { signal } = new AbortController()
const format = { format: 'ndjson' } as const

/** The whole file, by the path of every load. */
async function uncut(path: string, setting: Setting): Promise<Framed> {
  const sources = await findSources(path, {})
  return await frameAll(
    sources,
    setting,
    async (source, into) => await decode(source, source.open(signal, 0, undefined, into), format),
  )
}

async function cut(ranges: readonly InputRange[], setting: Setting): Promise<Framed> {
  const sources = await findSources(new RangeList('job', ranges), {})
  return await frameAll(sources, setting, async (source, reading) => {
    if (source.range === undefined) throw new Error('no range')
    return await linesOfRange(source, source.range, { format, batcher: { reading }, signal })
  })
}

async function rangesOf(path: string, text: Buffer, cuts: readonly number[]): Promise<InputRange[]> {
  await writeFile(path, text)
  await utimes(path, 1_700_000_000, 1_700_000_000)
  const modifiedMs = wholeMs(1_700_000_000_000)
  const identity = seenText({ kind: 'file', size: text.length, modifiedMs, content: 'abc' })
  return cuts.slice(0, -1).map((from, number) => ({ name: path, from, to: cuts[number + 1] ?? 0, identity }))
}

function settingOf(random: Seeded): Setting {
  return {
    actions: {
      operation: random.pick(['create', 'index']),
      ids: { from: 'run', by: 'offset' },
      ...(random.chance(0.3) ? { routingField: 'n' } : {}),
    },
    plain: random.chance(0.3),
    batchBytes: random.pick([100, 2000]),
    maxDocumentBytes: random.pick([120, 1000]),
  }
}

describe('ranges of a file', () => {
  test('make the documents, ids and refusals of the uncut file, wherever it is cut', async () => {
    const seen = { documents: 0, refused: 0, blank: 0, ranges: 0 }
    for (let seed = 1; seed <= rounds(25, 5000); seed += 1) {
      const random = seeded(seed)
      const text = randomText(random, 150)
      const setting = settingOf(random)
      const path = join(folder, `${seed}.ndjson`)
      const ranges = await rangesOf(path, text, randomCuts(random, text))
      const whole = await uncut(path, setting)
      expect(await cut(ranges, setting), `seed ${seed}`).toEqual(whole)
      // Another process may take them in any order, and each alone.
      const shuffled = ranges.toSorted(() => random.real() - 0.5)
      const parts: Framed[] = []
      for (const range of shuffled) parts.push(await cut([range], setting))
      expect(parts.flatMap(({ documents }) => documents).toSorted(), `seed ${seed}`).toEqual(whole.documents.toSorted())
      expect(parts.flatMap(({ refused }) => refused).toSorted(), `seed ${seed}`).toEqual(whole.refused.toSorted())
      seen.documents += whole.documents.length
      seen.refused += whole.refused.length
      seen.blank += whole.blank
      seen.ranges += ranges.length
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5)
  })

  test('give each line the offset of its first byte, which is behind a byte order mark', async () => {
    const text = Buffer.from('\ufeff{"n":1}\r\n\r\n {"n":2}\n{"n":3}')
    const ranges = await rangesOf(join(folder, 'marked.ndjson'), text, [0, 1, 3, 4, 13, 14, 22, text.length])
    const actions: ActionOptions = { operation: 'create', ids: { from: 'run', by: 'offset' } }
    const { documents, blank } = await cut(ranges, { ...settingOf(seeded(1)), actions })
    expect(documents).toEqual([
      '{"create":{"_id":"token-3"}} {"n":1}\r at 3',
      '{"create":{"_id":"token-14"}}  {"n":2} at 14',
      '{"create":{"_id":"token-23"}} {"n":3} at 23',
    ])
    expect(blank).toBe(1)
  })
})
