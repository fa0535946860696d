import { Readable, Transform } from 'node:stream'
import { ReadableStream as WebStream } from 'node:stream/web'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { failure, SluiceError } from '../../../../src/base/failure/failure.js'
import { type IngestSource, findSources } from '../../../../src/pipeline/source/open-sources.js'

const never = new AbortController().signal

async function open(source: IngestSource, signal = never): Promise<AsyncIterator<Uint8Array>> {
  const [found] = await findSources(source, {})
  if (found === undefined) throw new Error('no source')
  return found.open(signal)[Symbol.asyncIterator]()
}

async function bytes(source: IngestSource): Promise<Buffer> {
  const iterator = await open(source)
  const parts: Buffer[] = []
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
    parts.push(Buffer.from(next.value))
  return Buffer.concat(parts)
}

const text = async (source: IngestSource) => (await bytes(source)).toString()
const web = (chunks: readonly unknown[]) => WebStream.from(chunks as unknown[])
const turn = () => new Promise(setImmediate)
const textOf = (step: IteratorResult<Uint8Array>) =>
  step.done === true ? undefined : Buffer.from(step.value).toString()

describe('an iterable of documents', () => {
  test('makes one line of each object, string and Buffer', async () => {
    const items = [
      { a: 1 },
      '{"id":9007199254740993123}',
      Buffer.from('{"é":1.0}'),
      new Uint8Array([0x7b, 0x7d]),
      { b: [null, 'ü\n'] },
    ]
    const expected = '{"a":1}\n{"id":9007199254740993123}\n{"é":1.0}\n{}\n{"b":[null,"ü\\n"]}\n'
    async function* later() {
      for (const item of items) {
        await turn()
        yield item
      }
    }
    const kinds: [string, IngestSource][] = [
      ['array', items],
      ['set', new Set(items)],
      ['generator', items.values()],
      ['async generator', later()],
      ['promises', items.map(item => Promise.resolve(item))],
      ['object stream', Readable.from(items)],
      ['web stream', web(items)],
      [
        'object transform',
        Readable.from(items).pipe(new Transform({ objectMode: true, transform: (item, _, done) => done(null, item) })),
      ],
    ]
    for (const [kind, source] of kinds) expect([kind, await text(source)]).toEqual([kind, expected])
  })

  test('is one source of that name; an array of strings is paths, any other iterable of strings is documents', async () => {
    const [source] = await findSources([{ a: 1 }], {})
    expect(source).toMatchObject({ id: 0, name: '(iterable)' })
    expect(await text(new Set(['{"a":1}']))).toBe('{"a":1}\n')
    await expect(findSources(['{"a":1}'], {})).rejects.toMatchObject({ code: 'INPUT_NOT_FOUND' })
    expect(await text([])).toBe('')
  })

  test('turns raw line ends inside an item into spaces, and leaves its other bytes alone', async () => {
    const items = ['{\r\n  "a": 1\n}\n', Buffer.from([0x7b, 0x0a, 0xff, 0x0d, 0x00, 0x7d]), '']
    const expected = Buffer.concat([
      Buffer.from('{    "a": 1 } \n'),
      Buffer.from([0x7b, 0x20, 0xff, 0x20, 0x00, 0x7d, 0x0a, 0x0a]),
    ])
    expect(await bytes(items.values())).toEqual(expected)
    expect(items[1]).toEqual(Buffer.from([0x7b, 0x0a, 0xff, 0x0d, 0x00, 0x7d]))
  })

  test('keeps half surrogates, which UTF-8 cannot hold, as escapes of the same value', async () => {
    const lines =
      (await text([{ a: '\ud800' }, { a: '😀' }].values())) + (await text(new Set(['{"a":"\ud800x😀\udc00"}'])))
    expect(lines).toBe('{"a":"\\ud800"}\n{"a":"😀"}\n{"a":"\\ud800x😀\\udc00"}\n')
  })

  test('an item that cannot be serialised is a line of its own that is no JSON', async () => {
    const circular: Record<string, unknown> = { name: 'x' }
    circular.self = circular
    const disguised: unknown = Object.create({
      toJSON() {
        throw new Error('no')
      },
    })
    const unshowable = new Proxy(
      { toJSON: () => undefined },
      {
        getPrototypeOf() {
          throw new Error('no')
        },
      },
    )
    const items = [
      undefined,
      { a: 1n },
      circular,
      Symbol('s'),
      () => 1,
      5n,
      disguised,
      new Error('with\na stack'),
      new Map([['a', 1]]),
      unshowable,
    ]
    const lines = (await text([{ first: true }, ...items, { last: true }])).split('\n')
    expect(lines.length).toBe(items.length + 3)
    expect(lines[0]).toBe('{"first":true}')
    expect(lines.at(-2)).toBe('{"last":true}')
    expect(lines.slice(1, 5)).toEqual([
      'not JSON: undefined',
      'not JSON: { a: 1n }',
      "not JSON: <ref *1> { name: 'x', self: [Circular *1] }",
      'not JSON: Symbol(s)',
    ])
    for (const index of items.keys()) expect(() => JSON.parse(lines[index + 1] ?? '')).toThrow(SyntaxError)
  })

  test(
    'joins small items into chunks of a reasonable size, and passes a large one on whole',
    { tags: 'long' },
    async () => {
      const small = Array.from({ length: 100_000 }, (_, id) => ({ id }))
      async function* quick() {
        yield* small
      }
      const expected = small.map(item => `${JSON.stringify(item)}\n`).join('')
      for (const source of [small, quick(), Readable.from(small)]) {
        const iterator = await open(source)
        const parts: string[] = []
        for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
          parts.push(textOf(next) ?? '')
        expect(parts.join('') === expected).toBe(true)
        expect(parts.length).toBeLessThan(expected.length / (64 << 10) + 1)
        for (const part of parts) expect(part.length).toBeLessThan(1 << 20)
      }
      const large = { text: 'x'.repeat(3 << 20) }
      expect((await text([large, { a: 1 }])) === `${JSON.stringify(large)}\n{"a":1}\n`).toBe(true)
    },
  )

  test('sends on what is there when the iterable pauses', async () => {
    let release = () => {}
    async function* slow() {
      yield { a: 1 }
      yield { b: 2 }
      await new Promise<void>(resolve => (release = resolve))
      yield { c: 3 }
    }
    const iterator = await open(slow())
    expect(textOf(await iterator.next())).toBe('{"a":1}\n{"b":2}\n')
    const next = iterator.next()
    await turn()
    release()
    expect(textOf(await next)).toBe('{"c":3}\n')
    expect((await iterator.next()).done).toBe(true)
  })

  test('asks for no more than the consumer takes', async () => {
    let asked = 0
    function* endless() {
      for (;;) yield { id: asked++ }
    }
    const iterator = await open(endless())
    await iterator.next()
    const first = asked
    await turn()
    await turn()
    expect(asked).toBe(first)
    await iterator.return?.()
  })

  test('one that throws is told after the items before it', async () => {
    const cause = new Error('the queue\nis gone')
    function* throws() {
      yield { a: 1 }
      throw cause
    }
    async function* rejects() {
      yield { a: 1 }
      await turn()
      throw cause
    }
    function* promises() {
      yield Promise.resolve({ a: 1 })
      yield Promise.reject(cause)
    }
    const sources = [throws(), rejects(), Readable.from(rejects()), promises()]
    for (const source of sources) {
      const iterator = await open(source)
      expect(textOf(await iterator.next())).toBe('{"a":1}\n')
      const error: unknown = await iterator.next().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({
        code: 'INPUT_UNREADABLE',
        message: 'cannot read (iterable): the queue is gone',
        cause,
      })
    }
  })

  test("passes Sluice's own failures through, with the error that was thrown as their cause", async () => {
    const own = new SluiceError(failure('INPUT_NOT_FOUND', { input: 'table' }))
    async function* throws() {
      if (own.message !== '') throw own
      yield {}
    }
    await expect(text(throws())).rejects.toMatchObject({ failure: own.failure, cause: own })
  })

  test('closes the iterable when the consumer stops early', async () => {
    let closed = 0
    async function* ready() {
      try {
        for (;;) yield { a: 'x'.repeat(200 << 10) }
      } finally {
        closed++
      }
    }
    const iterator = await open(ready())
    await iterator.next()
    await iterator.return?.()
    expect(closed).toBe(1)
  })

  test('waits for a busy generator to close, and cancels a stream that waits for an item', async () => {
    const reason = new Error('enough')
    const seen: string[] = []
    async function* busy() {
      try {
        yield { a: 1 }
        for (let turns = 0; turns < 20; turns++) await turn()
        yield { b: 2 }
      } finally {
        seen.push('closed')
      }
    }
    const node = new Readable({ objectMode: true, read() {}, destroy: (_, done) => (seen.push('closed'), done(null)) })
    node.push({ a: 1 })
    const silent = new WebStream({ start: at => at.enqueue({ a: 1 }), cancel: () => void seen.push('closed') })
    for (const source of [busy(), node, silent]) {
      const stop = new AbortController()
      const iterator = await open(source, stop.signal)
      await iterator.next()
      const waiting = iterator.next()
      await turn()
      stop.abort(reason)
      await expect(waiting).rejects.toBe(reason)
      expect(seen.splice(0)).toEqual(['closed'])
    }
  })

  test.each(['never settles', 'fails'])('an iterable whose end %s does not hold up the load', async how => {
    const end = async () => (how === 'fails' ? Promise.reject(new Error('no')) : await new Promise<never>(() => {}))
    const iterable = {
      [Symbol.asyncIterator]: () => ({ next: async () => ({ value: large, done: false }), return: end }),
    }
    const large = 'x'.repeat(200 << 10)
    const iterator = await open(iterable as AsyncIterable<unknown>)
    await iterator.next()
    expect(await iterator.return?.()).toEqual({ value: undefined, done: true })
  })

  test('an item that was taken before the signal came is still there', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    let taken = 0
    function* items() {
      for (;;) {
        taken += 1
        if (taken === 300) stop.abort(reason)
        yield { taken }
      }
    }
    const iterator = await open(items(), stop.signal)
    const lines =
      textOf(await iterator.next())
        ?.trimEnd()
        .split('\n') ?? []
    expect([lines.length, lines.at(-1)]).toEqual([taken, `{"taken":${taken}}`])
    await expect(iterator.next()).rejects.toBe(reason)
  })

  test('the signal ends the wait for an item', async () => {
    const stop = new AbortController()
    const reason = new Error('enough')
    async function* silent() {
      yield { a: 1 }
      await new Promise(() => {})
    }
    const iterator = await open(silent(), stop.signal)
    await iterator.next()
    const waiting = iterator.next()
    await turn()
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect((await open([{ a: 1 }], stop.signal)).next()).rejects.toBe(reason)
  })
})

