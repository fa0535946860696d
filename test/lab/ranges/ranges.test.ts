import { appendFileSync, existsSync } from 'node:fs'
import { readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { connect, ingest, replay } from '../../../src/index.js'
import { ingestRanges, type RangeOptions } from '../../../src/ingest-ranges.js'
import { zipOf } from '../../support/facts/archives.js'
import { cutInto, failed, foundInputs, numbered, whole } from '../../support/load/ranges.js'
import { index, lab, otherIndex, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const options = () => ({ ...way(), index, deadLetters: path('dead.ndjson'), concurrency: 1 })
const found = async (name: string, more: Partial<RangeOptions> = {}) =>
  await foundInputs({ ...options(), ...more, source: path(name) })

async function one(name: string, more: Partial<RangeOptions> = {}) {
  const [input, ...others] = await found(name, more)
  if (input === undefined || others.length > 0) throw new Error('not one input')
  return input
}

/** Ids with their documents. */
const stored = () => new Map(lab.control.ids(index).map(id => [id, String(lab.control.source(index, id))]))

/** The account of dead letters, without what differs from run to run. */
async function letters(): Promise<Record<string, unknown>[]> {
  const text = await readFile(path('dead.ndjson'), 'utf8')
  return text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]))
}

describe('a load of ranges', () => {
  test('loads each line once, and makes the same ids however the file is cut', async () => {
    const text = numbered(500)
    await writeFile(path('a.ndjson'), text)
    const input = await one('a.ndjson')
    expect(input).toMatchObject({ name: path('a.ndjson'), size: text.length, canBeCut: true })
    const first = await ingestRanges(options(), { run: 'job', ranges: cutInto(input, 1000), isFirstDelivery: true })
    expect(first).toMatchObject({ run: 'job', status: 'finished', read: 500, created: 500, duplicate: 0, rejected: 0 })
    expect(first.checkpoint).toBeUndefined()
    const before = stored()
    expect(before.size).toBe(500)
    // Each id ends with the offset of its line.
    for (const [id, source] of before) {
      const offset = Number(id.split('-')[1])
      expect(text.slice(offset, text.indexOf('\n', offset))).toBe(source)
    }
    const again = [...cutInto(input, 777).toReversed(), whole(input)]
    expect(await ingestRanges(options(), { run: 'job', ranges: again })).toMatchObject({ created: 0, duplicate: 1000 })
    expect(stored()).toEqual(before)
    // Another run makes other ids.
    await ingestRanges(options(), { run: 'job-2', ranges: cutInto(input, 1000) })
    expect(stored().size).toBe(1000)
  })

  test('makes the ids of a file that was copied to another time, and not those of another content', async () => {
    await writeFile(path('a.ndjson'), numbered(50))
    const input = await one('a.ndjson')
    await ingestRanges(options(), { run: 'job', ranges: [whole(input)] })
    await utimes(path('a.ndjson'), 1, 1)
    const touched = await one('a.ndjson')
    expect(touched.identity).not.toBe(input.identity)
    const ranges = cutInto(touched, 300)
    expect(await ingestRanges(options(), { run: 'job', ranges })).toMatchObject({ created: 0, duplicate: 50 })
    await writeFile(path('a.ndjson'), numbered(50, 1))
    const other = cutInto(await one('a.ndjson'), 300)
    expect(await ingestRanges(options(), { run: 'job', ranges: other })).toMatchObject({ created: 50 })
  })

  test('says where a rejected line stands by its offset, and a replay knows its id', async () => {
    const text = `${numbered(20)}not json\n${numbered(20, 20)}{"n":"no number"}\n${numbered(3, 40)}`
    await writeFile(path('a.ndjson'), text)
    const input = await one('a.ndjson')
    const [broken, unmapped] = [text.indexOf('not json'), text.indexOf('{"n":"no number"}')]
    const receipt = await ingestRanges(options(), { run: 'job', ranges: cutInto(input, 200) })
    expect(receipt).toMatchObject({ read: 45, created: 43, rejected: 2 })
    expect(receipt.rejections.map(({ first }) => first)).toEqual([
      { input: input.name, offset: broken },
      { input: input.name, offset: unmapped },
    ])
    const [first, second] = await letters()
    expect(first).toMatchObject({ run: 'job', line: 'not json', origin: { input: input.name, offset: broken } })
    expect(String(first?.['id'])).toMatch(new RegExp(`^[a-z2-7]{16}-${broken}$`))
    expect(second?.['id']).toBe(`${String(first?.['id']).split('-')[0]}-${unmapped}`)
    const repaired = [
      { ...first, document: { n: 100 }, line: undefined },
      { ...second, document: { n: 101 } },
    ]
    await writeFile(path('repaired.ndjson'), repaired.map(letter => `${JSON.stringify(letter)}\n`).join(''))
    const letter = { ...options(), source: path('repaired.ndjson'), deadLetters: path('again.ndjson') }
    expect(await replay(letter)).toMatchObject({ created: 2, duplicate: 0, rejected: 0 })
    expect(await replay(letter)).toMatchObject({ created: 0, duplicate: 2 })
    // The lines of the input are still broken.
    const again = { ...options(), deadLetters: path('later.ndjson') }
    expect(await ingestRanges(again, { run: 'job', ranges: cutInto(input, 500) })).toMatchObject({
      created: 0,
      duplicate: 43,
      rejected: 2,
    })
    expect(stored().size).toBe(45)
  })

  test('counts lines where it begins with the input, and shows the line there', async () => {
    await writeFile(path('a.ndjson'), `{"n":1}\n\nnot json\n${numbered(20)}`)
    const ranges = cutInto(await one('a.ndjson'), 40)
    const receipt = await ingestRanges(options(), { run: 'job', ranges })
    expect(receipt.rejections).toMatchObject([{ first: { document: 2, line: 3, offset: 9 } }])
    expect(receipt).toMatchObject({ read: 23, created: 21, skipped: 1, rejected: 1 })
    expect((await letters())[0]).toMatchObject({ id: expect.stringMatching(/-9$/) as string })
  })

  test('may begin in the middle of an input, and fill an index first', async () => {
    await writeFile(path('a.ndjson'), numbered(100))
    const [, second] = cutInto(await one('a.ndjson'), 2000)
    if (second === undefined) throw new Error('one range only')
    // The first document that was stored shows that the index is still the same one.
    const receipt = await ingestRanges(options(), { run: 'job', ranges: [second] })
    expect(receipt).toMatchObject({ status: 'finished', rejected: 0 })
    expect(receipt.created).toBe(stored().size)
  })

  test('keeps no state, and holds no lock', async () => {
    await writeFile(path('a.ndjson'), numbered(200))
    const job = { run: 'job', ranges: cutInto(await one('a.ndjson'), 1000) }
    const given = { ...options(), stateDir: path('state') }
    const both = await Promise.all([ingestRanges(given, job), ingestRanges(given, job)])
    expect(both.map(({ created, duplicate }) => created + duplicate)).toEqual([200, 200])
    expect(both.reduce((sum, { created }) => sum + created, 0)).toBe(200)
    expect(existsSync(path('state'))).toBe(false)
  })

  test('uses a connection that is open', async () => {
    await writeFile(path('a.ndjson'), numbered(20))
    const job = { run: 'job', ranges: cutInto(await one('a.ndjson'), 300) }
    await using connection = await connect(way())
    const given = { connection, index, deadLetters: false as const, concurrency: 1 }
    expect(await ingestRanges(given, job)).toMatchObject({ created: 20 })
    expect(await ingestRanges(given, job)).toMatchObject({ duplicate: 20 })
  })

  test('loads whole what cannot be cut, and knows it again by its stable numbers', async () => {
    const rows = (from: number) => `n,text\n${Array.from({ length: 5 }, (_, n) => `${from + n},a`).join('\n')}\n`
    const files: Record<string, string | Buffer> = {
      'a.ndjson.gz': gzipSync(`${numbered(4)}\n${numbered(1, 4)}`),
      'b.json': `[${numbered(5, 10).trimEnd().replaceAll('\n', ',')}]`,
      'c.csv': rows(20),
      'd.zip': zipOf([
        { name: 'x.ndjson', data: numbered(3, 30) },
        { name: 'y.csv', data: rows(40) },
      ]),
      'e.ndjson': numbered(5, 50),
    }
    for (const [name, content] of Object.entries(files)) await writeFile(path(name), content)
    const inputs = await foundInputs({ ...options(), source: Object.keys(files).map(path) })
    expect(inputs.map(({ canBeCut }) => canBeCut)).toEqual([false, false, false, false, true])
    const job = { run: 'job', ranges: inputs.map(whole) }
    const receipt = await ingestRanges(options(), job)
    expect(receipt).toMatchObject({ status: 'finished', created: 28, skipped: 1, rejected: 0 })
    expect(receipt.inputs.map(({ read }) => read)).toEqual([6, 5, 5, 8, 5])
    const ends = [...stored().keys()].map(id => Number(id.split('-')[1]))
    const offsets = (text: string) => [...text.matchAll(/^(?=.)/gm)].map(({ index: at }) => at)
    expect(ends.slice(0, 5)).toEqual(offsets(`${numbered(4)}\n${numbered(1, 4)}`))
    expect(ends.slice(5, 15)).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
    expect(ends.slice(15, 23)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(ends.slice(23)).toEqual(offsets(numbered(5, 50)))
    expect(await ingestRanges(options(), job)).toMatchObject({ created: 0, duplicate: 28 })
  })

  test('edits documents of inputs that it loads whole, and refuses to edit ranges', async () => {
    await writeFile(path('a.ndjson'), numbered(5))
    const edits = { set: { from: '{line}' } }
    const input = await one('a.ndjson', { edits })
    expect(input.canBeCut).toBe(false)
    const job = { run: 'job', ranges: [whole(input)] }
    expect(await ingestRanges({ ...options(), edits }, job)).toMatchObject({ created: 5 })
    expect([...stored().keys()].map(id => id.split('-')[1])).toEqual(['1', '2', '3', '4', '5'])
    expect(await ingestRanges({ ...options(), edits }, job)).toMatchObject({ duplicate: 5 })
    const cut = { run: 'job', ranges: cutInto(input, 50) }
    expect(await failed(ingestRanges({ ...options(), edits }, cut))).toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('edits') as string,
    })
  })

  test('never makes an id of a load with numbers', async () => {
    await writeFile(path('a.ndjson'), numbered(20))
    await ingest({ ...options(), source: path('a.ndjson'), runId: 'job' })
    const job = { run: 'job', ranges: [whole(await one('a.ndjson'))] }
    expect(await ingestRanges(options(), job)).toMatchObject({ created: 20, duplicate: 0 })
    otherIndex()
    await ingestRanges(options(), job)
    expect(stored().size).toBe(20)
  })
})

