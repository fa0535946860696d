import { describe, expect, test } from 'vitest'
import { failure } from '../../../../src/base/failure/failure.js'
import type { Batch, Input, Outcome, Refused, RejectionLimit } from '../../../../src/base/flow.js'
import { DeadLetters } from '../../../../src/pipeline/ledger/dead-letters.js'
import { fieldOf } from '../../../../src/pipeline/ledger/account.js'
import { Ledger } from '../../../../src/pipeline/ledger/ledger.js'

const input: Input = { id: 0, name: 'a.ndjson' }
const stop = failure('EGRESS_NOT_ALLOWED', { cluster: 'c', refused: 1, probes: 1, observed: 'Forbidden' })

function refused(status: number, type: string, reason: string, document = 1): Refused {
  const origin = { input: 'a.ndjson', document }
  return { document: Buffer.from('{}'), operation: 'create', status, type, reason, origin, attempts: 1 }
}

const mapping = (field: string, document?: number) =>
  refused(
    400,
    'document_parsing_exception',
    `failed to parse field [${field}] of type [long]. Preview: 'secret'`,
    document,
  )

function outcome(more: Partial<Outcome>): Outcome {
  return { docs: 0, created: 0, updated: 0, duplicate: 0, skipped: 0, rejected: [], unknown: 0, unsent: 0, ...more }
}

function ledgerOf(limit?: RejectionLimit, path?: string): Ledger {
  const ledger = new Ledger(new DeadLetters(path), { maxRejected: limit })
  ledger.begin(input)
  return ledger
}

function taken(lines: number, blank = 0): Batch {
  const docs = lines - blank
  return { docs, refused: [], spans: [{ input, docs }], taken: [{ input, lines }], blank, ends: [] } as unknown as Batch
}

test('there is room for one more batch unless dead letters are written while others wait for that', async () => {
  const letters = new (class extends DeadLetters {
    readonly writing: (() => void)[] = []

    override async append(): Promise<void> {
      await new Promise<void>(resolve => this.writing.push(resolve))
    }
  })(undefined)
  const ledger = new Ledger(letters)
  const turn = async () => await new Promise(resolve => setImmediate(resolve))
  const all = Array.from({ length: 3 }, () => taken(1))
  for (const batch of all) ledger.take(batch)
  const rejecting = all.map(async batch => await ledger.settle(batch, outcome({ rejected: [mapping('a')] })))
  await turn()
  let hasRoom = false
  const room = ledger.room().then(() => (hasRoom = true))
  for (const isLast of [false, false, true]) {
    await turn()
    expect(letters.writing).toHaveLength(1)
    expect(hasRoom).toBe(isLast)
    letters.writing.shift()?.()
  }
  await Promise.all([...rejecting, room])
  expect(ledger.counts).toMatchObject({ read: 3, rejected: 3 })
})

async function read(ledger: Ledger, lines: number): Promise<void> {
  const batch = taken(lines)
  ledger.take(batch)
  await ledger.settle(batch, outcome({ created: lines }))
}

async function settle(ledger: Ledger, settled: Outcome): Promise<unknown> {
  const batch = taken(0)
  ledger.take(batch)
  return await ledger.settle(batch, settled)
}

describe('rejections', () => {
  test('are grouped by status, type and field, the most first, with the place of the first, and quote no value', async () => {
    const ledger = ledgerOf()
    const strict = refused(
      400,
      'strict_dynamic_mapping_exception',
      'dynamic introduction of [b] within [_doc] is not allowed',
      7,
    )
    const rejected = [
      mapping('port', 3),
      mapping('a', 4),
      mapping('port', 5),
      strict,
      refused(409, 'conflict', '[secret]: exists', 8),
    ]
    await settle(ledger, outcome({ rejected }))
    await settle(ledger, outcome({ rejected: [mapping('port', 9)] }))
    const first = (document: number) => ({ input: 'a.ndjson', document })
    expect(ledger.rejections).toEqual([
      { status: 400, type: 'document_parsing_exception', field: 'port', documents: 3, first: first(3) },
      { status: 400, type: 'document_parsing_exception', field: 'a', documents: 1, first: first(4) },
      { status: 400, type: 'strict_dynamic_mapping_exception', field: 'b', documents: 1, first: first(7) },
      { status: 409, type: 'conflict', documents: 1, first: first(8) },
    ])
    expect(JSON.stringify(ledger.rejections)).not.toContain('secret')
  })

  test('of more than a hundred kinds are counted together', async () => {
    const ledger = ledgerOf()
    await settle(ledger, outcome({ rejected: Array.from({ length: 150 }, (_, n) => mapping(`f${n}`)) }))
    expect(ledger.rejections).toHaveLength(101)
    expect(ledger.rejections[0]).toEqual({ status: 0, type: 'others', documents: 50 })
    expect(ledger.rejections.reduce((sum, { documents }) => sum + documents, 0)).toBe(150)
  })

  test('name the field that Elasticsearch names, and nothing else that stands in brackets', () => {
    const cases: [string, string | undefined][] = [
      ["[1:9] failed to parse field [port] of type [integer] in document with id '3'", 'port'],
      ['object mapping for [a.b] tried to parse field [c] as object, but found a concrete value', 'c'],
      ['mapping set to strict, dynamic introduction of [x] within [_doc] is not allowed', 'x'],
      ['[2]: version conflict, document already exists (current version [1])', undefined],
      [`failed to parse field [${'x'.repeat(300)}]`, undefined],
      // The words of a pipeline's author, with a value in them.
      ['field [hunter2] is not one that we take', undefined],
      ["[1:9] failed to parse: [1:2] Preview of field's value: 'failed to parse field [hunter2]'", undefined],
      ["[1:9] failed to parse field [port] of type [long]. Preview of field's value: 'field [hunter2]'", 'port'],
    ]
    for (const [reason, field] of cases) expect(fieldOf(reason)).toBe(field)
  })
})