describe('bytes', () => {
  const plain = '{"a":1}\n{"b":2}'
  test('come from byte streams, web streams, Buffers and typed arrays, gzip or not', async () => {
    for (const data of [Buffer.from(plain), gzipSync(plain)]) {
      const copy = new Uint8Array(data).buffer
      const sources: [string, IngestSource][] = [
        ['stream', Readable.from([data.subarray(0, 3), data.subarray(3)], { objectMode: false })],
        ['web stream', new Blob([copy]).stream()],
        ['web stream of chunks', web([data.subarray(0, 3), data.subarray(3)])],
        ['Buffer', data],
        ['Uint8Array', new Uint8Array(copy)],
        ['DataView', new DataView(copy) as unknown as Uint8Array],
        ['ArrayBuffer', copy as unknown as Uint8Array],
      ]
      for (const [kind, source] of sources) expect([kind, await text(source)]).toEqual([kind, plain])
    }
  })

  test('of a web stream of strings are its text', async () => {
    expect(await text(web(['{"a":', '1}\n{"b":2}']))).toBe(plain)
  })

  test('an error of a web stream comes after what was read, also if it is the first', async () => {
    const cause = new Error('reset by peer')
    for (const begin of [[], [Buffer.from('{"a":1}\n')], [{ a: 1 }]]) {
      const chunks: unknown[] = [...begin]
      const pull = (at: { enqueue(chunk: unknown): void; error(why: unknown): void }) =>
        chunks.length > 0 ? at.enqueue(chunks.shift()) : at.error(cause)
      const iterator = await open(new WebStream({ pull }, { highWaterMark: 0 }))
      if (begin.length > 0) expect(textOf(await iterator.next())).toBe('{"a":1}\n')
      await expect(iterator.next()).rejects.toMatchObject({ code: 'INPUT_UNREADABLE', cause })
    }
  })

  test('are one source of that name', async () => {
    expect((await findSources(Buffer.from(plain), {}))[0]).toMatchObject({ id: 0, name: '(stream)' })
  })

  test('keep their value when the stream has an encoding set', async () => {
    for (const encoding of ['utf8', 'latin1', 'hex'] as const) {
      const stream = Readable.from([Buffer.from('{"é":"東😀"}')], { objectMode: false }).setEncoding(encoding)
      expect([encoding, await text(stream)]).toEqual([encoding, '{"é":"東😀"}'])
    }
  })

  test('a stream that fails is told with its cause', async () => {
    const cause = new Error('reset by peer')
    async function* broken() {
      yield Buffer.from('{"a":1}\n')
      await turn()
      throw cause
    }
    const iterator = await open(Readable.from(broken(), { objectMode: false }))
    expect(textOf(await iterator.next())).toBe('{"a":1}\n')
    await expect(iterator.next()).rejects.toMatchObject({
      code: 'INPUT_UNREADABLE',
      message: 'cannot read (stream): reset by peer',
      cause,
    })
  })

  test('a stream that another reader has, or that was read before, is refused as an option', async () => {
    const locked = new Blob([plain]).stream()
    locked.getReader()
    const web = new Blob([plain]).stream()
    const node = Readable.from([Buffer.from(plain)], { objectMode: false })
    const objects = Readable.from([{ a: 1 }])
    for (const stream of [web, node, objects]) for await (const _ of stream as AsyncIterable<unknown>);
    const problems = { code: 'OPTION_INVALID', message: expect.stringMatching(/locked the stream|stream was read/) }
    for (const stream of [locked, web, node, objects])
      await expect(findSources(stream as IngestSource, {})).rejects.toMatchObject(problems)
    expect(await text(new Blob([]).stream())).toBe('')
  })

  test('a stream that was destroyed early is told', async () => {
    const stream = new Readable({ read() {} })
    stream.destroy()
    await expect(text(stream)).rejects.toMatchObject({ code: 'INPUT_UNREADABLE' })
  })

  test('a stream is destroyed when the consumer stops early', async () => {
    const stream = new Readable({
      read() {
        this.push('{"a":1}\n')
      },
    })
    const iterator = await open(stream)
    await iterator.next()
    await iterator.return?.()
    expect(stream.destroyed).toBe(true)
  })
})

test('anything else is refused as an option', async () => {
  for (const source of [5, null, undefined, { a: 1 }, () => []]) {
    await expect(findSources(source as unknown as string, {})).rejects.toMatchObject({ code: 'OPTION_INVALID' })
  }
})

describe('an iterable that never ends and never waits', () => {
  const endless: [string, () => Iterable<unknown> | AsyncIterable<unknown>][] = [
    [
      'generator',
      function* () {
        for (;;) yield {}
      },
    ],
    [
      'async generator',
      async function* () {
        for (;;) yield {}
      },
    ],
  ]
  test.each(endless)('%s: the event loop turns, so that an abort is seen', async (_, items) => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const iterator = await open(items(), stop.signal)
    setImmediate(() => stop.abort(reason))
    // Bounded, so that a loop that never turns fails instead of hanging.
    const readAll = async () => {
      for (let chunks = 0; chunks < 100; chunks++) await iterator.next()
    }
    await expect(readAll()).rejects.toBe(reason)
  })
})
