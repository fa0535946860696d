import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type IngestOptions,
  type Receipt,
  type ReplayOptions,
  connect,
  ingest,
  replay,
  verify,
} from '../../../src/index.js'
import { newIndex } from '../../contracts/options.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()

const LONG = `{ "n":"${'é'.repeat(700_000)}" }`
const lines = ['{"n":1}', LONG, '{"n":"three"}', '{"n":4}'].map(line => `${line}\r\n`).join('')
const stored = { bytes: Buffer.byteLength(LONG), sha256: createHash('sha256').update(LONG).digest('hex') }

interface Letter {
  readonly id: string
  readonly type: string
  readonly attempts: number
  readonly reason: string
  readonly origin: Readonly<Record<string, unknown>>
  readonly start?: string
  readonly document?: unknown
}

function lettersIn(name: string): Letter[] {
  const texts = readFileSync(path(name), 'utf8').trimEnd().split('\n')
  return texts.map(text => JSON.parse(text) as Letter)
}

const longIn = (name: string) => lettersIn(name).find(({ origin }) => origin['document'] === 2) as Letter

/** Loads into an index that takes no text. */
async function load(source: IngestOptions['source'], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  await using open = await connect(way())
  await open.client.indices.create({ index, mappings: { properties: { n: { type: 'long' } } } })
  return await ingest({ ...way(), source, index, deadLetters: path('dead.ndjson'), ...more })
}

async function loadFile(name = 'in.ndjson', bytes: string | Buffer = lines): Promise<Receipt> {
  await writeFile(path(name), bytes)
  return await load(path(name))
}

const other = newIndex('text')

async function again(more: Partial<ReplayOptions> = {}): Promise<Receipt> {
  return await replay({
    ...way(),
    source: path('dead.ndjson'),
    deadLetters: path('again.ndjson'),
    stateDir: path('state'),
    index: other,
    ...more,
  })
}

const sourceOf = ({ id }: Letter) => lab.control.source(other, id)?.toString()

