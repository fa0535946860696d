import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Origin, Refused } from '../../../../src/base/flow.js'
import { Records } from '../../../../src/pipeline/ledger/dead-letter-record.js'
import { DeadLetters } from '../../../../src/pipeline/ledger/dead-letters.js'
import { seeded } from '../../../support/random/seeded.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dead-letters-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

const origin: Origin = { input: 'a.ndjson', document: 3, line: 4, offset: 57 }

function refused(document: string | Uint8Array, more: Partial<Refused> = {}): Refused {
  return {
    document: Buffer.from(document as string),
    operation: 'create',
    id: 't-3',
    status: 400,
    type: 'document_parsing_exception',
    reason: 'failed to parse field [port]',
    origin,
    attempts: 2,
    ...more,
  }
}

/** A refusal of Sluice's own, before anything was sent. */
function unsendable(document: string | Uint8Array, type: 'DOCUMENT_NOT_JSON' | 'DOCUMENT_TOO_LARGE'): Refused {
  const { id: _, ...rest } = refused(document, { status: 0, type, reason: 'because', attempts: 0 })
  return rest
}

const pathOf = (name = 'dead.ndjson') => join(folder, name)
const recordsOf = async (path = pathOf()) => (await readFile(path, 'utf8')).trimEnd().split('\n')

async function codeOf(run: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await run
  } catch (error) {
    return error as { code: string; message: string }
  }
  throw new Error('it did not fail')
}

