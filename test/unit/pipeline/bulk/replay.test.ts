import { describe, expect, test } from 'vitest'
import { ReplayBatcher, type ReplayBatchOptions } from '../../../../src/pipeline/bulk/replay-batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import type { Destination, LongLine, Origin, Refused } from '../../../../src/base/flow.js'
import { record } from '../../../support/load/dead-letter.js'
import { HeldClock } from '../../../support/load/held-clock.js'

const OWN = 'abcdefghijklmnop'
const stamp = { run: 'first', writer: 'w', destination: { index: 'orders' } }

function refused(document: string | Uint8Array, more: Partial<Refused> = {}): Refused {
  const origin = { input: 'a.ndjson', document: 3, line: 4, offset: 57, ...more.origin }
  return {
    document: Buffer.from(document as string),
    operation: 'create',
    id: `${OWN}-${origin.document}`,
    status: 400,
    type: 'document_parsing_exception',
    reason: 'failed to parse field [port]',
    attempts: 2,
    ...more,
    origin,
  }
}

/** What was refused because it is no object, with no id unless one is given. */
function text(line: string | Uint8Array, more: Partial<Refused> = {}): Refused {
  const { id: _, ...rest } = refused(line, { status: 0, type: 'DOCUMENT_NOT_JSON', attempts: 0, ...more })
  return more.id === undefined ? rest : { ...rest, id: more.id }
}

const letter = (one: Refused, destination?: Destination) =>
  record(one, destination === undefined ? stamp : { ...stamp, destination }).toString('latin1')

interface Framed {
  readonly actions: readonly unknown[]
  readonly documents: readonly string[]
  readonly origins: readonly Origin[]
  readonly attempts: readonly (number | undefined)[]
  readonly ids: string | undefined
  readonly destination: Destination | undefined
  readonly operation: string
  readonly refused: readonly Refused[]
  readonly marks: readonly (readonly number[])[]
}

interface Framing extends Partial<ReplayBatchOptions> {
  /** Bytes of each chunk. Default: one chunk. */
  readonly chunk?: number
}

/** The batches that a file of dead letters becomes. `lines`: bytes, each as one character. */
async function frame(lines: string, { chunk = Infinity, ...more }: Framing = {}): Promise<Framed[]> {
  const bytes = Buffer.from(lines, 'latin1')
  const batcher = new ReplayBatcher({
    batchBytes: 100_000,
    batchDocs: Infinity,
    batchMs: 1000,
    maxDocumentBytes: 50_000,
    slots: new SlotPool(2, 100_000),
    clock: new HeldClock(),
    longLine: async () => await Promise.reject(new Error('no line is that long')),
    longRecord: async () => await Promise.reject(new Error('no record is that long')),
    readAgain: async () => await Promise.reject(new Error('no document is read again')),
    ...more,
  })
  async function* chunks() {
    for (let from = 0; from < bytes.length; from += chunk) yield Buffer.from(bytes.subarray(from, from + chunk))
  }
  const framed: Framed[] = []
  const take = (batch: NonNullable<ReturnType<ReplayBatcher['rest']>>) => {
    const sent = batch.bytes.toString('latin1').split('\n').slice(0, -1)
    const ordinals = Array.from({ length: batch.docs }, (_, ordinal) => ordinal)
    const originOf = batch.origins()
    framed.push({
      actions: sent.filter((_, at) => at % 2 === 0).map(action => JSON.parse(action) as unknown),
      documents: sent.filter((_, at) => at % 2 === 1),
      origins: ordinals.map(originOf),
      attempts: ordinals.map(ordinal => batch.addressed?.attempts(ordinal)),
      ids: batch.addressed?.ids,
      destination: batch.addressed?.destination,
      operation: batch.operation,
      refused: [...batch.refused],
      marks: batch.ends.map(({ mark: { document, line, offset, tail } }) => [document, line, offset, tail]),
    })
    batch.release()
  }
  const input = { id: 0, name: 'dead.ndjson' }
  for await (const batch of batcher.frame(input, 't', { kind: 'lines', at: 0, bytes: chunks() })) take(batch)
  const rest = batcher.rest()
  if (rest !== undefined) take(rest)
  return framed
}

