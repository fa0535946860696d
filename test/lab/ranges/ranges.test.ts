import { writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { connect } from '../../../src/index.js'
import { findInputs, type FoundInput, ingestRanges, type InputRange } from '../../../src/ingest-ranges.js'
import { index, path, shareLab, way } from '../../support/shared-lab.js'

shareLab()

const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => `{"n":${from + at},"text":"${'x'.repeat(at % 50)}"}\n`).join('')

async function found(source: string | readonly string[], cutFrom = 1): Promise<FoundInput[]> {
  const all: FoundInput[] = []
  for await (const one of findInputs({ ...way(), source, index }, cutFrom)) all.push(one)
  return all
}

/** Ranges of this many bytes. */
function cut({ name, identity, size }: FoundInput, bytes: number): InputRange[] {
  return Array.from({ length: Math.ceil(size / bytes) }, (_, at) => {
    return { name, identity, from: at * bytes, to: Math.min(size, (at + 1) * bytes) }
  })
}

const options = () => ({ ...way(), index, deadLetters: path('dead.ndjson'), concurrency: 1 })

/** Ids and documents of the index. */
async function stored(): Promise<Map<string, unknown>> {
  await using connection = await connect(way())
  await connection.client.indices.refresh({ index })
  const { hits } = await connection.client.search({ index, size: 10_000 })
  return new Map(hits.hits.map(({ _id: id = '', _source: source }) => [id, source]))
}

describe('a load of ranges', () => {
  test('loads each line once, and makes the same ids however the file is cut', async () => {
    const text = lines(500)
    await writeFile(path('a.ndjson'), text)
    const [input] = await found(path('a.ndjson'))
    if (input === undefined) throw new Error('nothing found')
    expect(input).toMatchObject({ name: path('a.ndjson'), size: text.length, canBeCut: true })
    const first = await ingestRanges(options(), { run: 'job', ranges: cut(input, 1000), isFirstDelivery: true })
    expect(first).toMatchObject({ run: 'job', status: 'finished', read: 500, created: 500, duplicate: 0, rejected: 0 })
    const ids = await stored()
    expect(ids.size).toBe(500)
    // Each id ends with the offset of its line.
    const offsets = [...ids].map(([id, source]) => [Number(id.split('-')[1]), source] as const)
    for (const [offset, source] of offsets)
      expect(JSON.parse(text.slice(offset, text.indexOf('\n', offset)))).toEqual(source)
    const ranges = [...cut(input, 777).toReversed(), { name: input.name, identity: input.identity }]
    const again = await ingestRanges(options(), { run: 'job', ranges })
    expect(again).toMatchObject({ read: 1000, created: 0, duplicate: 1000 })
    expect((await stored()).size).toBe(500)
    // Another run makes other ids.
    await ingestRanges(options(), { run: 'job-2', ranges: cut(input, 1000) })
    expect((await stored()).size).toBe(1000)
  })
})