describe('a record', () => {
  test('holds the document as it was read, to the last digit and blank', async () => {
    const document = '{ "n":1234567890123456789, "f":1.0,\t"text":"é😀\\u00e9" }'
    await using letters = new DeadLetters(pathOf())
    await letters.append([refused(document)])
    const [record = ''] = await recordsOf()
    expect(record).toContain(`"document":${document}}`)
    const { document: parsed, ...head } = JSON.parse(record) as Record<string, unknown>
    expect(parsed).toMatchObject({ f: 1 })
    expect(head).toEqual({
      operation: 'create',
      id: 't-3',
      status: 400,
      type: 'document_parsing_exception',
      origin,
      attempts: 2,
      reason: 'failed to parse field [port]',
    })
  })

  test('says which process of which run wrote it and where its document was to go, unless it was meant for elsewhere', async () => {
    const stamp = { run: 'r-1', writer: 'w', destination: { index: 'orders', pipeline: 'clean', idField: 'sku' } }
    await using letters = new DeadLetters(pathOf(), stamp)
    const destination = { index: 'other' }
    await letters.append([refused('{"a":1}', { routing: 'r' }), refused('{"a":2}', { destination })])
    await (await letters.appendLong(origin, 'create', 5, 't-9')).end()
    const copy = await letters.appendCopy({
      operation: 'index',
      status: 7,
      type: 't',
      origin,
      attempts: 3,
      destination,
    })
    await copy.write(Buffer.from(',"base64":"QUJD"'))
    await copy.write(Buffer.from(',"reason":"because"}'))
    await copy.end()
    const records = (await recordsOf()).map(record => JSON.parse(record) as Record<string, unknown>)
    const ours = { run: 'r-1', writer: 'w', index: 'orders', pipeline: 'clean', idField: 'sku' }
    expect(records[0]).toMatchObject({ ...ours, id: 't-3', routing: 'r', document: { a: 1 } })
    expect(records[1]).toMatchObject({ run: 'r-1', index: 'other', document: { a: 2 } })
    expect(records[1]).not.toHaveProperty('pipeline')
    expect(records[2]).toMatchObject({ ...ours, id: 't-9', type: 'DOCUMENT_TOO_LARGE', base64: '' })
    const copied = { operation: 'index', run: 'r-1', writer: 'w', origin, index: 'other', type: 't', attempts: 3 }
    expect(records[3]).toEqual({ ...copied, status: 7, base64: 'QUJD', reason: 'because' })
    expect(letters.records).toBe(4)
  })

  test('holds other text as a line, and what is not UTF-8 as base64', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d])
    await using letters = new DeadLetters(pathOf())
    await letters.append([
      unsendable('{"a":\u0000"}', 'DOCUMENT_NOT_JSON'),
      unsendable(bytes, 'DOCUMENT_NOT_JSON'),
      unsendable('{"a":1}', 'DOCUMENT_TOO_LARGE'),
    ])
    const records = (await recordsOf()).map(record => JSON.parse(record) as Record<string, unknown>)
    expect(records.map(({ line, base64 }) => [line, base64])).toEqual([
      ['{"a":\u0000"}', undefined],
      [undefined, bytes.toString('base64')],
      ['{"a":1}', undefined],
    ])
    expect(records[0]).not.toHaveProperty('id')
  })

  test('is the JSON of its fields, whatever they are', () => {
    const random = seeded(4)
    const text = () => random.pick(['', 'a', 'orders', 'say "no"', 'é\n\u0000', '\ud800'])
    const some = <T>(of: () => T) => (random.chance(0.5) ? undefined : of())
    const where = () => ({ index: text(), ...(random.chance(0.5) ? {} : { pipeline: text(), idField: text() }) })
    const stamps = Array.from({ length: 4 }, () => some(() => ({ run: text(), writer: 'w', destination: where() })))
    for (const stamp of stamps) {
      const records = new Records(stamp)
      for (let round = 0; round < 500; round += 1) {
        const [id, routing, destination] = [some(text), some(text), some(where)]
        const one: Refused = {
          document: Buffer.from(text()),
          operation: random.pick(['create', 'index']),
          ...(id === undefined ? {} : { id }),
          ...(routing === undefined ? {} : { routing }),
          ...(destination === undefined ? {} : { destination }),
          status: random.pick([0, 400, 429, Infinity]),
          type: random.pick(['DOCUMENT_NOT_JSON', 'DOCUMENT_TOO_LARGE', text()]),
          reason: text(),
          origin: { input: text(), document: random.below(1e9), ...(random.chance(0.5) ? {} : { line: 1, offset: 2 }) },
          attempts: random.below(3),
        }
        const { document, operation, origin, status, type, attempts, reason } = one
        const isLine = type === 'DOCUMENT_NOT_JSON' || type === 'DOCUMENT_TOO_LARGE'
        const { run, writer } = stamp ?? {}
        const fields = { operation, run, writer, origin, ...(destination ?? stamp?.destination), id, routing }
        const head = JSON.stringify({ ...fields, status, type, attempts, reason }).slice(0, -1)
        const kept = isLine ? `"line":${JSON.stringify(String(document))}` : `"document":${String(document)}`
        records.add(one)
        expect(String(records.take())).toBe(String(Buffer.from(`${head},${kept}}\n`)))
      }
    }
  })

  test('holds text that would not fit in a string as base64', { tags: 'long' }, async () => {
    const zeros = Buffer.alloc(20 << 20)
    await using letters = new DeadLetters(pathOf())
    await letters.append([unsendable(zeros, 'DOCUMENT_NOT_JSON')])
    const [record = ''] = await recordsOf()
    const { base64 } = JSON.parse(record) as { base64: string }
    expect(Buffer.from(base64, 'base64').equals(zeros)).toBe(true)
  })

  test('is for the owner alone, behind what the file held before', async () => {
    await writeFile(pathOf(), '{"before":1}\n', { mode: 0o600 })
    await using letters = new DeadLetters(pathOf())
    await letters.append([refused('{"a":1}')])
    await letters.append([refused('{"a":2}')])
    expect((await recordsOf()).map(record => /"before":1|"a":\d/.exec(record)?.[0])).toEqual([
      '"before":1',
      '"a":1',
      '"a":2',
    ])
    await using fresh = new DeadLetters(pathOf('fresh'))
    await fresh.append([refused('{"a":1}')])
    expect((await stat(pathOf('fresh'))).mode & 0o777).toBe(0o600)
    expect([letters.records, fresh.records]).toEqual([2, 1])
  })

  test('stands on a line of its own behind one that an earlier process could not end', async () => {
    await writeFile(pathOf(), '{"whole":1}\n{"torn":"tex')
    await using letters = new DeadLetters(pathOf())
    await letters.append([refused('{"a":1}')])
    const records = await recordsOf()
    expect(records).toHaveLength(3)
    expect(JSON.parse(records[2] ?? '')).toMatchObject({ document: { a: 1 } })
  })

  test('is not written where no file is wanted, and no file is made before there is one', async () => {
    await using none = new DeadLetters(undefined)
    await none.check()
    await none.append([refused('{"a":1}')])
    expect(none.records).toBe(1)
    await using unused = new DeadLetters(pathOf())
    await unused.check()
    await unused.append([])
    await expect(access(pathOf())).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test.each([0o644, 0o660, 0o604])(
    'a file that others can read (%o) is closed to them, and that is said',
    async mode => {
      const path = pathOf(`open-${mode}`)
      const warnings: string[] = []
      await writeFile(path, '')
      await chmod(path, mode)
      await using letters = new DeadLetters(path, undefined, message => warnings.push(message))
      await letters.append([refused('{"a":1}')])
      await letters.append([refused('{"a":2}')])
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      expect(warnings).toEqual([
        `other users could read the dead letters in ${path}. Sluice changed its mode, so that only you can read it`,
      ])
      await using own = new DeadLetters(path, undefined, message => warnings.push(message))
      await own.append([refused('{"a":3}')])
      expect(warnings.length).toBe(1)
    },
  )

  test('a device keeps its mode', async () => {
    const { mode } = await stat('/dev/null')
    await using letters = new DeadLetters('/dev/null', undefined, message => expect(message).toBe(''))
    await letters.append([refused('{"a":1}')])
    expect((await stat('/dev/null')).mode).toBe(mode)
  })

  test('is one of thousands, all of them whole and in order', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => refused(`{"n":${n},"pad":"${'x'.repeat(1000)}"}`))
    await using letters = new DeadLetters(pathOf())
    await Promise.all([letters.append(many.slice(0, 2000)), letters.append(many.slice(2000))])
    const numbers = (await recordsOf()).map(record => (JSON.parse(record) as { document: { n: number } }).document.n)
    expect(numbers).toEqual(Array.from({ length: 3000 }, (_, n) => n))
  })
})

