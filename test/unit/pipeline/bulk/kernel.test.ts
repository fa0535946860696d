import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../support/rounds.js'
import { type ActionOptions, actionTemplate } from '../../../../src/pipeline/bulk/action-line.js'
import { Batcher } from '../../../../src/pipeline/bulk/batcher.js'
import { openKernel } from '../../../../src/pipeline/bulk/kernel/kernel.js'
import { kernelMemory } from '../../../../src/pipeline/bulk/kernel/memory.js'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'
import type { Batch, Lines, ReadMemory } from '../../../../src/base/flow.js'
import { LONGEST_TEXT_BYTES, ROUTING_FIELD, TEXT_START, ZEROS } from '../../../../src/base/json/strict/layout.js'
import { HeldClock } from '../../../support/load/held-clock.js'
import { mutated, randomLine } from '../../../support/random/random-lines.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

interface Setting {
  readonly actions: ActionOptions
  readonly batchBytes: number
  readonly batchDocs: number
  readonly maxDocumentBytes: number
}

const settingOf = (options: Partial<Setting> = {}): Setting => ({
  actions: { operation: 'create', ids: { from: 'run' } },
  batchBytes: 500,
  batchDocs: Infinity,
  maxDocumentBytes: 100_000,
  ...options,
})

interface Given {
  readonly bytes: Buffer
  readonly places: readonly number[]
  readonly kind: Lines['kind']
  /** Offset of the first byte. Default 0. */
  readonly at?: number
}

/** All that a batch says, copied out of its memory. */
function copyOut({ bytes, docs, blank, spans, taken, refused, operation, origins, release }: Batch): object {
  const originOf = origins()
  // The place of one line alone is the place that it has among all.
  const places = Array.from({ length: refused.length }, (_, number) => refused.originOf?.(number))
  expect(places).toEqual(Array.from(refused, ({ origin }) => origin))
  const copy = {
    bytes: bytes.toString('latin1'),
    docs,
    blank,
    spans,
    taken,
    refused: [...refused].map(line => ({ ...line, document: Buffer.from(line.document).toString('latin1') })),
    operation,
    origins: Array.from({ length: docs }, (_, ordinal) => originOf(ordinal)),
  }
  bytes.fill('}')
  release()
  return copy
}

/** By JavaScript alone, by the kernel from a copy, or by the kernel from where the bytes were read to. */
type Way = 'plain' | 'copied' | 'in place'

async function frameAll(given: readonly Given[], { actions, ...limits }: Setting, way: Way): Promise<object[]> {
  const slots = new SlotPool(2, limits.batchBytes)
  const batcher = new Batcher({
    ...actions,
    ...limits,
    batchMs: 1000,
    slots,
    clock: new HeldClock(),
    plain: way === 'plain',
    longLine: async () => {
      throw new Error('no line is longer than allowed')
    },
  })
  const framed: object[] = []
  const into = way === 'in place' ? batcher.reading : undefined
  if (way === 'in place' && into === undefined) throw new Error('no kernel on this machine')
  for (const [id, { bytes, places, kind, at = 0 }] of given.entries()) {
    const lines = { kind, at, bytes: cutAt(bytes, places, into) }
    for await (const batch of batcher.frame({ id, name: `input-${id}` }, `token${id}`, lines))
      framed.push(copyOut(batch))
  }
  const rest = batcher.rest()
  if (rest !== undefined) framed.push(copyOut(rest))
  return framed
}

/** Pieces that end at the given places; each is overwritten when the next one is asked for, as a source may do. */
async function* cutAt(bytes: Buffer, places: readonly number[], into?: ReadMemory): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const [count, to] of [...places, bytes.length].entries()) {
    const length = to - from
    const memory = into?.buffers[count % 2 === 0 ? 0 : 1] ?? Buffer.alloc(length)
    // Behind what was read stands what was read there before.
    memory.fill('{"\\', length, Math.min(memory.length, length + 200))
    const piece = memory.subarray(0, length)
    bytes.copy(piece, 0, from, to)
    yield piece
    piece.fill('"')
    from = to
  }
}

const everyPlace = (bytes: Buffer) => Array.from({ length: bytes.length - 1 }, (_, at) => at + 1)