describe('a dead letter', () => {
  const documents = [
    '{ "n":1234567890123456789, "f":1.0,\t"text":"é😀\\u00e9", "n":2 }',
    '  {"spaces":"around"}\t',
    '{"document":{"document":"}"},"line":1,"origin":[]}',
    '{}',
  ].map(document => Buffer.from(document))

  test('is framed byte for byte as it was, with its operation, id and routing, wherever its file is cut', async () => {
    const lines = documents
      .map((document, n) =>
        letter(refused(document, { routing: `r"${n}é`, origin: { input: 'a', document: n + 1 }, attempts: n })),
      )
      .join('')
    for (const chunk of [1, 2, 3, 7, 64, 333, Infinity]) {
      const [batch, ...others] = await frame(lines, { chunk })
      expect(others).toEqual([])
      expect(batch).toMatchObject({ ids: 'own', operation: 'create', destination: { index: 'orders' }, refused: [] })
      expect(batch?.documents).toEqual(documents.map(document => document.toString('latin1')))
      expect(batch?.actions.map(action => JSON.parse(latin1(action)) as unknown)).toEqual(
        documents.map((_, n) => ({ create: { _id: `${OWN}-${n + 1}`, routing: `r"${n}é` } })),
      )
      expect(batch?.origins).toEqual(documents.map((_, n) => ({ input: 'a', document: n + 1, line: 4, offset: 57 })))
      expect(batch?.attempts).toEqual([0, 1, 2, 3])
    }
  })

  /** Text whose characters are bytes, as the text that it stands for. */
  const latin1 = (value: unknown) => Buffer.from(JSON.stringify(value), 'latin1').toString('utf8')

  describe('that holds only the beginning of its document', () => {
    const stored = { file: '/data/a.ndjson', bytes: 9, sha256: 'a'.repeat(64) }
    const origin = { input: 'a', document: 3, line: 4, offset: 57, stored }
    const short = letter(refused('{"n"', { origin, isExcerpt: true, type: 'document_parsing_exception' }))

    test('is sent with the document that its file still holds', async () => {
      const asked: unknown[] = []
      const readAgain = async (where: unknown) => {
        asked.push(where)
        return await Promise.resolve(Buffer.from('{"n":"a"}'))
      }
      const [batch] = await frame(short, { readAgain })
      expect(asked).toEqual([{ ...stored, offset: 57 }])
      expect(batch).toMatchObject({ documents: ['{"n":"a"}'], origins: [origin], refused: [] })
    })

    test('stays as it is if the file no longer holds the document, and if no request could carry it', async () => {
      const gone = async () => await Promise.resolve('/data/a.ndjson ends before byte 66')
      const cases = [
        [await frame(short, { readAgain: gone }), 'DOCUMENT_NOT_IN_INPUT', /: \/data\/a.ndjson ends before byte 66$/],
        [await frame(short, { maxDocumentBytes: 8 }), 'DOCUMENT_TOO_LARGE', /has 9 bytes, but the limit is 8$/],
      ] as const
      for (const [[batch], type, reason] of cases) {
        const [one, ...others] = batch?.refused ?? []
        expect(others).toEqual([])
        expect(one).toMatchObject({
          type,
          isExcerpt: true,
          origin,
          attempts: 2,
          reason: expect.stringMatching(reason) as string,
        })
        expect(String(one?.document)).toBe('{"n"')
      }
    })

    test('is sent as it was repaired, and its file is not read', async () => {
      const [batch] = await frame(short.replace('"start":"{\\"n\\""', '"start":"{","document":{"n":7}'))
      expect(batch).toMatchObject({ documents: ['{"n":7}'], refused: [] })
    })

    test.each([
      ['no place', /"stored":\{[^}]*\}/, '"other":1'],
      ['no offset', '"offset":57', '"offset":"57"'],
      ['a file of an unknown folder', '/data/a', 'a'],
      ['no length', '"bytes":9', '"bytes":-9'],
      ['no checksum', /"sha256":"a+"/, '"sha256":1'],
    ])('is broken if it has %s', async (_, part, instead) => {
      const line = short.replace(part, instead)
      expect(line).not.toBe(short)
      const [batch] = await frame(line)
      expect(batch?.refused).toMatchObject([{ type: 'DEAD_LETTER_BROKEN' }])
      expect(String(batch?.refused[0]?.document)).toBe(line.trimEnd())
    })
  })

  test('without an id is sent without one', async () => {
    const [batch] = await frame(letter(text('{"a":1}', { type: 'document_parsing_exception', operation: 'index' })))
    expect(batch).toMatchObject({ ids: 'none', operation: 'index', actions: [{ index: {} }], documents: ['{"a":1}'] })
  })

  test('shares a body with its like alone: operation, whose id it has, index and pipeline', async () => {
    const other = { index: 'orders', pipeline: 'clean' }
    const batches = await frame(
      [
        letter(refused('{"n":1}')),
        letter(refused('{"n":2}')),
        letter(refused('{"n":3}', { operation: 'index' })),
        letter(refused('{"n":4}', { operation: 'index', id: 'sku-1' })),
        letter(refused('{"n":5}', { operation: 'index', id: `${OWN}-999` })),
        letter(refused('{"n":6}', { id: `${OWN}-3` }), { index: 'orders', idField: 'n' }),
        letter(refused('{"n":7}'), other),
        letter(refused('{"n":8}'), { index: 'customers' }),
      ].join(''),
    )
    expect(
      batches.map(({ documents: own, ids, operation, destination }) => [own, ids, operation, destination]),
    ).toEqual([
      [['{"n":1}', '{"n":2}'], 'own', 'create', { index: 'orders' }],
      [['{"n":3}'], 'own', 'index', { index: 'orders' }],
      [['{"n":4}', '{"n":5}'], 'given', 'index', { index: 'orders' }],
      [['{"n":6}'], 'given', 'create', { index: 'orders', idField: 'n' }],
      [['{"n":7}'], 'own', 'create', other],
      [['{"n":8}'], 'own', 'create', { index: 'customers' }],
    ])
  })

  test('goes where all of them are told to go', async () => {
    const lines = letter(refused('{"n":1}'), { index: 'a', routingField: 'n' }) + letter(text('x'), { index: 'b' })
    const [batch] = await frame(lines, { index: 'other', pipeline: 'repair' })
    expect(batch?.destination).toEqual({ index: 'other', pipeline: 'repair', routingField: 'n' })
    expect(batch?.refused[0]?.destination).toEqual({ index: 'other', pipeline: 'repair' })
  })

  test('says with each batch how far its file has come, blank lines and broken ones included', async () => {
    const [one, two, three] = [letter(refused('{"n":1}')), '\n', letter(refused('{"n":2}'))]
    expect((await frame(one + two + three, { batchDocs: 1 })).map(({ marks }) => marks)).toEqual([
      [[2, 2, one.length, 0]],
      [[3, 4, one.length + 1 + three.length, 0]],
    ])
    expect((await frame(`${one}{"torn":`)).map(({ marks }) => marks)).toEqual([[[2, 2, one.length, 8]]])
  })
})

