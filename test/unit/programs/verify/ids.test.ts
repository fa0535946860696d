import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nothing } from '../../../../src/pipeline/ledger/account.js'
import type { Checkpoint, CheckpointInput } from '../../../../src/run/state/checkpoint/checkpoint.js'
import { record as deadLetter } from '../../../support/load/dead-letter.js'
import { rejectedNumbers } from '../../../../src/programs/verify/rejected-numbers.js'
import { type InputIds, idsOf } from '../../../../src/programs/verify/run-ids.js'
import { newTally } from '../../../../src/programs/verify/tally.js'
import type { FoundDocument } from '../../../../src/route/cluster/documents.js'

/** A file of which so many stored bytes were read. */
const file = (bytes: number) => ({ path: '/a', stat: undefined, bytes, sum: 's' })

function idsOfInput(input: Partial<CheckpointInput>, isDoubtful = true): InputIds | undefined {
  const mark = { kind: 'lines' as const, document: 11, line: 11, offset: 100, tail: 0 }
  const begun = { id: 0, name: 'a', status: 'begun', token: 't', mark, read: 10, hasStored: true } as const
  const whole: CheckpointInput = { ...begun, ...input }
  return idsOf({ inputs: [whole], isDoubtful } as unknown as Checkpoint)[0]
}

describe('the ids of a run', () => {
  test('are numbered up to the mark, from where the run began', () => {
    expect(idsOfInput({})).toMatchObject({ first: 1, last: 10, mayEndBlank: false, sharesFirst: false })
    const start = { document: 5, wasRead: true }
    expect(idsOfInput({ start })).toMatchObject({ first: 5, last: 10, sharesFirst: true })
  })

  test('include a last line without a line end, which may be blank', () => {
    const mark = { kind: 'lines' as const, document: 11, line: 11, offset: 100, tail: 7 }
    expect(idsOfInput({ mark })).toMatchObject({ last: 11, mayEndBlank: true })
  })

  test('continue behind the mark if the run was cut off, however long the file was then', () => {
    expect(idsOfInput({ file: file(3000) })).toMatchObject({ isOpen: true })
    expect(idsOfInput({})).toMatchObject({ isOpen: true })
    expect(idsOfInput({}, false)?.isOpen).toBe(false)
  })

  test('end with an input that was read to its end', () => {
    expect(idsOfInput({ status: 'finished' })?.isOpen).toBe(false)
  })
})

describe('the tally', () => {
  const input: InputIds = {
    name: 'a',
    token: 't',
    first: 1,
    last: 6,
    mayEndBlank: false,
    sharesFirst: false,
    isOpen: false,
    continuedBy: undefined,
  }
  const copy: FoundDocument = { id: '', index: 'i', version: 1, seqNo: 0, primaryTerm: 1 }
  const seen = (number: number, copies: number) => ({
    input,
    number,
    id: `t-${number}`,
    copies: Array.from({ length: copies }, () => copy),
  })
  const tallied = (options: { rejected: number; named: number[]; found: number[]; input?: InputIds }) => {
    const of = options.input ?? input
    const tally = newTally({
      inputs: [of],
      counts: { ...nothing, created: 6 - options.rejected, rejected: options.rejected },
      rejected: new Map([['t', new Set(options.named)]]),
      listed: 20,
    })
    const numbers = [6, 5, 4, 3, 2, 1].map(number => ({
      ...seen(number, options.found.includes(number) ? 1 : 0),
      input: of,
    }))
    tally.settled(numbers)
    return tally.result()
  }

  test('tells rejected documents from missing ones by their numbers', () => {
    const result = tallied({ rejected: 2, named: [2, 5], found: [1, 3] })
    expect(result).toMatchObject({ documents: 6, found: 2, rejected: 2, unlisted: 0, missing: 2 })
    expect(result.inputs[0]?.missingIds).toEqual(['t-4', 't-6'])
  })

  test('takes as many as were rejected off what is missing where no numbers tell', () => {
    expect(tallied({ rejected: 2, named: [], found: [1, 3, 4] })).toMatchObject({
      found: 3,
      rejected: 2,
      unlisted: 2,
      missing: 1,
      inputs: [{ missing: 3, rejected: 0 }],
    })
  })

  test('believes no more dead letters than there were rejections', () => {
    expect(tallied({ rejected: 1, named: [2, 5], found: [1, 3, 4] })).toMatchObject({
      found: 3,
      rejected: 1,
      missing: 2,
    })
  })

  test('counts a rejected document that was sent again, and is there, as found', () => {
    expect(tallied({ rejected: 1, named: [2], found: [1, 2, 3, 4, 5, 6] })).toMatchObject({
      found: 6,
      rejected: 0,
      missing: 0,
    })
  })

  test('a last line that the counts do not know is none', () => {
    const open = { ...input, last: 6, mayEndBlank: true }
    expect(tallied({ rejected: 0, named: [], found: [1, 2, 3, 4, 5], input: open })).toMatchObject({ missing: 1 })
    const tally = newTally({ inputs: [open], counts: { ...nothing, created: 5 }, rejected: new Map(), listed: 20 })
    tally.settled([1, 2, 3, 4, 5, 6].map(number => ({ ...seen(number, number === 6 ? 0 : 1), input: open })))
    expect(tally.result()).toMatchObject({ documents: 5, found: 5, missing: 0, inputs: [{ last: 5 }] })
  })
})