describe('a long document that is rejected', () => {
  test('stays in its file: its dead letter is small, and a replay stores it once, byte for byte', async () => {
    expect(await loadFile()).toMatchObject({ read: 4, created: 2, rejected: 2 })
    const letter = longIn('dead.ndjson')
    const origin = { input: path('in.ndjson'), document: 2, line: 2, offset: 9 }
    expect(letter.origin).toEqual({ ...origin, stored: { file: path('in.ndjson'), ...stored } })
    expect(letter.start).toMatch(/^\{ "n":"é{508}/)
    expect(letter).not.toHaveProperty('document')
    expect(JSON.stringify(letter).length).toBeLessThan(5000)
    expect(letter.reason).toMatch(/^\[1:\d+\] failed to parse field \[n\]/)

    expect(await again()).toMatchObject({ read: 2, created: 2, rejected: 0 })
    expect(sourceOf(letter)).toBe(LONG)
    expect(await again({ again: true })).toMatchObject({ created: 0, duplicate: 2, rejected: 0 })
  })

  test('is read again from a compressed file', async () => {
    await loadFile('in.ndjson.gz', gzipSync(lines))
    expect(longIn('dead.ndjson').origin).toMatchObject({ offset: 9, stored: { file: path('in.ndjson.gz'), ...stored } })
    expect(await again()).toMatchObject({ created: 2, rejected: 0 })
    expect(sourceOf(longIn('dead.ndjson'))).toBe(LONG)
  })

  test('is rejected again by the same index, and its second letter is as small', async () => {
    await loadFile()
    expect(await again({ index })).toMatchObject({ created: 0, rejected: 2 })
    const { attempts, origin, start } = longIn('again.ndjson')
    expect([attempts, origin, start]).toEqual([2, longIn('dead.ndjson').origin, longIn('dead.ndjson').start])
  })

  test('is sent as it was repaired in its dead letter, and kept whole if the cluster rejects that', async () => {
    await loadFile()
    const repaired = { n: 'é'.repeat(700_001) }
    const texts = lettersIn('dead.ndjson').map(letter =>
      JSON.stringify(letter.start === undefined ? letter : { ...letter, document: repaired }),
    )
    await writeFile(path('dead.ndjson'), texts.join('\n'))
    expect(await again({ index })).toMatchObject({ rejected: 2 })
    expect(longIn('again.ndjson').document).toEqual(repaired)
  })
})

test('verify knows a long document that was rejected by its dead letter', async () => {
  await writeFile(path('in.ndjson'), lines)
  const { run } = await load(path('in.ndjson'), { stateDir: path('state') })
  expect(await verify({ ...way(), run, stateDir: path('state') })).toMatchObject({
    ok: true,
    found: 2,
    rejected: 2,
    missing: 0,
    unlisted: 0,
  })
})

describe('a long document whose file is not as it was', () => {
  const cases: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
    ['gone', async () => await rm(path('in.ndjson')), /in\.ndjson/],
    ['shorter', async () => await writeFile(path('in.ndjson'), lines.slice(0, 500)), /ends before byte 1400019$/],
    ['other', async () => await writeFile(path('in.ndjson'), lines.replace('éé', 'àà')), /has changed at byte 9$/],
  ]
  for (const [what, change, problem] of cases) {
    test(`${what}: is rejected by a name of its own, and its letter still leads there once the file is back`, async () => {
      await loadFile()
      await change()
      expect(await again()).toMatchObject({ created: 1, rejected: 1 })
      const letter = longIn('again.ndjson')
      const { origin, start } = longIn('dead.ndjson')
      expect(letter).toMatchObject({ type: 'DOCUMENT_NOT_IN_INPUT', origin, start, attempts: 1 })
      expect(letter.reason).toMatch(problem)

      await writeFile(path('in.ndjson'), lines)
      const last = await again({ source: path('again.ndjson'), deadLetters: path('last.ndjson') })
      expect(last).toMatchObject({ created: 1, rejected: 0 })
      expect(sourceOf(letter)).toBe(LONG)
    })
  }

  test('named by a path of another folder: the second letter says what to write', async () => {
    await loadFile()
    const texts = lettersIn('dead.ndjson').map(letter => {
      const { stored: at } = letter.origin
      const origin = at === undefined ? letter.origin : { ...letter.origin, stored: { ...at, file: 'in.ndjson' } }
      return JSON.stringify({ ...letter, origin })
    })
    await writeFile(path('dead.ndjson'), texts.join('\n'))
    expect(await again()).toMatchObject({ created: 1, rejected: 1 })
    expect(readFileSync(path('again.ndjson'), 'utf8')).toContain(
      'origin.stored.file is not an absolute path: in.ndjson. Write the whole path of the input there',
    )
  })

  test('longer: is found, because its own bytes are the same', async () => {
    await loadFile()
    await appendFile(path('in.ndjson'), '{"n":5}\n')
    expect(await again()).toMatchObject({ created: 2, rejected: 0 })
  })
})

describe('a long document that nobody can read again', () => {
  const isWhole = () => {
    const { origin, document } = longIn('dead.ndjson')
    expect(origin).not.toHaveProperty('stored')
    expect(document).toEqual(JSON.parse(LONG))
  }

  test('of a stream is kept whole', async () => {
    await load(Buffer.from(lines))
    isWhole()
  })

  test('of stdin is kept whole, also if Sluice holds a copy of it for a resume', async () => {
    const stdin = Readable.from([Buffer.from(lines)], { objectMode: false })
    expect(await load('-', { stdin, stateDir: path('state') })).toMatchObject({ rejected: 2 })
    isWhole()
  })

  test('that was edited is kept whole', async () => {
    await writeFile(path('in.ndjson'), lines)
    await load(path('in.ndjson'), { edits: { set: { more: 1 } } })
    expect(longIn('dead.ndjson').origin).not.toHaveProperty('stored')
    expect(longIn('dead.ndjson').document).toMatchObject(JSON.parse(LONG) as object)
  })

  test('of a JSON array is kept whole', async () => {
    await writeFile(path('in.json'), `[{"n":1},${LONG}]`)
    await load(path('in.json'))
    isWhole()
  })

  test('is kept whole in the event of the library', async () => {
    await writeFile(path('in.ndjson'), lines)
    const lengths: number[] = []
    await load(path('in.ndjson'), {
      onEvent: event => {
        if (event.type === 'rejected') lengths.push(...event.documents.map(({ document }) => document.length))
      },
    })
    expect(lengths).toContain(stored.bytes)
  })
})