describe('a dead letter that was no document', () => {
  test('is sent where it is one now, and refused again where it is not, with its first origin', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x7d])
    const lines = [text('[1]', { id: `${OWN}-3` }), text(bytes), text('{"a":'), text('{"was":"too large"}')]
    const [batch] = await frame(lines.map(one => letter(one)).join(''))
    expect(batch?.documents).toEqual(['{"was":"too large"}'])
    expect(batch?.refused.map(({ reason: _, ...again }) => again)).toEqual(
      lines.slice(0, 3).map(({ reason: _, ...one }) => ({ ...one, destination: { index: 'orders' } })),
    )
    expect(batch?.refused.map(({ reason }) => reason)).toEqual([
      'not one JSON object: it is an array',
      'not one JSON object: it is not valid UTF-8',
      'not one JSON object: broken JSON',
    ])
  })

  test('keeps why its row was rejected until somebody repairs it', async () => {
    const reason = 'line 5, column 3 (price): not of the type double'
    const row = { ...text('[1,"x"]'), type: 'DOCUMENT_ROW_INVALID', reason }
    const repaired = letter(row).replace(/"line":"[^}]*?\]"/, '"line":"{\\"price\\":1}"')
    const [batch] = await frame(letter(row) + repaired)
    expect(batch?.documents).toEqual(['{"price":1}'])
    expect(batch?.refused.map(({ type, reason }) => [type, reason])).toEqual([['DOCUMENT_ROW_INVALID', reason]])
  })

  test('is refused again where it is too large, however it is kept', async () => {
    const large = JSON.stringify({ large: 'x'.repeat(1000) })
    const lines = [refused(large), text(large)].map(one => letter(one)).join('')
    const [batch] = await frame(lines, { maxDocumentBytes: 500 })
    expect(batch?.refused.map(({ type, document, attempts }) => [type, String(document), attempts])).toEqual([
      ['DOCUMENT_TOO_LARGE', large, 2],
      ['DOCUMENT_TOO_LARGE', large, 0],
    ])
  })

  test('takes its id from the field that the run took ids from, once it has one', async () => {
    const destination = { index: 'orders', idField: 'sku', routingField: 'shop' }
    const more = { type: 'DOCUMENT_ID_INVALID' }
    const lines = [
      text('{"sku":1234567890123456789,"shop":"a"}', more),
      text('{"sku":"b","shop":2}', { ...more, id: 'kept', routing: 'kept' }),
      text('{"shop":1}', more),
      text('{"sku":"c"}', more),
      text(`{"sku":"${'x'.repeat(513)}","shop":1}`, more),
      text('{"sku":"d","shop":1}', { ...more, routing: '\ud83d' }),
    ]
    const [batch] = await frame(lines.map(one => letter(one, destination)).join(''))
    expect(batch).toMatchObject({ ids: 'given' })
    expect(batch?.actions).toEqual([
      { create: { _id: '1234567890123456789', routing: 'a' } },
      { create: { _id: 'kept', routing: 'kept' } },
    ])
    expect(batch?.refused.map(({ type, reason }) => [type, reason])).toEqual([
      ['DOCUMENT_ID_INVALID', 'the field sku is missing'],
      ['DOCUMENT_ID_INVALID', 'the field shop is missing'],
      ['DOCUMENT_ID_INVALID', 'the field sku has more than 512 bytes'],
      ['DOCUMENT_ID_INVALID', expect.stringContaining('the field routing') as string],
    ])
  })
})