describe('the numbers of rejected documents', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rejected-'))
  })
  afterEach(async () => await rm(folder, { recursive: true }))

  const run = 'r.1'
  const stamp = { run, writer: 'w', destination: { index: 'i', pipeline: 'p"', routingField: 'f' } }
  const record = (input: string, document: number, id?: string, text = '{}') => {
    const origin = { input, document, line: 1, offset: 7 }
    const refused = { operation: 'create', status: 400, type: 'x', reason: 'r', attempts: 1, origin } as const
    const one = { ...refused, ...(id === undefined ? {} : { id }), document: Buffer.from(text) }
    return deadLetter(one, document % 2 === 0 ? stamp : undefined).toString()
  }
  const inputs = [
    { name: 'a "b"', token: 't', first: 1, last: 100 },
    { name: 'c', token: 'u', first: 11, last: 20 },
  ]

  test('are those of records with an id of the run, and of records that were never sent', async () => {
    const path = join(folder, 'dead')
    const own = [
      record('a "b"', 3, 't-3', `{"long":"${'x'.repeat(200_000)}"}`),
      record('a "b"', 6, 't-6'),
      record('a "b"', 8),
      record('a "b"', 4, 'other-4'),
      record('a "b"', 5),
      record('c', 10),
      record('c', 11, 'u-11'),
      record('nobody', 12, 't-12'),
      'no record\n',
    ].join('')
    await writeFile(path, `${own}${record('a "b"', 99)}`)
    const found = await rejectedNumbers({ path, length: Buffer.byteLength(own), run }, inputs)
    expect(found).toEqual(
      new Map([
        ['t', new Set([3, 6, 8, 5])],
        ['u', new Set([11])],
      ]),
    )
  })

  test('are also those of records that hold only the beginning of a long document, whatever the name of its file', async () => {
    const path = join(folder, 'dead')
    const stored = { file: '/a "{b}"/c.ndjson', bytes: 2_000_000, sha256: 'a'.repeat(64) }
    const origin = { input: 'a "b"', document: 7, line: 7, offset: 90, stored }
    const refused = { operation: 'create', status: 400, type: 'x', reason: 'r', attempts: 1, origin } as const
    const document = Buffer.from('{"long":"')
    const own = deadLetter({ ...refused, id: 't-7', document, isExcerpt: true }, stamp).toString()
    await writeFile(path, own)
    expect((await rejectedNumbers({ path, length: own.length, run }, inputs)) as Map<string, Set<number>>).toEqual(
      new Map([
        ['t', new Set([7])],
        ['u', new Set()],
      ]),
    )
  })

  test('are not those of another run that wrote to the same file', async () => {
    const path = join(folder, 'dead')
    const own = record('a "b"', 6)
    await writeFile(path, own)
    const found = await rejectedNumbers({ path, length: own.length, run: 'r.2' }, inputs, false)
    expect(found).toEqual(
      new Map([
        ['t', new Set()],
        ['u', new Set()],
      ]),
    )
  })

  test('are not known where the file is gone or cannot be read', async () => {
    expect(await rejectedNumbers({ path: join(folder, 'none'), length: 10, run }, inputs)).toBe('no longer exists')
    expect(await rejectedNumbers({ path: folder, length: 10, run }, inputs)).toBe('cannot be read (EISDIR)')
    expect(await rejectedNumbers({ path: join(folder, 'none'), length: 0, run }, inputs)).toBeInstanceOf(Map)
  })
})
