import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { access, chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Origin, Refused } from '../../../src/flow.js'
import { DeadLetters } from '../../../src/ledger/dead-letters.js'

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

  test('holds text that would not fit in a string as base64', async () => {
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
    // What was there belongs to who made it.
    await writeFile(pathOf('shared'), '')
    await chmod(pathOf('shared'), 0o640)
    await using shared = new DeadLetters(pathOf('shared'))
    await shared.append([refused('{"a":1}')])
    expect((await stat(pathOf('shared'))).mode & 0o777).toBe(0o640)
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

  test('is one of thousands, all of them whole and in order', async () => {
    const many = Array.from({ length: 3000 }, (_, n) => refused(`{"n":${n},"pad":"${'x'.repeat(1000)}"}`))
    await using letters = new DeadLetters(pathOf())
    await Promise.all([letters.append(many.slice(0, 2000)), letters.append(many.slice(2000))])
    const numbers = (await recordsOf()).map(record => (JSON.parse(record) as { document: { n: number } }).document.n)
    expect(numbers).toEqual(Array.from({ length: 3000 }, (_, n) => n))
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
        reason: 'the document has 1,000 bytes, the limit is 500',
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