describe('a dead letter that was repaired by hand', () => {
  const parsed = (one: Refused) => JSON.parse(Buffer.from(letter(one), 'latin1').toString()) as Record<string, unknown>
  const rewritten = (fields: unknown) => `${Buffer.from(JSON.stringify(fields)).toString('latin1')}\n`

  test('is sent as it stands, whatever the order of its fields and the space between them', async () => {
    const { document: _, origin, operation, ...fields } = parsed(refused('{"n":"wrong"}'))
    const spaced = JSON.stringify({ ...fields, document: { n: 1 }, origin, operation }, undefined, 1).replaceAll(
      '\n',
      ' ',
    )
    const [batch] = await frame(`${spaced}\n${rewritten({ document: { n: 'é' }, origin, operation, index: 'orders' })}`)
    expect(batch?.documents.map(document => JSON.parse(document) as unknown)).toEqual([{ n: 1 }])
    const [, other] = await frame(
      `${spaced}\n${rewritten({ document: { n: 'é' }, origin, operation, index: 'orders' })}`,
    )
    expect(other).toMatchObject({ ids: 'none', attempts: [0], origins: [origin] })
    expect(other?.documents).toEqual([Buffer.from('{"n":"é"}').toString('latin1')])
  })

  test('is a document beside the line, or in its place, or the line itself, also on several lines', async () => {
    const { line: _, ...bare } = parsed(text('{"n":1'))
    const pretty = JSON.stringify({ n: { deep: 'a\nb' } }, undefined, 2)
    const lines = [
      { ...bare, line: '{"n":1', document: { n: 1 } },
      { ...bare, document: { n: 2 } },
      { ...bare, line: '{"n":3}' },
      { ...bare, line: pretty },
      { ...bare, base64: Buffer.from('{"n":5}').toString('base64') },
    ]
    const [batch] = await frame(lines.map(rewritten).join(''))
    expect(batch?.refused).toEqual([])
    expect(batch?.documents.map(document => JSON.parse(document) as unknown)).toEqual([
      { n: 1 },
      { n: 2 },
      { n: 3 },
      JSON.parse(pretty),
      { n: 5 },
    ])
  })

  test('is refused where it is no object', async () => {
    const [batch] = await frame(rewritten({ ...parsed(refused('{}')), document: [1] }))
    expect(batch?.refused).toMatchObject([{ type: 'DOCUMENT_NOT_JSON', attempts: 2, origin: { document: 3 } }])
    expect(String(batch?.refused[0]?.document)).toBe('[1]')
  })
})