function randomInput(random: Seeded): Given {
  const parts = Array.from({ length: random.below(40) }, () => {
    const line = Buffer.from(randomLine(random))
    return Buffer.concat([
      random.chance(0.2) ? mutated(line, random) : line,
      Buffer.from(random.pick(['\n', '\n', '\r\n', '\n\n'])),
    ])
  })
  const all = Buffer.concat(parts)
  const bytes = random.chance(0.3) ? all.subarray(0, random.below(all.length + 1)) : all
  const places = bytes.length < 2 ? [] : everyPlace(bytes).filter(() => random.chance(0.003))
  // Offsets get another digit on the way.
  const at = random.pick([0, 3, 985, 99_999_900, 2 ** 53 - 100_000])
  return { bytes, places, kind: random.pick(['lines', 'lines', 'elements', 'range']), at }
}

const allActions: readonly ActionOptions[] = [
  { operation: 'create', ids: { from: 'run' } },
  { operation: 'create', ids: { from: 'run', by: 'offset' } },
  { operation: 'index', ids: { from: 'cluster' } },
  { operation: 'index', ids: { from: 'field', field: 'id' } },
  { operation: 'create', ids: { from: 'field', field: 'é' } },
  { operation: 'create', ids: { from: 'run' }, routingField: 'tenant' },
  { operation: 'create', ids: { from: 'cluster' }, routingField: 'id' },
  { operation: 'create', ids: { from: 'field', field: 'id' }, routingField: 'tenant' },
  { operation: 'upsert', ids: { from: 'field', field: 'id' } },
  { operation: 'delete', ids: { from: 'field', field: 'id' } },
  { operation: 'index', ids: { from: 'field', field: 'id,tenant' } },
  { operation: 'update', ids: { from: 'field', field: 'tenant.id,id', separator: '-' }, routingField: 'id' },
  { operation: 'create', ids: { from: 'hash', field: 'id' }, routingField: 'tenant.tenant.id' },
  { operation: 'delete', ids: { from: 'hash', field: 'id,tenant.id' } },
  { operation: 'create', ids: { from: 'run' }, routingField: 'tenant.id' },
  { operation: 'index', ids: { from: 'run', by: 'offset' }, routingField: 'tenant' },
  { operation: 'create', ids: { from: 'run', by: 'offset' }, routingField: 'tenant.id' },
  // These the kernel cannot look for.
  { operation: 'create', ids: { from: 'field', field: 'id,id,id,id,id,id,id,id,id' } },
  { operation: 'create', ids: { from: 'field', field: `id,${'x'.repeat(300)}` } },
  { operation: 'create', ids: { from: 'field', field: 'quoted "id"' } },
  { operation: 'create', ids: { from: 'field', field: '\ud800' } },
  { operation: 'create', ids: { from: 'field', field: 'x'.repeat(600) } },
]

describe('the kernel and plain JavaScript', () => {
  test('make the same batches of random inputs, whatever the ids and the limits', async () => {
    for (let seed = 1; seed <= rounds(12, 1500); seed += 1) {
      const random = seeded(seed)
      const given = Array.from({ length: 1 + random.below(2) }, () => randomInput(random))
      const setting = settingOf({
        actions: random.pick(allActions),
        batchBytes: random.pick([60, 200, 1000, 50_000]),
        batchDocs: random.pick([1, 4, Infinity, Infinity]),
        // No shorter than any line: what a longer one is depends on where the input is cut.
        maxDocumentBytes: 5000,
      })
      const plain = await frameAll(given, setting, 'plain')
      expect(await frameAll(given, setting, 'copied'), `seed ${seed}`).toEqual(plain)
      expect(await frameAll(given, setting, 'in place'), `seed ${seed}`).toEqual(plain)
    }
  })

  test('make the same batches of a tricky input, wherever it is cut', { tags: 'long' }, async () => {
    const lines = [
      '{"id":"a","tenant":1}',
      ' {"id" : "é😀" ,"tenant":"\\u00e9"}\t\r',
      '',
      ' \t\r',
      '{"tenant":"b","n":{"id":1},"id":"\\"","id":2}',
      '{"i\\u0064":3,"tenant":4}',
      '{"id":true,"tenant":"x"}',
      '[1]',
      '{"id":5,"tenant":5} 6',
      `{"id":"${'x'.repeat(40)}","tenant":${'['.repeat(66)}${']'.repeat(66)}}`,
      `{"deep":${'['.repeat(64)}${']'.repeat(64)},"id":7,"tenant":7}`,
      `{"id":8,"tenant":8,"long":"${'y'.repeat(300)}"}`,
      '{"id":9,"tenant":9}',
    ].map(line => Buffer.from(`${line}\n`))
    const notUtf8 = Buffer.from([0x7b, 0x22, 0xc3, 0x22, 0x3a, 0x31, 0x7d, 0x0a])
    const bytes = Buffer.concat([...lines, notUtf8, Buffer.from('{"id":10,"tenant":10}')])
    // In the ordinary run each place is tried with a few of the actions.
    const step = rounds(160, 1)
    for (const [first, actions] of allActions.slice(0, 9).entries()) {
      const setting = settingOf({ actions, batchBytes: 300, batchDocs: 4 })
      const whole = await frameAll([{ bytes, places: [], kind: 'lines' }], setting, 'plain')
      const some = everyPlace(bytes).filter(place => place % step === first % step)
      for (const places of [...some.map(place => [place]), everyPlace(bytes)]) {
        expect(await frameAll([{ bytes, places, kind: 'lines' }], setting, 'copied')).toEqual(whole)
        expect(await frameAll([{ bytes, places, kind: 'lines' }], setting, 'in place')).toEqual(whole)
      }
    }
  })
})