describe('a document of more than 1 MiB', () => {
  const text = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  const long = text((1 << 20) + 1)
  const sha256 = createHash('sha256').update(long).digest('hex')
  const stored = { file: '/data/a.ndjson', bytes: long.length, sha256 }
  const inFile = (input: string) => (input === 'a.ndjson' ? '/data/a.ndjson' : undefined)

  async function written(refusals: readonly Refused[], warn = (_: string) => {}): Promise<Record<string, unknown>[]> {
    await using letters = new DeadLetters(pathOf(), undefined, warn, inFile)
    for (const one of refusals) await letters.append([one])
    return (await recordsOf()).map(record => JSON.parse(record) as Record<string, unknown>)
  }

  test('is not repeated if its file can be read again, and the user learns once that the file is still needed', async () => {
    const told: string[] = []
    const records = await written([refused(long), refused(long, { reason: 'é'.repeat(5000) })], one => told.push(one))
    expect(records[0]).toMatchObject({ origin: { ...origin, stored }, id: 't-3', start: long.slice(0, 1024) })
    expect(records[0]).not.toHaveProperty('document')
    expect(String(records[1]?.['reason'])).toBe(`${'é'.repeat(2048)}…`)
    expect(told).toEqual([
      `${pathOf()} holds only the beginning of long documents. Keep their inputs until you have replayed them`,
    ])
  })

  test.each<[string, Refused]>([
    ['one byte shorter', refused(text(1 << 20))],
    ['of an input that cannot be read again', refused(long, { origin: { ...origin, input: '-' } })],
    ['whose offset is unknown', refused(long, { origin: { input: 'a.ndjson', document: 3 } })],
    ['one of several that a function made of a line', refused(long, { origin: { ...origin, part: 2 } })],
    ['without the fields of its condition', refused(long, { condition: '"version":1,"version_type":"external"' })],
    ['that was repaired in its dead letter', refused(text(stored.bytes + 1), { origin: { ...origin, stored } })],
    ['that was repaired to the same length', refused(long.replace('x', 'y'), { origin: { ...origin, stored } })],
  ])('is kept whole: %s', async (_, one) => {
    const [record] = await written([one])
    expect(record).toMatchObject({ document: JSON.parse(String(one.document)) as object })
    expect(record).not.toHaveProperty('start')
  })

  test('of a dead letter is not repeated either, also if its input has the name of no input of the replay', async () => {
    const [record] = await written([refused(long, { origin: { ...origin, input: 'elsewhere', stored } })])
    expect(record).toMatchObject({ origin: { input: 'elsewhere', stored }, start: long.slice(0, 1024) })
  })

  test('too long to hold leaves its position and checksum, whatever the pieces', async () => {
    for (const size of [7, 1000, long.length]) {
      const path = pathOf(`long-${size}`)
      await using letters = new DeadLetters(path, undefined, () => {}, inFile)
      const line = await letters.appendLong(origin, 'index', 500, 't-3')
      const after = letters.append([refused('{"after":1}')])
      for (let from = 0; from < long.length; from += size) await line.write(Buffer.from(long.slice(from, from + size)))
      await line.end()
      await after
      const [first = '', second = ''] = await recordsOf(path)
      expect(JSON.parse(first)).toEqual({
        operation: 'index',
        origin: { ...origin, stored },
        id: 't-3',
        status: 0,
        type: 'DOCUMENT_TOO_LARGE',
        attempts: 0,
        reason: 'the document has 1,048,577 bytes, but the limit is 500',
        start: long.slice(0, 1024),
      })
      expect(JSON.parse(second)).toMatchObject({ document: { after: 1 } })
      expect([letters.records, letters.length]).toEqual([2, (await stat(path)).size])
    }
  })

  test('too long to hold, and cut off, leaves nothing behind and lets others write', async () => {
    await using letters = new DeadLetters(pathOf(), undefined, () => {}, inFile)
    const line = await letters.appendLong(origin, 'create', 500)
    await line.write(Buffer.from(long))
    await line.abandon()
    await letters.append([refused('{"after":1}')])
    expect(await recordsOf()).toHaveLength(1)
  })
})