describe('a dead letter from the middle of an input', () => {
  const middle = (id: string) =>
    letter({ ...refused('{"n":1}'), id, origin: { input: 'a.ndjson', offset: 9_000_000_057 } })

  test('has an id of Sluice if it ends with its offset, and keeps its origin', async () => {
    const [own] = await frame(middle(`${OWN}-9000000057`))
    expect(own).toMatchObject({ ids: 'own', origins: [{ input: 'a.ndjson', offset: 9_000_000_057 }], refused: [] })
    const [given] = await frame(middle(`${OWN}-9000000058`))
    expect(given).toMatchObject({ ids: 'given', refused: [] })
  })

  test('is none without an offset', async () => {
    const [batch] = await frame(middle(`${OWN}-1`).replace(',"offset":9000000057', ''))
    expect(batch?.refused).toMatchObject([{ type: 'DEAD_LETTER_BROKEN' }])
  })

  test('has such an id also where its number is known', async () => {
    const [batch] = await frame(letter(refused('{"n":1}', { id: `${OWN}-57` })))
    expect(batch).toMatchObject({ ids: 'own', origins: [{ document: 3, line: 4, offset: 57 }] })
  })
})

describe('a line that is no dead letter', () => {
  test('is refused by its place, and what kept it from being one is named without quoting it', async () => {
    const whole = letter(refused('{"secret":"hunter2"}'))
    const lines = [
      whole.slice(0, -20),
      '{"secret":"hunter2"}',
      '["hunter2"]',
      whole.replace('"create"', '"hunter2"'),
      whole.replace(`"${OWN}-3"`, '{"hunter2":1}'),
      whole.replace('"document":3', '"document":"hunter2"'),
      whole.replace('"document":{', '"documents":{'),
      whole.replace('"index":"orders",', ''),
    ].map(line => line.trimEnd())
    const [batch] = await frame(lines.join('\n'))
    expect(batch?.documents).toEqual([])
    expect(batch?.refused.map(({ reason }) => reason.replace(/ at byte \d+ of the line/, ''))).toEqual(
      [
        'broken JSON',
        'its operation is not one of create, index, update, upsert, delete',
        'it is an array',
        'its operation is not one of create, index, update, upsert, delete',
        'its id is not a string',
        'it has no origin with an input and the number of a document',
        'it has no document, line or base64',
        'it does not name its index',
      ].map(problem => `not a dead letter: ${problem}`),
    )
    expect(batch?.refused.map(({ type, document, origin }) => [type, String(document), origin.line])).toEqual(
      lines.map((line, at) => ['DEAD_LETTER_BROKEN', line, at + 1]),
    )
  })

  test('is looked at again in what it was written to: there it may be repaired, and is never wrapped twice', async () => {
    const whole = letter(refused('{"n":1}'))
    const [torn] = (await frame(whole.slice(0, -9))).flatMap(batch => batch.refused)
    const again = (one: Refused) => letter({ ...one, origin: { input: 'dead.ndjson', document: 1 } })
    const [twice] = (await frame(again(torn as Refused))).flatMap(batch => batch.refused)
    expect(String(twice?.document)).toBe(whole.slice(0, -9))
    expect(twice?.origin).toEqual({ input: 'dead.ndjson', document: 1 })
    const [repaired] = await frame(again({ ...(twice as Refused), document: Buffer.from(whole) }))
    expect(repaired).toMatchObject({ documents: ['{"n":1}'], ids: 'own', attempts: [2] })
    expect(repaired?.origins).toMatchObject([{ input: 'a.ndjson', document: 3 }])
    // What is no record is no document either, though it is an object.
    const [foreign] = (await frame('{"n":1}')).flatMap(batch => batch.refused)
    const [kept] = await frame(again(foreign as Refused))
    expect([kept?.documents, kept?.refused.length]).toEqual([[], 1])
  })
})

