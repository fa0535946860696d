import { beforeEach, describe, expect, test, vi } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import type { ActionOptions } from '../../../../src/pipeline/bulk/action-line.js'
import { Batcher, type BatchOptions } from '../../../../src/pipeline/bulk/batcher.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import type { Batch, Input, Lines, LongLine, Origin, Refused } from '../../../../src/base/flow.js'
import { HeldClock } from '../../../support/load/held-clock.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

const LINE_FEED = 0x0a

/** Whether the batcher of the test at hand does without the kernel. */
let isPlain = false

/** The kernel and plain JavaScript keep the same promises. */
function describeBoth(title: string, suite: () => void): void {
  describe.each([
    { by: 'the kernel', plain: false },
    { by: 'plain JavaScript', plain: true },
  ])(`by $by: ${title}`, ({ plain }) => {
    beforeEach(() => {
      isPlain = plain
    })
    suite()
  })
}

/** What the batcher is judged by: one line of an input, looked at with no regard for speed or memory. */
interface PlainLine {
  readonly kind: 'document' | 'refused' | 'blank'
  /** With its line end, where it has one. */
  readonly bytes: Buffer
  readonly origin: Origin
}

function plainLines(name: string, bytes: Buffer, at: number): PlainLine[] {
  const lines: PlainLine[] = []
  let document = 1
  for (let from = 0, line = 1; from < bytes.length; line += 1) {
    const lineFeed = bytes.indexOf(LINE_FEED, from)
    const to = lineFeed === -1 ? bytes.length : lineFeed + 1
    const part = bytes.subarray(from, to)
    const kind = kindOf(part)
    lines.push({ kind, bytes: part, origin: { input: name, document, line, offset: at + from } })
    if (kind !== 'blank') document += 1
    from = to
  }
  return lines
}

function kindOf(line: Buffer): PlainLine['kind'] {
  if (/^[ \t\r\n]*$/.test(line.toString('latin1'))) return 'blank'
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line)
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? 'document' : 'refused'
  } catch {
    return 'refused'
  }
}

const kinds: readonly (string | Buffer)[] = [
  '',
  ' \t ',
  '\r',
  '{}',
  '{"a":1}',
  ' {"a" : [1, {"b":"}{\\""}] }\t',
  '{"text":"é😀 \\u0000\\n"}',
  '{"n":1234567890123456789,"f":1.0}',
  '{"twice":1,"twice":2}',
  `{"long":"${'x'.repeat(120)}"}`,
  `${'{"deep":'.repeat(40)}1${'}'.repeat(40)}`,
  '[1,2]',
  '42',
  '-0.5e3',
  '"text"',
  'true',
  'null',
  '{"a":1}{"b":2}',
  '{"a":1',
  "{'a':1}",
  '\u{feff}{"a":1}',
  '{"a":"\u0000"}',
  '\u0000\u0000',
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0xc3]),
]

function randomInput(random: Seeded, lines: number): Buffer {
  const parts: Buffer[] = []
  for (let line = 0; line < lines; line += 1) {
    parts.push(Buffer.from(random.pick(kinds) as string))
    if (line < lines - 1 || random.chance(0.5)) parts.push(Buffer.from(random.chance(0.3) ? '\r\n' : '\n'))
  }
  return Buffer.concat(parts)
}

/** Pieces that end at the given places; each is overwritten when the next one is asked for, as a source may do. */
async function* cutAt(bytes: Buffer, places: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const to of [...places, bytes.length]) {
    const piece = Buffer.from(bytes.subarray(from, to))
    yield piece
    piece.fill('!')
    from = to
  }
}

function everyPlace(bytes: Buffer): number[] {
  return Array.from({ length: Math.max(0, bytes.length - 1) }, (_, at) => at + 1)
}

const input = (id: number): Input => ({ id, name: `input-${id}` })

function noLongLine(): never {
  throw new Error('no line is longer than allowed')
}

function batcherOf(options: Partial<BatchOptions> = {}): Batcher {
  const batchBytes = options.batchBytes ?? 100_000
  return new Batcher({
    operation: 'create',
    ids: { from: 'run' },
    batchBytes,
    batchDocs: Infinity,
    batchMs: 1000,
    maxDocumentBytes: 1_000_000,
    slots: new SlotPool(2, batchBytes),
    clock: new HeldClock(),
    plain: isPlain,
    longLine: async () => noLongLine(),
    ...options,
  })
}