describe('a line too long to hold', () => {
  const long = Buffer.from(Array.from({ length: 1000 }, (_, n) => n % 251))

  test('is written as it comes, whatever the pieces, and other records wait for its end', async () => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const path = pathOf(`long-${size}`)
      await using letters = new DeadLetters(path)
      const line = await letters.appendLong(origin, 'index', 500)
      const after = letters.append([refused('{"after":1}')])
      for (let from = 0; from < long.length; from += size) await line.write(long.subarray(from, from + size))
      await line.end()
      await after
      const [first = '', second = ''] = await recordsOf(path)
      const { base64, ...head } = JSON.parse(first) as { base64: string }
      expect(Buffer.from(base64, 'base64').equals(long)).toBe(true)
      expect(head).toMatchObject({
        operation: 'index',
        status: 0,
        type: 'DOCUMENT_TOO_LARGE',
        origin,
        reason: 'the document has 1,000 bytes, but the limit is 500',
      })
      expect(JSON.parse(second)).toMatchObject({ document: { after: 1 } })
      expect(letters.records).toBe(2)
    }
  })

  test('that does not come to its end leaves nothing behind', async () => {
    await using letters = new DeadLetters(pathOf())
    await letters.append([refused('{"before":1}')])
    const line = await letters.appendLong(origin, 'create', 500)
    const after = letters.append([refused('{"after":1}')])
    await line.write(long)
    await line.abandon()
    await after
    const documents = (await recordsOf()).map(record => (JSON.parse(record) as { document: unknown }).document)
    expect(documents).toEqual([{ before: 1 }, { after: 1 }])
    expect(letters.records).toBe(2)
  })

  test('may be abandoned before anything was written', async () => {
    await writeFile(pathOf(), '{"before":1}\n')
    await using letters = new DeadLetters(pathOf())
    await (await letters.appendLong(origin, 'create', 500)).abandon()
    expect(await recordsOf()).toEqual(['{"before":1}'])
  })
})