describe('a file that is not the one that was planned', () => {
  test.each([
    ['was appended to', async (name: string) => appendFileSync(name, '{"n":1}\n'), /it now has [\d,]+ bytes, but had/],
    ['was replaced', async (name: string) => await replace(name), /it was modified at .*, and before that at/],
    ['is gone', async (name: string) => await rm(name), /no such input/],
  ])('%s: its ranges fail and are named, and the others are loaded', async (_, change, why) => {
    const names = ['a.ndjson', 'b.ndjson', 'c.ndjson.gz', 'd.ndjson'].map(path)
    for (const name of names) await writeFile(name, name.endsWith('gz') ? gzipSync(numbered(50)) : numbered(50))
    const inputs = await foundInputs({ ...options(), source: names })
    const [a, b, c, d] = inputs
    if (a === undefined || b === undefined || c === undefined || d === undefined) throw new Error('inputs are missing')
    await change(b.name)
    await change(c.name)
    const ranges = [...cutInto(a, 1000), ...cutInto(b, 1000), whole(c), ...cutInto(d, 10_000)]
    const { code, message, receipt } = await failed(ingestRanges(options(), { run: 'job', ranges }))
    expect(code).toBe(String(why).includes('no such') ? 'INPUT_NOT_FOUND' : 'INPUT_CHANGED')
    expect(message).toMatch(why)
    expect(message).toContain(b.name)
    expect(receipt).toMatchObject({ created: 100, read: 100, unsent: 0 })
    expect(receipt.inputs.map(({ name, status, failure }) => [name, status, failure?.code])).toEqual(
      ranges.map(({ name }) =>
        name === b.name || name === c.name ? [name, 'failed', code] : [name, 'finished', undefined],
      ),
    )
  })

  test.each([
    ['as a range', (to: number) => ({ from: 0, to }), 40_000],
    // The line that was appended is read before the end of the file shows that it has changed.
    ['as a whole', () => ({}), 40_001],
  ])('may become another one while Sluice reads it %s', async (_, part, read) => {
    const text = numbered(40_000)
    await writeFile(path('a.ndjson'), text)
    const range = { ...whole(await one('a.ndjson')), ...part(text.length) }
    let isChanged = false
    const onEvent: RangeOptions['onEvent'] = ({ type }) => {
      if (type !== 'progress' || isChanged) return
      isChanged = true
      appendFileSync(path('a.ndjson'), '{"n":1}\n')
    }
    const given = { ...options(), batchBytes: 100_000, onEvent }
    const { code, receipt } = await failed(ingestRanges(given, { run: 'job', ranges: [range] }))
    expect(code).toBe('INPUT_CHANGED')
    expect(receipt).toMatchObject({ read, created: read, unsent: 0, inputs: [{ status: 'failed' }] })
  })

  test('is refused if it is compressed or no NDJSON, and was cut all the same', async () => {
    await writeFile(path('a.gz'), gzipSync(numbered(100)))
    await writeFile(path('b.json'), `[${numbered(50).trimEnd().replaceAll('\n', ',')}]`)
    for (const name of ['a.gz', 'b.json']) {
      const ranges = cutInto(await one(name), 100).slice(0, 1)
      const { code, message } = await failed(ingestRanges(options(), { run: 'job', ranges }))
      expect(code).toBe('INPUT_MALFORMED')
      expect(message).toMatch(/cannot be loaded in ranges, because .*\. Load it whole$/)
    }
  })
})