/** A batch as it left the batcher, copied out of its memory. */
interface Framed {
  readonly body: Buffer
  readonly docs: number
  readonly blank: number
  readonly actions: string[]
  readonly documents: Buffer[]
  readonly origins: Origin[]
  readonly refused: readonly Refused[]
  readonly taken: { name: string; lines: number }[]
}

function copyOut(batch: Batch): Framed {
  const body = Buffer.from(batch.bytes)
  const lines = plainLines('', body, 0).map(({ bytes }) => bytes)
  const originOf = batch.origins()
  const backwards = Array.from({ length: batch.docs }, (_, at) => originOf(batch.docs - 1 - at)).toReversed()
  const origins = Array.from({ length: batch.docs }, (_, ordinal) => originOf(ordinal))
  expect(backwards).toEqual(origins)
  const framed = {
    body,
    docs: batch.docs,
    blank: batch.blank,
    actions: lines.filter((_, at) => at % 2 === 0).map(String),
    documents: lines.filter((_, at) => at % 2 === 1),
    origins,
    refused: [...batch.refused],
    taken: batch.taken.map(({ input: { name }, lines: count }) => ({ name, lines: count })),
  }
  batch.bytes.fill('?')
  batch.release()
  return framed
}

interface Given {
  readonly bytes: Buffer
  readonly places?: readonly number[]
  readonly kind?: Lines['kind']
  readonly at?: number
}

async function frameAll(given: readonly Given[], options: Partial<BatchOptions> = {}): Promise<Framed[]> {
  const batcher = batcherOf(options)
  const framed: Framed[] = []
  for (const [id, { bytes, places = [], kind = 'lines', at = 0 }] of given.entries()) {
    const lines = { kind, at, bytes: cutAt(bytes, places) }
    for await (const batch of batcher.frame(input(id), `token${id}`, lines)) framed.push(copyOut(batch))
  }
  const rest = batcher.rest()
  if (rest !== undefined) framed.push(copyOut(rest))
  return framed
}