describe('a dead letter that is too long to hold', () => {
  const maxDocumentBytes = 600
  const line = `{"operation":"create","run":"first","origin":{"input":"a","document":7},"index":"orders","status":0,"type":"DOCUMENT_TOO_LARGE","attempts":0,"base64":"${'QUJD'.repeat(500_000)}","reason":"large"}`

  class Taken implements LongLine {
    readonly parts: Buffer[] = []
    state = 'open'
    async write(bytes: Uint8Array) {
      this.parts.push(Buffer.from(bytes))
    }
    async end() {
      this.state = 'ended'
    }
    async abandon() {
      this.state = 'abandoned'
    }
  }

  test('is handed on behind its head, which tells its first origin, and its neighbours keep their places', async () => {
    for (const chunk of [1000, 70_001, Infinity]) {
      const [taken, heads] = [new Taken(), [] as unknown[]]
      const longRecord: ReplayBatchOptions['longRecord'] = async (_, head) => {
        heads.push(head)
        return taken
      }
      const neighbour = letter(refused('{"n":1}'))
      // In one piece with others a line of this length is looked at whole.
      const pieces = chunk === Infinity ? line.length - 10 : chunk
      const batches = await frame(neighbour + `${line}\n` + neighbour, { chunk: pieces, maxDocumentBytes, longRecord })
      expect(batches.flatMap(({ documents }) => documents)).toEqual(['{"n":1}', '{"n":1}'])
      expect(heads).toEqual([
        {
          operation: 'create',
          origin: { input: 'a', document: 7 },
          attempts: 0,
          status: 0,
          type: 'DOCUMENT_TOO_LARGE',
          destination: { index: 'orders' },
        },
      ])
      expect(taken.state).toBe('ended')
      expect(Buffer.concat(taken.parts).toString()).toBe(line.slice(line.indexOf(',"base64"')))
      expect(batches.at(-1)?.marks).toEqual([[4, 4, neighbour.length * 2 + line.length + 1, 0]])
    }
  })

  test('is taken back where it cannot be written down', async () => {
    const taken = new Taken()
    const full = new Error('the disk is full')
    taken.write = async () => await Promise.reject(full)
    const longRecord = async () => taken
    await expect(frame(`${line}\n`, { chunk: 1000, maxDocumentBytes, longRecord })).rejects.toBe(full)
    expect(taken.state).toBe('abandoned')
  })

  test('and has no head that can be read is handed on as a line of its file', async () => {
    const taken = new Taken()
    const origins: Origin[] = []
    const longLine: ReplayBatchOptions['longLine'] = async (_, origin) => {
      origins.push(origin)
      return taken
    }
    const foreign = `{"x":"${'y'.repeat(2_000_000)}"}`
    await frame(`\n${foreign}\n`, { chunk: 50_000, maxDocumentBytes, longLine })
    expect(origins).toEqual([{ input: 'dead.ndjson', document: 1, line: 2, offset: 1 }])
    expect(Buffer.concat(taken.parts).toString()).toBe(foreign)
    expect(taken.state).toBe('ended')
  })
})