describe('the kernel', () => {
  const limits = { bodyBytes: 1000, documents: 1000, lineBytes: 1000 }

  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

  function kernelWith(actions: Partial<ActionOptions> = {}, slots = 2, slotBytes = 1000) {
    const memory = kernelMemory(slots, slotBytes)
    const kernel = openKernel(memory)
    if (kernel === undefined || memory === undefined) throw new Error('no kernel on this machine')
    kernel.prepare(actionTemplate({ operation: 'create', ids: { from: 'cluster' }, ...actions }, 'token'))
    return { kernel, slots: memory.slots }
  }

  test('frames documents itself, and says what it did', () => {
    const { kernel, slots } = kernelWith({ ids: { from: 'field', field: 'id' }, routingField: 'r' })
    const lines = Buffer.from(' \n\n{"id":"a","r":1.50}\r\n{"r":"b","id":-0}\n\n{"id":1,"r":2}\n')
    kernel.load(lines)
    const [slot = Buffer.alloc(0)] = slots
    expect(kernel.frame(0, lines.length, slot, 10, limits, 1)).toEqual({
      blankLines: 2,
      blankBytes: 3,
      documents: 2,
      lineBytes: 39,
      bodyBytes: 117,
      stop: 'done',
      namePlace: 0,
      isAscii: true,
    })
    expect(slot.toString('utf8', 10, 127)).toBe(
      '{"create":{"_id":"a","routing":"1.50"}}\n{"id":"a","r":1.50}\r\n' +
        '{"create":{"_id":"-0","routing":"b"}}\n{"r":"b","id":-0}\n',
    )
  })

  test('says if a byte is not ASCII, wherever it is', () => {
    const { kernel, slots } = kernelWith({}, 1, 10_000)
    const [slot = Buffer.alloc(0)] = slots
    const large = { ...limits, bodyBytes: 10_000, lineBytes: 10_000 }
    // Longer than a piece that gets its marks at once, and one block more.
    const line = Buffer.from(`{"a":"${'x'.repeat(4300)}"}\n`)
    const isAscii = () => {
      kernel.load(line)
      const framed = kernel.frame(0, line.length, slot, 0, large, 1)
      expect(framed.documents).toBe(1)
      return framed.isAscii
    }
    expect(isAscii()).toBe(true)
    for (let at = 6; at < 4306; at += 1) {
      line[at] = 0xc3
      if (isAscii()) expect.fail(`a byte at ${at}`)
      line[at] = 0x78
    }
    expect(isAscii()).toBe(true)
  })

  test('keeps two zero bytes where the check of JSON looks if there are no marks', () => {
    const memory = kernelMemory(1, 1000)
    if (memory === undefined) throw new Error('no kernel on this machine')
    const longest = 'x'.repeat(LONGEST_TEXT_BYTES)
    const actions = { operation: 'create', ids: { from: 'field', field: longest }, routingField: longest } as const
    openKernel(memory)?.prepare(actionTemplate(actions, 'token'))
    const bytes = Buffer.from(memory.memory.buffer)
    expect(bytes.toString('latin1', ROUTING_FIELD, ROUTING_FIELD + TEXT_START + LONGEST_TEXT_BYTES)).toContain(longest)
    expect(bytes.readUInt16LE(ZEROS)).toBe(0)
  })

  test('makes ids of several fields, wherever they lie, and their hashes', () => {
    const lines = Buffer.from(
      '{"n":[{"id":0}],"a":{"b":[{"id":1},"]"],"x":{}},"a":{"b.id" : 9007199254740993123 },"id":"é"}\n' +
        '{"a.b":{"id":-1.50},"id":"|"}\n',
    )
    const framed = (from: 'field' | 'hash') => {
      const { kernel, slots } = kernelWith({ ids: { from, field: 'a.b.id,id' }, routingField: 'a.b.id' })
      const [body = Buffer.alloc(0)] = slots
      kernel.load(lines)
      const { bodyBytes, stop } = kernel.frame(0, lines.length, body, 0, limits, 1)
      return { stop, action: body.toString('utf8', 0, bodyBytes).split('\n')[0] }
    }
    expect(framed('field')).toEqual({
      stop: 'line',
      action: '{"create":{"_id":"9007199254740993123|é","routing":"9007199254740993123"}}',
    })
    expect(framed('hash')).toEqual({
      stop: 'line',
      action: `{"create":{"_id":"${sha256('9007199254740993123|é')}","routing":"9007199254740993123"}}`,
    })
  })

  test('hashes text of every length, as other programs do', () => {
    const { kernel, slots } = kernelWith({ ids: { from: 'hash', field: 'a' } }, 2, 10_000)
    const [slot = Buffer.alloc(0)] = slots
    for (let length = 1; length <= 1030; length += length < 200 ? 1 : 7) {
      // Half of the last character would be no UTF-8.
      const text = Buffer.from('abcdefghijklmnopqrstuvwxyz é😀'.repeat(40).slice(0, length)).toString()
      const line = Buffer.from(`{"a":"${text}"}\n`)
      kernel.load(line)
      const { bodyBytes, documents } = kernel.frame(
        0,
        line.length,
        slot,
        0,
        { ...limits, bodyBytes: 10_000, lineBytes: 5000 },
        1,
      )
      const isShort = Buffer.byteLength(text) <= 1024
      expect(documents).toBe(isShort ? 1 : 0)
      const action = slot.toString('utf8', 0, bodyBytes).split('\n')[0]
      if (isShort) expect(action).toBe(`{"create":{"_id":"${sha256(text)}"}}`)
    }
  })

  test('puts text around documents, with the line end behind it', () => {
    const { kernel, slots } = kernelWith({ operation: 'update' })
    const lines = Buffer.from(' {"a":1}\t\r\n{}\n')
    kernel.load(lines)
    const [slot = Buffer.alloc(0)] = slots
    const { bodyBytes, lineBytes } = kernel.frame(0, lines.length, slot, 0, limits, 1)
    expect(lineBytes).toBe(lines.length)
    expect(slot.toString('utf8', 0, bodyBytes)).toBe(
      '{"update":{"retry_on_conflict":3,}}\n{"doc": {"a":1}}\t\r\n{"update":{"retry_on_conflict":3,}}\n{"doc":{}}\n',
    )
  })

  test('counts documents up through every number of digits', () => {
    const { kernel, slots } = kernelWith({ ids: { from: 'run' } }, 1, 100_000)
    const lines = Buffer.from('{}\n'.repeat(1200))
    kernel.load(lines)
    const [slot = Buffer.alloc(0)] = slots
    for (const first of [1, 8, 95, 998, 999_999_990, Number.MAX_SAFE_INTEGER - 1200]) {
      const most = { ...limits, bodyBytes: 100_000, documents: 1200 }
      // Leaves nines where the shorter numbers get their first digits.
      kernel.frame(0, lines.length, slot, 0, { ...most, documents: 1 }, 999_999_999_999_998)
      const { bodyBytes } = kernel.frame(0, lines.length, slot, 0, most, first)
      const numbers = [...slot.toString('utf8', 0, bodyBytes).matchAll(/token-(\d+)"/g)].map(([, digits]) =>
        Number(digits),
      )
      expect(numbers).toEqual(Array.from({ length: 1200 }, (_, at) => first + at))
    }
  })

  test('adds the bytes of lines to offsets, through every number of digits', () => {
    const { kernel, slots } = kernelWith({ ids: { from: 'run', by: 'offset' } }, 1, 1_000_000)
    const [slot = Buffer.alloc(0)] = slots
    const text = Array.from({ length: 300 }, (_, at) => `{"a":"${'x'.repeat((at * at) % 1999)}"}\n`).join('')
    const lines = Buffer.from(` \n\r\n${text}`)
    kernel.load(lines)
    const starts: number[] = []
    for (let at = 4; at < lines.length; at = lines.indexOf('\n', at) + 1) starts.push(at)
    for (const first of [0, 5, 95, 99_990, 999_999_990, Number.MAX_SAFE_INTEGER - lines.length]) {
      const most = { bodyBytes: 1_000_000, documents: 1200, lineBytes: 5000 }
      // Leaves nines where the shorter numbers get their first digits.
      kernel.frame(4, lines.length, slot, 0, { ...most, documents: 1 }, 999_999_999_999_998)
      const { bodyBytes, stop } = kernel.frame(0, lines.length, slot, 0, most, first)
      expect(stop).toBe('done')
      const offsets = [...slot.toString('utf8', 0, bodyBytes).matchAll(/token-(\d+)"/g)].map(([, digits]) => digits)
      expect(offsets).toEqual(starts.map(at => String(first + at)))
    }
  })

  test('keeps track of 64 levels, and leaves what is deeper', () => {
    const { kernel, slots } = kernelWith()
    const [slot = Buffer.alloc(0)] = slots
    const framed = (line: string) => {
      kernel.load(Buffer.from(`${line}\n`))
      return kernel.frame(0, line.length + 1, slot, 0, limits, 1).documents
    }
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (levels: number, end: string) =>
        `{"a":${open.repeat(levels - 1)}1${close.repeat(levels - 1)}${end}`
      for (const levels of [1, 2, 63, 64]) expect(framed(nested(levels, '}'))).toBe(1)
      for (const levels of [65, 66, 128, 129, 200]) expect(framed(nested(levels, '}'))).toBe(0)
      for (let levels = 1; levels <= 130; levels += 1) expect(framed(nested(levels, ']'))).toBe(0)
    }
  })

  test('fills a body to its last byte and not further, in lines as in documents', () => {
    const { kernel, slots } = kernelWith()
    const line = '{"a":1}\n'
    const pair = `{"create":{}}\n${line}`
    const lines = Buffer.from(line.repeat(10))
    kernel.load(lines)
    const [slot = Buffer.alloc(0)] = slots
    const framed = (bodyBytes: number, more = {}) => {
      const { documents, stop } = kernel.frame(0, lines.length, slot, 0, { ...limits, bodyBytes, ...more }, 1)
      return [documents, stop]
    }
    expect(framed(pair.length * 3)).toEqual([3, 'full'])
    expect(framed(pair.length * 3 - 1)).toEqual([2, 'full'])
    expect(framed(pair.length * 10)).toEqual([10, 'done'])
    expect(framed(1000, { documents: 4 })).toEqual([4, 'done'])
    expect(framed(1000, { lineBytes: line.length })).toEqual([10, 'done'])
    expect(framed(1000, { lineBytes: line.length - 1 })).toEqual([0, 'line'])
  })

  test('leaves every byte of its neighbours as it was', { tags: 'long' }, () => {
    for (let bytes = 20; bytes <= 120; bytes += 1) {
      const { kernel, slots } = kernelWith({ ids: { from: 'run' } }, 3, bytes)
      const [before, slot, after] = slots as [Buffer, Buffer, Buffer]
      const room = { ...limits, bodyBytes: bytes }
      for (const neighbour of [before, after]) neighbour.fill('#')
      for (let length = 0; length <= 90; length += 1) {
        const line = Buffer.from(`{"a":"${'x'.repeat(length)}"}\n`)
        kernel.load(line)
        const { bodyBytes } = kernel.frame(0, line.length, slot, 0, room, 1)
        expect(bodyBytes).toBeLessThanOrEqual(bytes)
      }
      for (const neighbour of [before, after]) expect(neighbour.equals(Buffer.alloc(bytes, '#'))).toBe(true)
    }
  })

  test('takes a line that is as long as a body, in one load', () => {
    const { kernel } = kernelWith({}, 1, 3_000_000)
    const long = Buffer.from(`{"a":"${'x'.repeat(2_999_990)}"}\n`)
    expect(long.length).toBeLessThanOrEqual(3_000_000)
    expect(kernel.reach(Buffer.concat([long, long]), 0)).toBe(long.length)
    expect(kernel.reach(Buffer.concat([long, long]), 1)).toBe(long.length)
    const tooLong = Buffer.from(`{"a":"${'x'.repeat(3_000_000)}"}\n`)
    expect(kernel.reach(Buffer.concat([tooLong, long]), 0)).toBe(0)
  })
})