/** Each document, refused line and blank line of the inputs, exactly once, as the plain judge sees them. */
function expectAllFramed(framed: readonly Framed[], given: readonly Given[], limits: { bytes: number; docs: number }) {
  const all = given.flatMap(({ bytes, at = 0 }, id) => plainLines(input(id).name, bytes, at))
  const documents = all.filter(({ kind }) => kind === 'document')
  expect(framed.flatMap(({ origins }) => origins)).toEqual(documents.map(({ origin }) => origin))
  const sent = Buffer.concat(framed.flatMap(batch => batch.documents)).toString('latin1')
  expect(sent).toBe(documents.map(({ bytes }) => withLineFeed(bytes).toString('latin1')).join(''))
  const ids = framed.flatMap(({ actions }) => actions)
  expect(ids).toEqual(
    documents.map(({ origin }) => `{"create":{"_id":"token${origin.input.slice(6)}-${origin.document}"}}\n`),
  )

  const refused = framed.flatMap(batch => batch.refused)
  expect(refused.map(({ origin }) => origin)).toEqual(
    all.filter(({ kind }) => kind === 'refused').map(({ origin }) => origin),
  )
  for (const { document, origin, type, status, attempts } of refused) {
    const whole = all.find(line => line.origin.input === origin.input && line.origin.line === origin.line)
    expect(Buffer.from(document)).toEqual(withoutLineEnd(whole?.bytes ?? Buffer.alloc(0)))
    expect({ type, status, attempts }).toEqual({ type: 'DOCUMENT_NOT_JSON', status: 0, attempts: 0 })
  }
  expect(sum(framed.map(({ blank }) => blank))).toBe(all.filter(({ kind }) => kind === 'blank').length)
  for (const [id] of given.entries()) {
    const taken = framed.flatMap(batch => batch.taken).filter(({ name }) => name === input(id).name)
    expect(sum(taken.map(({ lines }) => lines))).toBe(
      all.filter(({ origin }) => origin.input === input(id).name).length,
    )
  }
  for (const { body, docs, documents: own, blank, refused: lines, taken } of framed) {
    expect(own).toHaveLength(docs)
    expect(docs).toBeLessThanOrEqual(limits.docs)
    if (docs > 1) expect(body.length).toBeLessThanOrEqual(limits.bytes)
    expect(docs + blank + lines.length).toBe(sum(taken.map(({ lines: count }) => count)))
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const withLineFeed = (line: Buffer) => (line.at(-1) === LINE_FEED ? line : Buffer.concat([line, Buffer.from('\n')]))

function withoutLineEnd(line: Buffer): Buffer {
  const end = line.at(-1) === LINE_FEED ? line.length - 1 : line.length
  return line.subarray(0, line[end - 1] === 0x0d ? end - 1 : end)
}

describeBoth('framing', () => {
  test('takes any input apart into documents, refused lines and blank ones, wherever its bytes are cut', async () => {
    const bytes = Buffer.concat(kinds.flatMap(line => [Buffer.from(line as string), Buffer.from('\n')]))
    const limits = { bytes: 400, docs: 5 }
    for (const place of everyPlace(bytes).filter(one => one % rounds(80, 1) === 0)) {
      const given = [{ bytes, places: [place] }]
      expectAllFramed(await frameAll(given, { batchBytes: limits.bytes, batchDocs: limits.docs }), given, limits)
    }
    const given = [{ bytes, places: everyPlace(bytes) }]
    expectAllFramed(await frameAll(given, { batchBytes: limits.bytes, batchDocs: limits.docs }), given, limits)
  })

  test('does so for random inputs, one behind the other, with random limits', async () => {
    for (let seed = 1; seed <= rounds(10, 3000); seed += 1) {
      const random = seeded(seed)
      const given = Array.from({ length: 1 + random.below(3) }, () => {
        const bytes = randomInput(random, random.below(30))
        const places = everyPlace(bytes).filter(() => random.chance(0.05))
        return { bytes, places, at: random.pick([0, 3]) }
      })
      const limits = { bytes: random.pick([50, 100, 300, 100_000]), docs: random.pick([1, 3, Infinity]) }
      const framed = await frameAll(given, { batchBytes: limits.bytes, batchDocs: limits.docs })
      expectAllFramed(framed, given, limits)
    }
  })

  test('puts the documents, refused lines and blank lines together again to the very input', async () => {
    for (let seed = 1; seed <= rounds(10, 2000); seed += 1) {
      const random = seeded(seed)
      const bytes = randomInput(random, 40)
      const framed = await frameAll([{ bytes }], { batchBytes: 200 })
      const pieces = framed.flatMap(({ origins, documents, refused }) => [
        ...origins.map(({ offset = -1 }, at) => ({ offset, bytes: withoutLineEnd(documents[at] ?? Buffer.alloc(0)) })),
        ...refused.map(({ origin: { offset = -1 }, document }) => ({ offset, bytes: Buffer.from(document) })),
      ])
      let at = 0
      const rebuilt: Buffer[] = []
      for (const piece of pieces.toSorted((one, other) => one.offset - other.offset)) {
        expect(piece.offset).toBeGreaterThanOrEqual(at)
        const between = bytes.subarray(at, piece.offset)
        expect(between.toString('latin1')).toMatch(/^[ \t\r\n]*$/)
        rebuilt.push(between, piece.bytes)
        at = piece.offset + piece.bytes.length
      }
      expect(bytes.subarray(at).toString('latin1')).toMatch(/^[ \t\r\n]*$/)
      expect(Buffer.concat([...rebuilt, bytes.subarray(at)])).toEqual(bytes)
    }
  })

  test('takes a document that is nested ten thousand deep', async () => {
    const deep = `${'{"a":['.repeat(5000)}${']}'.repeat(5000)}`
    const [batch] = await frameAll([{ bytes: Buffer.from(`${deep}\n${deep.slice(0, -1)}\n`) }])
    expect(batch?.documents.map(String)).toEqual([`${deep}\n`])
    expect(batch?.refused).toHaveLength(1)
  })

  test('has its own action lines also if another one used the same memory before', async () => {
    const slots = new SlotPool(2, 100_000)
    const [one, other] = [batcherOf({ slots }), batcherOf({ slots, operation: 'update' })]
    const framed: string[] = []
    for (const [id, batcher] of [one, other, one, other].entries()) {
      const lines = { kind: 'lines', at: 0, bytes: cutAt(Buffer.from('{"a":1}\n'), []) } as const
      for await (const batch of batcher.frame(input(id), 'same', lines)) throw new Error(`${batch.docs} fill a batch`)
      const rest = batcher.rest()
      if (rest !== undefined) framed.push(String(copyOut(rest).body))
    }
    const created = '{"create":{"_id":"same-1"}}\n{"a":1}\n'
    const updated = '{"update":{"retry_on_conflict":3,"_id":"same-1"}}\n{"doc":{"a":1}}\n'
    expect(framed).toEqual([created, updated, created, updated])
  })

  test('keeps refused lines of any length as they are, as often as they are asked for', async () => {
    const lines = Array.from({ length: 300 }, (_, at) => `${at} ${'x'.repeat(at % 50 === 7 ? 70_000 : at * 3)}`)
    const bytes = Buffer.from(lines.join('\r\n'))
    const batcher = batcherOf({ batchBytes: 4 << 20 })
    for await (const batch of batcher.frame(input(0), 't', { kind: 'lines', at: 0, bytes: cutAt(bytes, []) }))
      throw new Error(`${batch.refused.length} lines fill a batch`)
    const refusedIn = batcher.rest()?.refused ?? []
    for (let time = 0; time < 2; time += 1) {
      const refused = [...refusedIn]
      expect(refused.map(({ document }) => String(document))).toEqual(lines)
      expect(refused.map(({ origin: { document } }) => document)).toEqual(lines.map((_, at) => at + 1))
      expect(refused.map(({ id }) => id)).toEqual(lines.map((_, at) => `t-${at + 1}`))
      expect(refusedIn.length).toBe(lines.length)
    }
  })

  test('gives elements of a JSON array a number, and no line that would mean nothing', async () => {
    const bytes = Buffer.from('{"a":1}\n{"a":2}\n[3]\n{"a":4}\n')
    const [batch] = await frameAll([{ bytes, kind: 'elements' }])
    expect(batch?.origins).toEqual([1, 2, 4].map(document => ({ input: 'input-0', document })))
    expect(batch?.refused[0]?.origin).toEqual({ input: 'input-0', document: 3 })
  })

  test('says what keeps a line from being a document, without quoting it', async () => {
    const secret = 'hunter2 at position 77'
    const lines = [`[1,"${secret}"]`, '42', '"s"', 'true', 'null', `{"${secret}": x}`, `{"a":"${secret}"`, '\u0000']
    const bytes = Buffer.concat([Buffer.from(lines.join('\n')), Buffer.from([LINE_FEED, 0x7b, 0xff, 0x7d])])
    const [batch] = await frameAll([{ bytes }])
    const reasons = batch?.refused.map(({ reason }) => reason.replace(/ at byte \d+ of the line/, '')) ?? []
    expect(reasons).toEqual(
      [
        'it is an array',
        'it is a number',
        'it is a string',
        'it is true or false',
        'it is null',
        'broken JSON',
        'broken JSON',
        'broken JSON',
        'it is not valid UTF-8',
      ].map(problem => `not one JSON object: ${problem}`),
    )
    expect(JSON.stringify(batch?.refused.map(({ reason }) => reason))).not.toMatch(/hunter2|byte 77/)
  })
})

describeBoth('a batch ends', () => {
  const line = '{"a":"0123456789"}\n'
  const pair = `{"create":{"_id":"token0-1"}}\n${line}`.length

  test('before it would pass its size, and not sooner', async () => {
    const bytes = Buffer.from(line.repeat(9))
    const framed = await frameAll([{ bytes }], { batchBytes: pair * 3 + 1 })
    expect(framed.map(({ docs }) => docs)).toEqual([3, 3, 3])
  })

  test('at its count of documents', async () => {
    const framed = await frameAll([{ bytes: Buffer.from(line.repeat(7)) }], { batchDocs: 3 })
    expect(framed.map(({ docs }) => docs)).toEqual([3, 3, 1])
  })

  test('with one document that is larger than a body is', async () => {
    const large = `{"large":"${'x'.repeat(500)}"}\n`
    const framed = await frameAll([{ bytes: Buffer.from(line + large + line) }], { batchBytes: 100 })
    expect(framed.map(({ documents }) => documents.map(String))).toEqual([[line], [large], [line]])
  })

  test('when refused lines alone have filled as much memory', async () => {
    const framed = await frameAll([{ bytes: Buffer.from('[0]\n'.repeat(20)) }], { batchBytes: 1000 })
    expect(framed.map(({ refused }) => refused.length)).toEqual([4, 4, 4, 4, 4])
  })

  test('not at the end of an input: the next one goes on filling it', async () => {
    const framed = await frameAll([
      { bytes: Buffer.from(line) },
      { bytes: Buffer.from(line.trim()) },
      { bytes: Buffer.from(line) },
    ])
    expect(framed.map(({ docs, taken }) => [docs, taken])).toEqual([
      [3, [0, 1, 2].map(id => ({ name: `input-${id}`, lines: 1 }))],
    ])
  })
})

/** Lines that a test hands on one by one. */
class Feed implements AsyncIterable<Uint8Array> {
  #waiting: ((step: IteratorResult<Uint8Array>) => void) | undefined
  #asked: (() => void) | undefined
  closed = false

  /** Resolves once the reader waits for more. */
  async wanted(): Promise<void> {
    if (this.#waiting !== undefined) return
    await new Promise<void>(resolve => (this.#asked = resolve))
    // The batcher starts its timer if nothing comes at once.
    await new Promise(resolve => setImmediate(resolve))
  }

  async give(text: string): Promise<void> {
    await this.wanted()
    this.#answer({ done: false, value: Buffer.from(text) })
  }

  async end(): Promise<void> {
    await this.wanted()
    this.#answer({ done: true, value: undefined })
  }

  #answer(step: IteratorResult<Uint8Array>): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.(step)
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () =>
        await new Promise(resolve => {
          this.#waiting = resolve
          this.#asked?.()
        }),
      return: async () => {
        this.closed = true
        return { done: true, value: undefined }
      },
    }
  }
}

describeBoth('time', () => {
  const feedInto = (batcher: Batcher, feed: AsyncIterable<Uint8Array>) =>
    batcher.frame(input(0), 'token', { kind: 'lines', at: 0, bytes: feed })

  test('an input that is there at once takes no timer: of many small files, each one would', async () => {
    const clock = new HeldClock()
    const sleep = vi.spyOn(clock, 'sleep')
    const batcher = batcherOf({ clock, batchMs: 1000 })
    async function* bytes() {
      yield Buffer.from('{"a":1}\n')
    }
    for await (const _ of feedInto(batcher, bytes())) expect.fail('the batch is not full')
    expect(batcher.rest()?.docs).toBe(1)
    expect(sleep).not.toHaveBeenCalled()
  })

  test('a batch is sent when no more bytes come for so long', async () => {
    const clock = new HeldClock()
    const feed = new Feed()
    const batches = feedInto(batcherOf({ clock, batchMs: 1000 }), feed)
    const first = batches.next()
    await feed.give('{"a":1}\n{"a":2}\n')
    await feed.wanted()
    clock.advance(999)
    expect(clock.sleeping).toBe(1)
    clock.advance(1)
    expect((await first).value?.docs).toBe(2)
  })

  test('a timer that fires a moment before its time is no reason to wait for the next one', async () => {
    const clock = new HeldClock()
    const early = { now: () => clock.now() * 0.999, sleep: clock.sleep.bind(clock) }
    const feed = new Feed()
    const batches = feedInto(batcherOf({ clock: early, batchMs: 1000 }), feed)
    const first = batches.next()
    await feed.give('{"a":1}\n')
    await feed.wanted()
    clock.advance(1000)
    expect((await first).value?.docs).toBe(1)
  })

  test('a batch is sent on time although a few documents keep coming', async () => {
    const clock = new HeldClock()
    const feed = new Feed()
    const batches = feedInto(batcherOf({ clock, batchMs: 1000 }), feed)
    const first = batches.next()
    for (let document = 0; document < 3; document += 1) {
      await feed.give('{"a":1}\n')
      await feed.wanted()
      clock.advance(400)
    }
    await feed.give('{"a":1}\n')
    expect((await first).value?.docs).toBe(4)
  })

  test('a batch is sent on time although a long line trickles in behind it', async () => {
    const clock = new HeldClock()
    const feed = new Feed()
    const batches = feedInto(batcherOf({ clock, batchMs: 1000 }), feed)
    const first = batches.next()
    await feed.give('{"a":1}\n')
    for (let part = 0; part < 3; part += 1) {
      await feed.wanted()
      clock.advance(400)
      await feed.give('{"a"')
    }
    expect((await first).value?.docs).toBe(1)
  })

  test('waiting for memory does not make a batch late', async () => {
    const clock = new HeldClock()
    const slots = new SlotPool(1, 1000)
    const held = await slots.acquire()
    const feed = new Feed()
    const batches = feedInto(batcherOf({ clock, slots, batchBytes: 1000, batchMs: 1000 }), feed)
    const first = batches.next()
    await feed.give('{"a":1}\n')
    clock.advance(5000)
    slots.release(held)
    await feed.give('{"a":2}\n')
    await feed.end()
    expect(await first).toEqual({ done: true, value: undefined })
  })

  test('a caller that stops in the middle closes the input', async () => {
    const feed = new Feed()
    const batches = feedInto(batcherOf({ batchDocs: 1 }), feed)
    const first = batches.next()
    await feed.give('{"a":1}\n{"a":2}\n')
    ;(await first).value?.release()
    await batches.return(undefined)
    expect(feed.closed).toBe(true)
  })
})

describeBoth('memory', () => {
  test('never more batches than slots are alive, also when every line is refused', async () => {
    for (const line of ['{"a":1}\n', '[1]\n']) {
      const slots = new SlotPool(3, 1000)
      const batcher = batcherOf({ batchDocs: 5, batchBytes: 1000, slots })
      const lines = { kind: 'lines' as const, at: 0, bytes: cutAt(Buffer.from(line.repeat(60)), []) }
      const batches = batcher.frame(input(0), 'token', lines)
      const alive: Batch[] = []
      for (let batch = 0; batch < 3; batch += 1) alive.push((await batches.next()).value as Batch)
      let arrived = false
      const fourth = batches.next().then(step => {
        arrived = true
        return step
      })
      await new Promise(setImmediate)
      expect(arrived).toBe(false)
      alive[1]?.release()
      expect((await fourth).done).toBe(false)
    }
  })

  test('a released slot is used again, one that grew for a large document is not kept', async () => {
    const slots = new SlotPool(1, 100)
    const batcher = batcherOf({ batchBytes: 100, slots })
    const large = `{"large":"${'x'.repeat(500)}"}\n`
    const bytes = cutAt(Buffer.from(`{"a":1}\n${large}{"a":2}\n`.repeat(2)), [])
    const places: { memory: ArrayBufferLike; at: number; bytes: number }[] = []
    for await (const { bytes: body, release } of batcher.frame(input(0), 'token', { kind: 'lines', at: 0, bytes })) {
      places.push({ memory: body.buffer, at: body.byteOffset, bytes: body.length })
      release()
    }
    const [, firstLarge, small, secondLarge] = places
    expect(places.map(place => place.bytes > 100)).toEqual([false, true, false, true])
    expect(places.filter(({ memory, at }) => memory === small?.memory && at === small.at)).toHaveLength(2)
    expect(firstLarge?.memory).not.toBe(small?.memory)
    expect(secondLarge?.memory).not.toBe(firstLarge?.memory)
  })
})

describeBoth('a line longer than allowed', () => {
  class Taken implements LongLine {
    readonly parts: Buffer[] = []
    state: 'open' | 'ended' | 'abandoned' = 'open'
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

  interface Seen {
    readonly origin: Origin
    readonly line: Taken
  }

  function watched(): { seen: Seen[]; longLine: BatchOptions['longLine'] } {
    const seen: Seen[] = []
    return {
      seen,
      longLine: async (_, origin) => {
        const line = new Taken()
        seen.push({ origin, line })
        return line
      },
    }
  }

  const maxDocumentBytes = 40
  const long = `{"long":"${'x'.repeat(90)}"}`

  test('is handed on in pieces, and its neighbours keep their places', async () => {
    const bytes = Buffer.from(`{"a":1}\n${long}\n\n{"a":2}\n${long}`)
    for (let size = 1; size < maxDocumentBytes; size += 1) {
      const { seen, longLine } = watched()
      const places = everyPlace(bytes).filter(at => at % size === 0)
      const batches = await frameAll([{ bytes, places }], { maxDocumentBytes, longLine })
      const origins = batches.flatMap(batch => batch.origins)
      expect(origins.map(({ document, line, offset }) => [document, line, offset])).toEqual([
        [1, 1, 0],
        [3, 4, 8 + long.length + 2],
      ])
      expect(seen.map(({ line }) => [line.state, Buffer.concat(line.parts).toString().trimEnd()])).toEqual([
        ['ended', long],
        ['ended', long],
      ])
      expect(seen.map(({ origin }) => [origin.document, origin.line, origin.offset])).toEqual([
        [2, 2, 8],
        [4, 5, 8 + long.length + 2 + 8],
      ])
    }
  })

  test('is refused like any other line where it lies in one piece of the input', async () => {
    const bytes = Buffer.from(`${long}\n{"a":1}\n`)
    const [batch] = await frameAll([{ bytes }], { maxDocumentBytes })
    expect(batch?.refused.map(({ type, reason }) => [type, reason])).toEqual([
      [
        'DOCUMENT_TOO_LARGE',
        `the document has ${(long.length + 1).toLocaleString('en-US')} bytes, but the limit is ${maxDocumentBytes.toLocaleString('en-US')}`,
      ],
    ])
    expect(batch?.docs).toBe(1)
  })

  test('is taken back when the input breaks off, and when its place fails', async () => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield* cutAt(Buffer.from(long), [50])
      throw new Error('the disk failed')
    }
    const broken = watched()
    const options = { maxDocumentBytes, longLine: broken.longLine }
    const run = async (batcher: Batcher, bytes: AsyncIterable<Uint8Array>) => {
      for await (const batch of batcher.frame(input(0), 'token', { kind: 'lines', at: 0, bytes })) batch.release()
    }
    await expect(run(batcherOf(options), breaking())).rejects.toThrow('the disk failed')
    expect(broken.seen[0]?.line.state).toBe('abandoned')

    const failing = new Taken()
    failing.write = async () => await Promise.reject(new Error('the disk is full'))
    const full = { maxDocumentBytes, longLine: async () => failing }
    await expect(run(batcherOf(full), cutAt(Buffer.from(long), [50]))).rejects.toThrow('the disk is full')
    expect(failing.state).toBe('abandoned')
  })
})

describeBoth('how far an input has come', () => {
  const endsOf = async (text: string, options: Partial<BatchOptions> = {}, start: Partial<Lines> = {}) => {
    const batcher = batcherOf(options)
    const bytes = cutAt(
      Buffer.from(text),
      [7, 30, 50].filter(at => at < text.length),
    )
    const ends: unknown[] = []
    const note = (batch: Batch) => {
      ends.push(...batch.ends.map(({ mark: { kind: _, ...mark } }) => Object.values(mark)))
      batch.release()
    }
    const lines = { kind: 'lines' as const, at: 0, ...start, bytes }
    for await (const batch of batcher.frame(input(0), 'token', lines)) note(batch)
    const rest = batcher.rest()
    if (rest !== undefined) note(rest)
    return ends
  }

  test('is told with each batch: document, line and offset of what comes next', async () => {
    expect(await endsOf('{"a":1}\n\n[2]\n{"a":3}\n', { batchDocs: 1 })).toEqual([
      [2, 2, 8, 0],
      [4, 5, 21, 0],
    ])
    expect(await endsOf(' \n\n')).toEqual([[1, 3, 3, 0]])
    expect(await endsOf('')).toEqual([])
  })

  test('ends before a last line without a line end, which counts beside it', async () => {
    expect(await endsOf('{"a":1}\n{"a":2}')).toEqual([[2, 2, 8, 7]])
    expect(await endsOf('{"a":1}\n{"a"')).toEqual([[2, 2, 8, 4]])
    expect(await endsOf('{"a":1}\n  ')).toEqual([[2, 2, 8, 2]])
  })

  test('goes on from where reading began', async () => {
    expect(await endsOf('{"a":1}\n', {}, { at: 100, document: 11, line: 13 })).toEqual([[12, 14, 108, 0]])
  })

  test('covers a line that is longer than allowed, and in no batch', async () => {
    const longLine = async () => ({ write: async () => {}, end: async () => {}, abandon: async () => {} })
    const text = `{"a":1}\n{"long":"${'x'.repeat(50)}"}\n`
    expect(await endsOf(text, { maxDocumentBytes: 20, longLine })).toEqual([
      [2, 2, 8, 0],
      [3, 3, text.length, 0],
    ])
  })
})

describeBoth('an input that breaks off', () => {
  const framedOf = async (text: string) => {
    async function* breaking(): AsyncGenerator<Uint8Array> {
      yield* cutAt(Buffer.from(text), [5])
      throw new Error('truncated')
    }
    const batcher = batcherOf()
    const lines = { kind: 'lines' as const, at: 0, bytes: breaking() }
    await expect(batcher.frame(input(0), 'token', lines).next()).rejects.toThrow('truncated')
    const rest = batcher.rest()
    return rest === undefined ? undefined : copyOut(rest)
  }

  test('gives the lines that were whole, and a last one only if it is a whole object', async () => {
    const whole = await framedOf('{"a":1}\n[2]\n{"a":3}')
    expect(whole?.documents.map(String)).toEqual(['{"a":1}\n', '{"a":3}\n'])
    expect(whole?.refused).toHaveLength(1)
    const cut = await framedOf('{"a":1}\n{"a":')
    expect(cut?.documents.map(String)).toEqual(['{"a":1}\n'])
    expect(cut?.refused).toHaveLength(0)
    expect(await framedOf('[1,2')).toBeUndefined()
  })
})

describeBoth('ids and routing', () => {
  async function framedWith(
    actions: Partial<ActionOptions>,
    documents: readonly string[],
  ): Promise<Framed | undefined> {
    const [batch] = await frameAll([{ bytes: Buffer.from(documents.join('\n')) }], actions)
    return batch
  }

  test('of a run hold the token and the number of the document, refused ones counted', async () => {
    const batch = await framedWith({ operation: 'index' }, ['{"a":1}', '', '[]', '{"a":2}'])
    expect(batch?.actions).toEqual(['{"index":{"_id":"token0-1"}}\n', '{"index":{"_id":"token0-3"}}\n'])
  })

  test('of the cluster are left to it', async () => {
    const batch = await framedWith({ ids: { from: 'cluster' } }, ['{"a":1}'])
    expect(batch?.actions).toEqual(['{"create":{}}\n'])
  })

  test('of a field are its string or the digits of its number', async () => {
    const ids = ['"a"', '"\\u00e9\\n\\""', '9007199254740993123', '1.0', '-1e2', `"${'x'.repeat(512)}"`, '" "']
    const batch = await framedWith(
      { ids: { from: 'field', field: 'id' } },
      ids.map(id => `{"n":{"id":1},"id":${id}}`),
    )
    const expected = ['a', 'é\n"', '9007199254740993123', '1.0', '-1e2', 'x'.repeat(512), ' ']
    const actions = batch?.actions.map(action => JSON.parse(action) as unknown)
    expect(actions).toEqual(expected.map(_id => ({ create: { _id } })))
  })

  test('of a field that cannot be one are refused, each with its reason', async () => {
    const values = ['""', 'null', 'true', '{"a":1}', '["a"]', `"${'é'.repeat(257)}"`, '1'.repeat(513)]
    const documents = [...values.map(value => `{"id":${value}}`), '{"ID":1,"n":{"id":1}}']
    const batch = await framedWith({ ids: { from: 'field', field: 'id' } }, documents)
    expect(batch?.docs).toBe(0)
    expect(batch?.refused.map(({ type, reason }) => [type, reason])).toEqual(
      [
        'is empty',
        ...Array.from({ length: 4 }, () => 'is neither a string nor a number'),
        ...Array.from({ length: 2 }, () => 'has more than 512 bytes'),
        'is missing',
      ].map(problem => ['DOCUMENT_ID_INVALID', `the field id ${problem}`]),
    )
    expect(batch?.refused.map(({ document }) => String(document))).toEqual(documents)
  })

  test('routing stands beside the id, of whichever kind', async () => {
    const documents = ['{"tenant":"a\\"b","id":7}', '{"tenant":12345678901234567890,"id":8}', '{"id":9}']
    const routed = async (ids: ActionOptions['ids']) => await framedWith({ ids, routingField: 'tenant' }, documents)
    expect((await routed({ from: 'run' }))?.actions).toEqual([
      '{"create":{"_id":"token0-1","routing":"a\\"b"}}\n',
      '{"create":{"_id":"token0-2","routing":"12345678901234567890"}}\n',
    ])
    expect((await routed({ from: 'field', field: 'id' }))?.actions[0]).toBe(
      '{"create":{"_id":"7","routing":"a\\"b"}}\n',
    )
    const byCluster = await routed({ from: 'cluster' })
    expect(byCluster?.actions[0]).toBe('{"create":{"routing":"a\\"b"}}\n')
    expect(byCluster?.refused.map(({ origin }) => origin.document)).toEqual([3])
  })
})