describe('a file that two runs share', () => {
  test('holds every record of both, whole, whatever one of them takes back', async () => {
    await using one = new DeadLetters(pathOf())
    await using other = new DeadLetters(pathOf())
    await one.append([refused('{"one":1}')])
    await other.append([refused('{"other":1}'), refused('{"other":2}')])
    await one.append([refused('{"one":2}')])
    const given = await one.appendLong(origin, 'create', 500)
    await given.write(Buffer.alloc(1000, 'x'))
    await given.abandon()
    await other.append([refused('{"other":3}')])
    const documents = (await recordsOf()).map(record => (JSON.parse(record) as { document: unknown }).document)
    expect(documents).toEqual([{ one: 1 }, { other: 1 }, { other: 2 }, { one: 2 }, { other: 3 }])
    expect([one.length, other.length]).toEqual([expect.any(Number), (await stat(pathOf())).size])
  })

  test('tells the run whose long record another one cut in two', async () => {
    await using one = new DeadLetters(pathOf())
    await using other = new DeadLetters(pathOf())
    const long = await one.appendLong(origin, 'create', 500)
    await long.write(Buffer.alloc(1000, 'x'))
    await other.append([refused('{"other":1}')])
    expect((await codeOf(long.end())).message).toContain('another process wrote into a record')
    await one.append([refused('{"one":1}')])
    expect(one.records).toBe(1)
    expect((await recordsOf()).at(-1)).toContain('{"one":1}')
  })
})

describe('a file that cannot be written', () => {
  test('is named before anything is sent', async () => {
    const file = pathOf('file')
    await writeFile(file, '')
    const cases = {
      [pathOf('missing/dead.ndjson')]: 'the folder does not exist',
      [join(file, 'dead.ndjson')]: 'a part of its path is a file, not a folder',
      [folder]: 'it is a directory',
    }
    for (const [path, problem] of Object.entries(cases)) {
      await using letters = new DeadLetters(path)
      const { code, message } = await codeOf(letters.check())
      expect([code, message]).toEqual([
        'DEAD_LETTERS_UNWRITABLE',
        `cannot write the dead letters to ${path}: ${problem}`,
      ])
      expect((await codeOf(letters.append([refused('{}')]))).code).toBe('DEAD_LETTERS_UNWRITABLE')
      expect(letters.records).toBe(0)
    }
  })

  test('is no pipe, which would keep the run waiting for a reader', async () => {
    const path = pathOf('pipe')
    execFileSync('mkfifo', [path])
    await using letters = new DeadLetters(path)
    expect((await codeOf(letters.check())).message).toBe(
      `cannot write the dead letters to ${path}: it is a pipe or socket, not a file`,
    )
  })

  test.skipIf(!existsSync('/dev/full'))('because the disk is full keeps no record', async () => {
    await using letters = new DeadLetters('/dev/full')
    await letters.check()
    const { code, message } = await codeOf(letters.append([refused('{"a":1}')]))
    expect([code, message]).toEqual([
      'DEAD_LETTERS_UNWRITABLE',
      'cannot write the dead letters to /dev/full: the disk is full',
    ])
    const line = await letters.appendLong(origin, 'create', 500)
    expect((await codeOf(line.write(Buffer.alloc(9)))).code).toBe('DEAD_LETTERS_UNWRITABLE')
    await line.abandon()
    expect((await codeOf(letters.append([refused('{"a":1}')]))).code).toBe('DEAD_LETTERS_UNWRITABLE')
    expect(letters.records).toBe(0)
  })
})