async function replace(name: string): Promise<void> {
  await writeFile(`${name}.new`, await readFile(name))
  await utimes(`${name}.new`, 1000, 1000)
  await rename(`${name}.new`, name)
}

describe('options of a load of ranges', () => {
  test.each([
    ['follow', { follow: true }],
    ['swapAlias', { swapAlias: 'logs' }],
    ['runId', { runId: 'a' }],
    ['dryRun', { dryRun: true }],
    ['tune', { tune: true }],
  ])('leave out what belongs to a whole load: %s', async (name, more) => {
    await writeFile(path('a.ndjson'), numbered(5))
    const job = { run: 'job', ranges: cutInto(await one('a.ndjson'), 50) }
    const { code, message } = await failed(ingestRanges({ ...options(), ...more }, job))
    expect(code).toBe('OPTION_INVALID')
    expect(message).toContain(name)
  })

  test('name ranges that are none', async () => {
    await writeFile(path('a.ndjson'), numbered(5))
    const input = await one('a.ndjson')
    for (const [range, why] of [
      [{ ...whole(input), from: 5 }, 'does not end behind its start'],
      [{ ...whole(input), from: 5, to: 5 }, 'does not end behind its start'],
      [{ ...whole(input), from: -1, to: 5 }, 'does not end behind its start'],
      [{ ...whole(input), identity: 'something' }, 'an identity that Sluice did not make'],
      [{ ...whole(input), identity: 'object 5 0 0' }, 'an identity of another kind of input'],
      [{ ...whole(input), name: 'servicenow:incident' }, 'which is a table'],
    ] as const) {
      const { code, message } = await failed(ingestRanges(options(), { run: 'job', ranges: [range] }))
      expect(code).toBe('OPTION_INVALID')
      expect(message).toContain(why)
    }
  })

  test('find no input that another process cannot read', async () => {
    const { code, message } = await failed(foundInputs({ ...options(), source: [{ n: 1 }] }))
    expect(code).toBe('INPUT_UNREADABLE')
    expect(message).toContain('it can be read only once')
  })
})