describe('more rejections than allowed', () => {
  const reject = async (ledger: Ledger, count: number) =>
    await settle(ledger, outcome({ rejected: Array.from({ length: count }, () => mapping('a')) }))

  test('stop the run: one more than the count', async () => {
    const ledger = ledgerOf(3)
    expect(await reject(ledger, 3)).toBeUndefined()
    expect(ledger.overLimit()).toBeUndefined()
    expect(await reject(ledger, 1)).toMatchObject({
      code: 'TOO_MANY_REJECTED',
      message: '4 documents were rejected, but --max-rejected allows 3',
    })
    expect(await reject(ledgerOf(0), 1)).toMatchObject({ code: 'TOO_MANY_REJECTED' })
    expect(await reject(ledgerOf(), 1000)).toBeUndefined()
  })

  test('stop the run: more than the share, once enough were read to tell', async () => {
    const ledger = ledgerOf('1%')
    await read(ledger, 999)
    expect(await reject(ledger, 11)).toBeUndefined()
    await read(ledger, 101)
    expect(await reject(ledger, 0)).toBeUndefined()
    expect(await reject(ledger, 1)).toMatchObject({ code: 'TOO_MANY_REJECTED' })
  })

  test('fail a run of few documents at its end', async () => {
    const ledger = ledgerOf('0.5%')
    await read(ledger, 100)
    expect(await reject(ledger, 1)).toBeUndefined()
    expect(ledger.overLimit()).toMatchObject({ code: 'TOO_MANY_REJECTED' })
  })

  test('are a lesser reason than the one that stopped the batch', async () => {
    expect(await settle(ledgerOf(0), outcome({ rejected: [mapping('a')], stop }))).toBe(stop)
  })
})

describe('counts', () => {
  test('hold every document of every outcome, and what was read', async () => {
    const ledger = ledgerOf()
    const batch = taken(12, 2)
    ledger.take(batch)
    await ledger.settle(
      batch,
      outcome({ created: 1, updated: 2, duplicate: 1, skipped: 1, rejected: [mapping('a')], unknown: 3, unsent: 1 }),
    )
    const none = { accepted: 0, deleted: 0, noop: 0, notFound: 0, older: 0, dropped: 0 }
    expect(ledger.counts).toEqual({
      read: 12,
      created: 1,
      updated: 2,
      duplicate: 1,
      rejected: 1,
      skipped: 3,
      unknown: 3,
      unsent: 1,
      ...none,
    })
    expect(ledger.inputs).toEqual([{ name: 'a.ndjson', status: 'unfinished', read: 12 }])
  })

  test('hold documents whose refusal could not be written down as unsent', async () => {
    const ledger = ledgerOf(undefined, '/no/such/folder/dead.ndjson')
    const why = await settle(ledger, outcome({ created: 1, rejected: [mapping('a'), mapping('b')] }))
    expect(why).toMatchObject({ code: 'DEAD_LETTERS_UNWRITABLE' })
    expect(ledger.counts).toMatchObject({ created: 1, rejected: 0, unsent: 2 })
    expect(ledger.rejections).toEqual([])
    expect(await settle(ledger, outcome({ rejected: [mapping('a')], stop }))).toBe(stop)
  })

  test('hold a long line as unsent until it is whole', async () => {
    const ledger = ledgerOf()
    const line = async () => await ledger.longLine(input, { input: 'a.ndjson', document: 1 }, 'create', 10)
    const whole = await line()
    expect(ledger.counts).toMatchObject({ read: 1, unsent: 1, rejected: 0 })
    await whole.end()
    const cut = await line()
    await cut.abandon()
    expect(ledger.counts).toMatchObject({ read: 2, unsent: 1, rejected: 1 })
    const first = { input: 'a.ndjson', document: 1 }
    expect(ledger.rejections).toEqual([{ status: 0, type: 'DOCUMENT_TOO_LARGE', documents: 1, first }])
  })

  test('tell of a long line with its beginning and its length', async () => {
    const told: Refused[] = []
    const ledger = new Ledger(new DeadLetters(undefined), { rejectedLong: refused => told.push(refused) })
    ledger.begin(input)
    const origin = { input: 'a.ndjson', document: 1 }
    const line = await ledger.longLine(input, origin, 'create', 10, 'one')
    await line.write(Buffer.from('x'.repeat(1000)))
    await line.write(Buffer.from('y'.repeat(1000)))
    expect(told).toEqual([])
    await line.end()
    const document = Buffer.from('x'.repeat(1000) + 'y'.repeat(24))
    expect(told).toMatchObject([
      {
        document,
        isExcerpt: true,
        id: 'one',
        origin,
        reason: expect.stringMatching(/2,?000 bytes.*limit is 10/) as string,
      },
    ])
  })

  test('tell of each input whether it was read to its end', () => {
    const ledger = ledgerOf()
    const broken = failure('INPUT_TRUNCATED', { input: 'b.gz', encoding: 'gzip', bytes: 7 })
    ledger.begin({ id: 1, name: 'b.gz' })
    ledger.end(input)
    ledger.end({ id: 1, name: 'b.gz' }, broken)
    expect(ledger.inputs).toEqual([
      { name: 'a.ndjson', status: 'finished', read: 0 },
      { name: 'b.gz', status: 'failed', read: 0, failure: broken },
    ])
  })
})
