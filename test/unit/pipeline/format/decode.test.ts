import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { isSluiceError } from '../../../../src/base/failure/failure.js'
import type { Source } from '../../../../src/base/flow.js'
import { type DecodeOptions, decode, skipLines } from '../../../../src/pipeline/format/decode.js'
import { rounds } from '../../../support/rounds.js'

const fixture = (name: string) => readFile(new URL(`../../../../fixtures/${name}`, import.meta.url))

/** Bytes in chunks of a size, each of which is overwritten when the next one is asked for, as a source may do. */
async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    const chunk = Buffer.from(bytes.subarray(from, from + size))
    yield chunk
    chunk.fill('!')
  }
}

const source = (name: string): Source => ({ id: 0, name, open: () => chunks(Buffer.alloc(0), 1) })

async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of bytes) parts.push(Buffer.from(part))
  return parts
}

interface Decoded {
  readonly kind: string
  readonly at: number
  readonly text: string
  readonly code: string | undefined
  readonly message: string
}

async function run(
  input: string | Uint8Array,
  options: Partial<DecodeOptions> & { size?: number; name?: string } = {},
): Promise<Decoded> {
  const { size = 1 << 20, name = 'input', format = 'auto', pick } = options
  const parts: Buffer[] = []
  let kind = ''
  let at = -1
  try {
    const lines = await decode(source(name), chunks(Buffer.from(input), size), { format, pick })
    kind = lines.kind
    at = lines.at
    for await (const part of lines.bytes) parts.push(Buffer.from(part))
    return { kind, at, text: Buffer.concat(parts).toString('latin1'), code: undefined, message: '' }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { kind, at, text: Buffer.concat(parts).toString('latin1'), code: error.code, message: error.message }
  }
}

/** As `run`, with the output read as UTF-8. */
async function lines(...args: Parameters<typeof run>): Promise<string[]> {
  const { text, message } = await run(...args)
  expect(message).toBe('')
  return Buffer.from(text, 'latin1').toString('utf8').split('\n').slice(0, -1)
}

describe('NDJSON', () => {
  test.each(['plain.ndjson', 'no-last-newline.ndjson', 'bad-lines.ndjson', 'empty.ndjson'])(
    'passes %s on byte for byte, however it is cut',
    async name => {
      const bytes = await fixture(name)
      for (const size of [1, 2, 3, 7, 1000]) {
        expect(await run(bytes, { size })).toMatchObject({
          kind: 'lines',
          at: 0,
          text: bytes.toString('latin1'),
          code: undefined,
        })
      }
    },
  )

  test('takes off a byte order mark and nothing else: line ends and blank lines stay', async () => {
    const bytes = await fixture('bom-crlf-blank-lines.ndjson')
    for (const size of [1, 2, 3, 4, 1000]) {
      const decoded = await run(bytes, { size })
      expect(decoded).toMatchObject({ kind: 'lines', at: 3, text: bytes.subarray(3).toString('latin1') })
    }
  })

  test('passes chunks on uncopied', async () => {
    const chunk = Buffer.from('{"a":1}\n')
    async function* one() {
      yield chunk
    }
    const decoded = await decode(source('x'), one(), { format: 'auto' })
    for await (const part of decoded.bytes) expect(part.buffer).toBe(chunk.buffer)
  })

  test.each([
    ['fffe00007b000000', 'UTF-32'],
    ['0000feff0000007b', 'UTF-32'],
  ])('refuses text that begins with %s as %s', async (hex, encoding) => {
    for (const size of [1, 100]) {
      const { code, message } = await run(Buffer.from(hex, 'hex'), { size })
      expect(code).toBe('INPUT_MALFORMED')
      expect(message).toContain(`it is ${encoding} text. Convert it to UTF-8`)
    }
  })

  describe('in UTF-16', () => {
    const texts = ['{"a":"é"}\r\n\n{"a":"😀"}\n{"a":', '[{"a":1},\n{"a":2}]', '{"a":1}{"a":2}', '{\n"a":1\n}']
    const sizes = [1, 2, 3, 5, 1000]
    test.each(texts)('%j becomes the lines of its UTF-8, as elements', async text => {
      const kept = async (bytes: Uint8Array, size: number) => {
        const { text: out, code } = await run(bytes, { size, name: 'a.json' })
        return { out, code }
      }
      const plain = await kept(Buffer.from(text), 1000)
      const expected = { ...plain, out: plain.out.replace(/(?<=[^\n])$/, '\n') }
      for (const size of sizes) {
        for (const mark of ['', '\ufeff']) {
          const little = Buffer.from(mark + text, 'utf16le')
          expect(await kept(little, size)).toEqual(expected)
          expect(await kept(Buffer.from(little).swap16(), size)).toEqual(expected)
        }
      }
    })

    test('the kind is that of rewritten lines, and a note names the encoding', async () => {
      const bytes = chunks(await fixture('utf16.ndjson'), 100)
      expect(await decode(source('x'), bytes, { format: 'ndjson' })).toMatchObject({
        kind: 'elements',
        found: 'UTF-16LE text',
      })
    })

    test('a line that begins like one that was refused is only a line', async () => {
      const text = '{"a":1}\n\u001fDOCUMENT_ROW_INVALID x\u001f[]\n\u001f\n'
      const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
      for (const size of sizes) expect((await run(bytes, { size })).text).toBe(text.replaceAll('\n\u001f', '\n \u001f'))
    })

    test('half a character is a line that is not valid, and a fault of a JSON document', async () => {
      const broken = Buffer.concat([
        Buffer.from('\ufeff{"a":"', 'utf16le'),
        Buffer.of(0, 0xd8),
        Buffer.from('"}\n{"a":2}', 'utf16le'),
      ])
      expect((await run(broken, { name: 'a.ndjson' })).text).toBe('{"a":"\xff"}\n{"a":2}\n')
      expect(await run(broken, { format: 'json' })).toMatchObject({ code: 'INPUT_MALFORMED' })
    })
  })

  describe('several objects in one line', () => {
    const objects = ['{"a":1}', '{"b":"}{"}', '{"c":{}}']
    const names = ['a.json', 'a.ndjson', 'a.jsonl', 'a', 'a.ndjson.gz']
    test.each(names)('are documents, whatever the name is: %s', async name => {
      for (const size of [1, 5, 1000])
        for (const between of ['', ' ', '\t']) {
          expect(await lines(objects.join(between), { name, size })).toEqual(objects)
          expect(await lines(`${objects.join(between)}\n{"d":1}\n{"e":1}{"f":1}\n`, { name, size })).toEqual([
            ...objects,
            '{"d":1}',
            '{"e":1}',
            '{"f":1}',
          ])
        }
    })

    test('are loaded as far as they are whole', async () => {
      expect(await run('{"a":1}{"a":2}{"a":', { name: 'a.ndjson' })).toMatchObject({
        text: '{"a":1}\n{"a":2}\n',
        code: 'INPUT_TRUNCATED',
      })
    })

    test('are recognised in a line that is longer than what is looked at', async () => {
      const text = `{"a":"${'x'.repeat(700_000)}"}`
      for (const size of [100_000, 5_000_000])
        expect(await lines(text.repeat(3), { name: 'a.ndjson', size })).toEqual([text, text, text])
    })

    test.each(['{"a":1}{"a"\n{"a":2}\n', '{"a":1}[2]\n{"a":2}\n', '{"a":1}}\n{"a":2}\n', '{"a":1}\n{"a":2}{"a":3}\n'])(
      'are not read into lines of which the first is something else: %j',
      async text => {
        for (const size of [1, 1000]) expect(await run(text, { size })).toMatchObject({ kind: 'lines', text })
      },
    )
  })

  describe('one document', () => {
    async function notes(text: string, { name = 'a.json', size = 1000, format = 'auto' as const } = {}) {
      const said: string[] = []
      const lines = await decode(source(name), chunks(Buffer.from(text), size), { format }, (_, what) =>
        said.push(what),
      )
      const bytes = Buffer.concat(await collected(lines.bytes)).toString()
      return { said: [...(lines.found === undefined ? [] : [lines.found]), ...said], bytes }
    }
    const note = (path: string, count: number | 'many', pick = path) =>
      `one document, which holds an array \`${path}\` of ${count} objects. \`--pick ${pick}\` loads each of them`

    test.each([
      ['items', 2, '{"items":[{"a":1},{"a":[{"b":2}]}]}\n'],
      ['items', 2, '{\n  "took": 1,\n  "items": [\n    {"a": 1},\n    {"a": 2}\n  ]\n}\n'],
      ['a.b', 3, ' \n{"n":"}]","a":{"b":[{"\\"c":"[{"},{},{"d":[1]}]}}\n\n'],
    ])('that holds a large array of objects is one document, and a note names %s', async (path, count, text) => {
      for (const size of [1, 7, 1000]) {
        const { said, bytes } = await notes(text, { size })
        expect(said).toEqual([note(path, count)])
        expect(bytes.trim().split('\n')).toHaveLength(1)
      }
    })

    test('a name that the shell would change stands in quotes', async () => {
      expect((await notes('{"my items":[{},{}]}')).said).toEqual([note('my items', 2, `'my items'`)])
    })

    test('a document that is longer than what is looked at is named by its beginning', async () => {
      const items = Array.from({ length: 3000 }, (_, a) => ({ a, text: 'x'.repeat(500) }))
      for (const size of [10_000, 5_000_000])
        expect((await notes(JSON.stringify({ items }), { size })).said).toEqual([note('items', 'many')])
    })

    test.each([
      '{"items":[{"a":1},{"a":2}]}\n{"a":3}\n',
      '{"items":[{"a":1},{"a":2}]}{"a":3}',
      '[{"items":[{"a":1},{"a":2}]}]',
      '{"items":[1,2,3,4,5,6]}',
      '{"items":[{"a":1}]}',
      '{"items":[{"a":1},{"a":2},3]}',
      '{"text":"a much longer text than the array has","lines":[{"a":1},{"a":2}]}',
      '{"a":[[{"a":1},{"a":2}]]}',
    ])('nothing is said about %j', async text => {
      for (const size of [1, 1000]) expect((await notes(text, { size })).said).toEqual([])
    })

    test('nothing is said if an option names the format', async () => {
      const lines = await decode(source('a'), chunks(Buffer.from('{"b":[{},{}]}'), 9), { format: 'json' }, () => {
        throw new Error('said something')
      })
      expect(Buffer.concat(await collected(lines.bytes)).toString()).toBe('{"b":[{},{}]}\n')
    })

    test.each(['a.geojson', 'a.GeoJSON.gz'])('of the name %s becomes its features', async name => {
      const feature = (a: number) => `{"type":"Feature","properties":{"a":${a}},"geometry":null}`
      const found = ['GeoJSON: each of its features is a document']
      for (const size of [1, 1000]) {
        const text = `{"type":"FeatureCollection","features":[${feature(1)},${feature(2)}]}`
        expect(await notes(text, { name, size })).toEqual({ said: found, bytes: `${feature(1)}\n${feature(2)}\n` })
        const pretty = `{\n"type": "FeatureCollection",\n"features": [\n${feature(1)}\n]\n}\n`
        expect(await notes(pretty, { name, size })).toEqual({ said: found, bytes: `${feature(1)}\n` })
        expect(await notes('{"features":[]}', { name, size })).toEqual({ said: found, bytes: '' })
        expect(await notes(feature(3), { name, size })).toEqual({ said: [], bytes: feature(3) })
        const lines = `${feature(1)}\n${feature(2)}\n`
        expect(await notes(lines, { name, size })).toEqual({ said: [], bytes: lines })
      }
    })
  })

  describe('JSON that only other programs read', () => {
    test.each([
      ['JSON with comments', 'line 1 has a comment', '// of 2026\n{"a":1}\n'],
      ['JSON with comments', 'line 2 has a comment', '{"a":"//", /* one\n"b" */ "b":2}'.replace(' /*', '\n/*')],
      ['JSON with comments', 'line 2 has a comment', '{\n"a":1, // first\n"b":[1,],\n}\n'],
      ['JSON with trailing commas', 'line 3 has a comma before a closing bracket', '{\n"a":1,\n"b":"\\"//",\n}\n'],
      ['JSON with trailing commas', 'line 1 has a comma before a closing bracket', '[{"a":1},{"a":2},]'],
      ['JSON with comments', 'line 2 has a comment', '[\n// one\n{"a":1}]'],
    ])('is refused as %s: %s', async (kind, observed, text) => {
      for (const size of text.startsWith('[') ? [1000] : [1, 1000]) {
        const { code, message } = await run(text, { name: 'a.json', size })
        expect({ code, message }).toEqual({
          code: 'INPUT_NOT_JSON',
          message: `a.json looks like ${kind}: ${observed}. Sluice sent nothing from it`,
        })
      }
    })

    test.each(['{"a":1,}\n{"a":2}\n', '// one\n{"a":1}\n{"a":2}\n', '{"a":"http://b"}\n{"a":",]"}\n'])(
      'is not seen in lines: %j',
      async text => {
        for (const size of [1, 1000]) expect(await run(text, { size })).toMatchObject({ kind: 'lines', text })
      },
    )

    test.each([
      ['a comment', '{"a":"//"}, /* b */ {"a":1}'],
      ['a comment', '{"a":1}, // b\n {"a":1}'],
      ['a comma before a closing bracket', '{"a":[1,2, ]}'],
      ['a comma before a closing bracket', '{"a":1},'],
    ])('is named behind whole elements: %s', async (problem, end) => {
      for (const size of [1, 1000]) {
        const { code, message } = await run(`[{"a":0},${end}]`, { format: 'json', size })
        expect(code).toBe('INPUT_MALFORMED')
        expect(message).toContain(`is not valid json: ${problem} near byte `)
      }
    })
  })

  test('closes the source that it refuses', async () => {
    let closed = false
    async function* utf32() {
      try {
        yield Buffer.from('fffe00007b000000', 'hex')
      } finally {
        closed = true
      }
    }
    await expect(decode(source('x'), utf32(), { format: 'auto' })).rejects.toMatchObject({ code: 'INPUT_MALFORMED' })
    expect(closed).toBe(true)
  })

  test('keeps beginnings of a byte order mark that are none', async () => {
    for (const hex of ['ef', 'efbb', 'efbb7b', 'ff', '00', '0000', '0000fe', '000000']) {
      const bytes = Buffer.from(hex, 'hex')
      expect(await run(bytes, { size: 1, format: 'ndjson' })).toMatchObject({
        at: 0,
        text: bytes.toString('latin1'),
        code: undefined,
      })
    }
  })

  test('closes the source when the consumer stops early', async () => {
    let closed = false
    async function* endless() {
      try {
        for (;;) yield Buffer.from('{"a":1}\n')
      } finally {
        closed = true
      }
    }
    for (const format of ['ndjson', 'auto'] as const) {
      closed = false
      const decoded = await decode(source('x'), endless(), { format })
      for await (const part of decoded.bytes) if (part.length > 0) break
      expect(closed).toBe(true)
    }
  })

  test("passes the source's error on behind the bytes that came before it", async () => {
    async function* broken() {
      yield Buffer.from('  ')
      throw new Error('the disk is gone')
    }
    const decoded = await decode(source('x'), broken(), { format: 'auto' })
    const parts: string[] = []
    await expect(
      (async () => {
        for await (const part of decoded.bytes) parts.push(Buffer.from(part).toString())
      })(),
    ).rejects.toThrow('the disk is gone')
    expect(parts.join('')).toBe('  ')
  })
})

describe('which format it is', () => {
  const array = ' \r\n\t[{"a":1}]'
  test.each([
    [array, { name: 'x.json' }, 'elements'],
    [array, { name: 'x' }, 'elements'],
    [array, { name: 'x.ndjson' }, 'lines'],
    [array, { name: 'x.JSONL.gz' }, 'lines'],
    [array, { name: '(iterable)' }, 'lines'],
    [array, { name: 'x.ndjson', format: 'json' }, 'elements'],
    [array, { name: 'x.json', format: 'ndjson' }, 'lines'],
    ['{"a":[1]}', { name: 'x.json' }, 'lines'],
    ['{"a":[1]}', { name: 'x.ndjson', pick: 'a' }, 'elements'],
    ['', { name: 'x.json' }, 'lines'],
  ] as const)('%j as %j is read as %s', async (input, options, kind) => {
    for (const size of [1000, 1 << 20]) expect((await run(input, { ...options, size })).kind).toBe(kind)
    expect((await run(`\ufeff${input}`, { ...options, size: 1 })).kind).toBe(kind)
  })

  test('white space without an end is NDJSON of blank lines', async () => {
    expect((await run(`${' \n'.repeat(100_000)}[`, { name: 'x.json', size: 1000 })).kind).toBe('lines')
  })

  test('looking for the first byte loses nothing', async () => {
    const input = ' \n'.repeat(1000) + '{"a":1}\n'
    for (const size of [1, 3, 5000]) expect((await run(input, { size })).text).toBe(input)
  })
})

describe('JSON', () => {
  const rows = [
    '{"id":9007199254740993123,"name":"Zoë","price":1.0}',
    '{"id":2,"name":"東京","huge":1e400,"name":"again"}',
    '{"id":3,"text":"line\\nbreak \\u00e9 \\ud83d\\ude00 \\ud800"}',
  ]

  test('makes a line of each element; digits, escapes, duplicate keys and half surrogates stay as they were', async () => {
    const bytes = await fixture('array.json')
    for (const size of [1, 2, 5, 1000]) {
      const decoded = await run(bytes, { size })
      expect(decoded).toMatchObject({ kind: 'elements', at: 0, code: undefined })
      expect(Buffer.from(decoded.text, 'latin1').toString().split('\n')).toEqual([...rows, ''])
    }
  })

  test('picks the elements of an array inside', async () => {
    const bytes = await fixture('nested.json')
    for (const size of [1, 3, 1000]) expect(await lines(bytes, { size, pick: 'response.items' })).toEqual(rows)
  })

  test.each([
    ['a', '{"b":{"a":[1]},"a":[{"x":1},{"y":2}]}', ['{"x":1}', '{"y":2}']],
    ['a.b', '{"a":{"c":[{"b":0}],"b":{"x":[1,{}]}}}', ['{"x":[1,{}]}']],
    ['a.b', '{"a":{"b":[]}}', []],
    ['a.b', '{"a.b":[{"x":1}]}', ['{"x":1}']],
    ['0.items', '[{"items":[{"x":1}]},{"items":[{"x":2}]}]', ['{"x":1}']],
    ['a', '{"a":[{"x":1}]} {"b":1,"a":[]} {"a":[{"x":2}]}', ['{"x":1}', '{"x":2}']],
    ['a', '{"a":7}', ['7']],
    ['a', '{"":{"a":[1]},"a":[{}]}', ['{}']],
    ['a{b', '{"x,{y":{"k":[1]},"a{b":[{"ok":[{"}":1}]}]}', ['{"ok":[{"}":1}]}']],
  ])('picks %j from %s', async (pick, input, expected) => {
    for (const size of [1, 2, 1000]) expect(await lines(input, { pick, size })).toEqual(expected)
  })

  test('says which path it did not find, and is content with an empty input', async () => {
    const { code, message } = await run('{"a":{"c":1}}', { pick: 'a.b' })
    expect({ code, message }).toEqual({
      code: 'INPUT_MALFORMED',
      message: 'input has no `a.b`: its top level is an object',
    })
    expect((await run('[{"a":1}]', { pick: 'hits' })).message).toBe('input has no `hits`: its top level is an array')
    expect((await run('7', { pick: 'hits' })).message).toBe('input has no `hits`: its top level is a single value')
    expect(await run(' \n', { pick: 'a.b' })).toMatchObject({ text: '', code: undefined })
    expect(await run('', { format: 'json' })).toMatchObject({ text: '', code: undefined })
  })

  test.each([
    ['{"a":[{"x":1}]}\n{"error":1}\n{"a":[{"x":2}]}', '1 of its 3', '2, an object'],
    ['[]{"a":[{"x":1}]}{"error":1}{"a":[{"x":2}]}"a"', '3 of its 5', '1, an array'],
    ['{"a":[{"x":1},{"x":2}]}{"b":{"a":[]}}', '1 of its 2', '2, an object'],
  ])('says how many documents lack the path, after the elements of all others: %s', async (input, lacking, first) => {
    for (const size of [1, 3, 1000]) {
      const { text, code, message } = await run(input, { pick: 'a', size })
      expect([text, code]).toEqual(['{"x":1}\n{"x":2}\n', 'INPUT_MALFORMED'])
      expect(message).toBe(`input has no \`a\` in ${lacking} JSON documents. The first is number ${first}`)
    }
  })

  test.each([
    ['a long string', ['[{"a":"'], `${'x\u00e9'.repeat(10)}\\n`, ['"},{"b":1}]']],
    ['many members', ['[{"a":[0'], ',{"b":[1,2,"x and what else a short text says"]}', [']},{"b":1}]']],
    ['a long string that is an element', ['["'], 'xy, z', ['",{"b":1}]']],
  ])('passes on an element with %s while it is read', { tags: 'long' }, async (_, opening, repeated, closing) => {
    const chunk = repeated.repeat((1 << 20) / repeated.length)
    let fed = 0
    async function* input() {
      for (const text of [...opening, ...Array.from({ length: rounds(6, 24) }, () => chunk), ...closing]) {
        fed += Buffer.byteLength(text)
        yield Buffer.from(text)
      }
    }
    const { bytes } = await decode(source('input'), input(), { format: 'json' })
    let passed = 0
    let most = 0
    let last = ''
    for await (const part of bytes) {
      most = Math.max(most, fed - passed)
      passed += part.length
      last = (last + Buffer.from(part.slice(-20)).toString()).slice(-20)
    }
    expect(last.endsWith('\n{"b":1}\n')).toBe(true)
    expect(most).toBeLessThan(4 << 20)
  })

  test(
    'refuses what would have to be held: a name or a number without end, and containers without end',
    { tags: 'long' },
    async () => {
      const repeated = (opening: string, text: string) => opening + text.repeat((17 << 20) / text.length)
      for (const input of [repeated('[{"a', 'name'), repeated('[{"a":1', '2345'), repeated('', '[{"a":')]) {
        const { code, message } = await run(`[{"first":1},${input}`, { format: 'json' })
        expect(code).toBe('INPUT_MALFORMED')
        expect(message).toMatch(
          /(a name or a number of more than 16777216 characters|inside each other more than 1,000,000 times).*after 1 whole elements/,
        )
      }
      const spaces = repeated('[{"a":1},', '    ')
      expect(await lines(`${spaces}{"b":2}]`)).toEqual(['{"a":1}', '{"b":2}'])
    },
  )

  test.each([
    ['[]', []],
    ['[ ] [ ]\n[]', []],
    [
      '[1, "two", null, true, false, [3, [4]], {}, -0.50E+3]',
      ['1', '"two"', 'null', 'true', 'false', '[3,[4]]', '{}', '-0.50E+3'],
    ],
    ['{"a":1}{"b":2}\n\n{"c":3}[{"d":4}] 5', ['{"a":1}', '{"b":2}', '{"c":3}', '{"d":4}', '5']],
    ['true', ['true']],
    ['12', ['12']],
    ['["}", "]", "[", "{", ",", "\\"", "a,b"]', ['"}"', '"]"', '"["', '"{"', '","', '"\\""', '"a,b"']],
    ['[{"\\u0061\\/\\t\\u001f":"\\b\\f\\n\\r\\u2028\\\\"}]', ['{"\\u0061\\/\\t\\u001f":"\\b\\f\\n\\r\\u2028\\\\"}']],
    ['[{\n\t"a" :\r\n [ 1 , "b \\" c" ] \n}\n,\n{ }\n]\n', ['{"a":[1,"b \\" c"]}', '{}']],
    ['[{"a":1},7,{"a":2},[{"a":3}],{"a":4}] [{"a":5}]', ['{"a":1}', '7', '{"a":2}', '[{"a":3}]', '{"a":4}', '{"a":5}']],
    ['[{"__proto__":1,"constructor":{"a":1,"a":2}}]', ['{"__proto__":1,"constructor":{"a":1,"a":2}}']],
  ])('reads %s', async (input, expected) => {
    for (const size of [1, 2, 3, 1000]) expect(await lines(input, { format: 'json', size })).toEqual(expected)
  })

  test('agrees with JSON.parse on generated documents, wherever they are cut', async () => {
    let seed = 7
    const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below
    const pieces = [
      'a',
      '"',
      '\\',
      '}',
      ']',
      '{',
      '[',
      ',',
      ':',
      'é',
      '東',
      '😀',
      '\n',
      '\u0000',
      '\ud800',
      '\u007f',
      ' ',
    ]
    const word = () => Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join('')
    const value = (depth: number): unknown => {
      const kind = random(depth > 3 ? 5 : 7)
      if (kind < 2) return word()
      if (kind === 2) return (random(2000) - 1000) / 8
      if (kind === 3) return [null, true, false][random(3)]
      if (kind === 4) return {}
      if (kind === 5) return Array.from({ length: random(4) }, () => value(depth + 1))
      return Object.fromEntries(Array.from({ length: random(4) }, () => [word(), value(depth + 1)]))
    }
    for (let round = 0; round < 150; round++) {
      const documents = Array.from({ length: 1 + random(6) }, () => value(0))
      const input = JSON.stringify(documents, null, random(3))
      const expected = documents.map(document => JSON.stringify(document))
      expect(await lines(input, { size: 1 + random(20) })).toEqual(expected)
    }
  })

  test('takes nesting that would overflow a stack', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    expect(await lines(`[{"a":${deep}}]`)).toEqual([`{"a":${deep}}`])
    expect(await lines(`{"x":${deep},"a":[{}]}`, { pick: 'a' })).toEqual(['{}'])
  })

  test.each([['syntax-error.json', 2, 'INPUT_MALFORMED', /expected ',' near byte \d+, after 2 whole elements/]])(
    'yields the whole elements of %s before it fails',
    async (name, count, expected, problem) => {
      const bytes = await fixture(name)
      for (const size of [1, 10, 1000]) {
        const { text, code, message } = await run(bytes, { size })
        expect(text.split('\n').length - 1).toBe(count)
        expect(code).toBe(expected)
        expect(message).toMatch(problem)
      }
    },
  )

  test.each([
    ['[{"a":1},{"b":2}}', ['{"a":1}', '{"b":2}']],
    ['[{"a":1},,{"b":2}]', ['{"a":1}']],
    ['[1,2,3,x]', ['1', '2', '3']],
    ['[[1],[2],[3}]', ['[1]', '[2]']],
    ['{"a":1} ]', ['{"a":1}']],
    ['[{"a":1},{"b":01}]', ['{"a":1}']],
    ['[{"a":1},trux]', ['{"a":1}']],
    ['[{"a":1},{"b":"\\x"}]', ['{"a":1}']],
    ['[{"a":1},{"b":"raw\nline end"}]', ['{"a":1}']],
    ['[{"a":1},{\'b\':1}]', ['{"a":1}']],
    ['[{"a":1},{"b":1,}]', ['{"a":1}']],
    ['[{"a":1},\u00a0{"b":1}]', ['{"a":1}']],
    ['[{"a":1}]\u0000', ['{"a":1}']],
  ])('fails at the fault in %j with all before it', async (input, expected) => {
    for (const size of [1, 4, 1000]) {
      const { text, code } = await run(input, { format: 'json', size })
      expect({ text, code }).toEqual({ text: expected.map(line => `${line}\n`).join(''), code: 'INPUT_MALFORMED' })
    }
  })

  test('takes up the fast way again behind an element that is too long or too deep for it', async () => {
    const long = `{"a":"${'x'.repeat(1 << 20)}\\u0061"}`
    const deep = `{"a":${'['.repeat(64)}"\\u0061"${']'.repeat(64)}}`
    const usual = '{"a":"\\u0061"}'
    for (const size of [100_000, 1 << 20, 4 << 20])
      expect(await lines(`[${usual},${long},${usual},${deep},${usual}]`, { size })).toEqual([
        usual,
        long.replace('\\u0061', 'a'),
        usual,
        deep.replace('\\u0061', 'a'),
        usual,
      ])
  })

  test('skips elements by their number, wherever their lines are cut', async () => {
    const bytes = Buffer.from('{"a":1}\n{"b":2}\n{"c":3}\n')
    for (const size of [1, 7, 8, 9, 100])
      for (const count of [0, 1, 2, 3]) {
        const rest = Buffer.concat(await collected(skipLines(chunks(bytes, size), count)))
        expect(rest.toString()).toBe(bytes.toString().slice(8 * count))
      }
  })

  test('reads several inputs at once', async () => {
    const inputs = Array.from({ length: 3 }, (_, input) => Array.from({ length: 2000 }, (_, id) => ({ input, id })))
    const read = await Promise.all(inputs.map(input => lines(JSON.stringify(input), { size: 777 })))
    expect(read).toEqual(inputs.map(input => input.map(one => JSON.stringify(one))))
  })

  test('tells JSON that ends too early, wherever it ends, with all elements that were whole', async () => {
    const input = '[{"a":"x\\u00e9😀"},{"b":[true,-1.5e+3,null]}]'
    const bytes = Buffer.from(input)
    for (let cut = 1; cut < bytes.length; cut++) {
      const { text, code, message } = await run(bytes.subarray(0, cut), { format: 'json', size: 1 + (cut % 5) })
      const whole = [bytes.indexOf('}') + 1, bytes.length - 1].filter(end => cut >= end).length
      expect({ cut, code, whole: text.split('\n').length - 1 }).toEqual({ cut, code: 'INPUT_TRUNCATED', whole })
      expect(message).toContain(`its JSON data ends after ${cut.toLocaleString('en-US')} decoded bytes`)
    }
  })

  test('never puts U+FFFD in the place of a byte that is not UTF-8', async () => {
    for (const bad of ['ff', 'c3', 'c0af', 'eda080', 'f4908080', 'e28228']) {
      const input = Buffer.concat([
        Buffer.from('[{"a":"é"},{"b":"'),
        Buffer.from(bad, 'hex'),
        Buffer.from('"},{"c":1}]'),
      ])
      for (const size of [1, 2, 3, 1000]) {
        const { text, code, message } = await run(input, { size })
        expect(Buffer.from(text, 'latin1').toString()).toBe('{"a":"é"}\n')
        expect(code).toBe('INPUT_MALFORMED')
        expect(message).toContain('not UTF-8')
      }
    }
    expect(await lines('[{"a":"\ufffd"}]', { size: 1 })).toEqual(['{"a":"\ufffd"}'])
  })

  test("yields what was whole before the source's own error", async () => {
    async function* broken() {
      yield Buffer.from('[{"a":1},{"b":2},{"c"')
      throw new Error('the disk is gone')
    }
    const decoded = await decode(source('x'), broken(), { format: 'json' })
    const parts: string[] = []
    const all = (async () => {
      for await (const part of decoded.bytes) parts.push(Buffer.from(part).toString())
    })()
    await expect(all).rejects.toThrow('the disk is gone')
    expect(parts.join('')).toBe('{"a":1}\n{"b":2}\n')
  })

  test('sends elements on as soon as they are whole, and holds one that is not', async () => {
    let push = (_: string) => {}
    async function* slow() {
      for (;;) yield Buffer.from(await new Promise<string>(resolve => (push = resolve)))
    }
    const decoding = decode(source('x'), slow(), { format: 'json' })
    push('[{"a":1},{"b"')
    const iterator = (await decoding).bytes[Symbol.asyncIterator]()
    expect(Buffer.from((await iterator.next()).value ?? '').toString()).toBe('{"a":1}\n')
    const next = iterator.next()
    await new Promise(setImmediate)
    push(':2},')
    expect(Buffer.from((await next).value ?? '').toString()).toBe('{"b":2}\n')
    await iterator.return?.()
  })

  test('reads an element much larger than a chunk, and a long array, in few chunks', { tags: 'long' }, async () => {
    const large = `{"a":"${'x'.repeat(3 << 20)}","b":[${'1,'.repeat(300_000)}2]}`
    expect(await lines(`[${large},{"c":3}]`, { size: 64 << 10 })).toEqual([large, '{"c":3}'])
    let count = 0
    const rowsText = Array.from({ length: 50_000 }, (_, id) => `{"id":${id}}`)
    const decoded = await decode(source('x'), chunks(Buffer.from(`[${rowsText.join(', ')}]`), 64 << 10), {
      format: 'json',
    })
    const parts: Buffer[] = []
    for await (const part of decoded.bytes) {
      parts.push(Buffer.from(part))
      count++
    }
    expect(Buffer.concat(parts).toString()).toBe(`${rowsText.join('\n')}\n`)
    expect(count).toBeLessThan(20)
  })
})

describe('an input that is no NDJSON', () => {
  const pretty = `${JSON.stringify({ rows: [{ a: 1 }, { a: 2 }] }, null, 2)}\n`

  test('is refused before anything of it is given, however it is cut', async () => {
    for (const size of [1, 7, 1000]) {
      const { code, message, text } = await run('id,name\n1,Chair\n2,Table\n', { size, name: 'orders.ndjson' })
      expect({ code, text }).toEqual({ code: 'INPUT_NOT_JSON', text: '' })
      expect(message).toContain('orders.ndjson looks like CSV: none of its first 3 lines is JSON')
    }
  })

  test('is read as JSON if it is one, whatever its name', async () => {
    for (const size of [1, 10, 1000])
      expect(await lines(pretty, { size, name: 'x.ndjson' })).toEqual(['{"rows":[{"a":1},{"a":2}]}'])
  })

  test('is taken for what the user says it is', async () => {
    for (const text of ['id,name\n1,Chair\n', '{"index":{}}\n{"a":1}\n', pretty])
      expect(await run(text, { format: 'ndjson' })).toMatchObject({ kind: 'lines', text, code: undefined })
  })

  test('is given as it is where its items were lines already', async () => {
    expect(await run('id,name\n', { name: '(iterable)' })).toMatchObject({ kind: 'lines', text: 'id,name\n' })
  })

  test('is not judged by the little that a source gave before it failed', async () => {
    async function* failing() {
      yield Buffer.from('id,na')
      throw new Error('gone')
    }
    const { kind, bytes } = await decode(source('x'), failing(), { format: 'auto' })
    expect(kind).toBe('lines')
    await expect(collected(bytes)).rejects.toThrow('gone')
  })
})

describe('NDJSON whose first lines are broken', () => {
  test('is given from its first byte, as soon as a line is JSON', async () => {
    let asked = 0
    async function* slow() {
      for (const line of ['oops\n', '{"a":\n', '{"a":1}\n', '{"a":2}\n', '{"a":3}\n']) {
        asked += 1
        yield Buffer.from(line)
      }
    }
    const { kind, bytes } = await decode(source('x'), slow(), { format: 'auto' })
    expect([kind, asked]).toEqual(['lines', 3])
    expect(Buffer.concat(await collected(bytes)).toString()).toBe('oops\n{"a":\n{"a":1}\n{"a":2}\n{"a":3}\n')
  })

  test('is read as lines if the first thousand hold one document', async () => {
    const text = `${'oops\n'.repeat(998)}{"a":1}\n${'oops\n'.repeat(500)}`
    expect(await run(text)).toMatchObject({ kind: 'lines', text })
    expect(await run(`oops\n${text}`.replace('{"a":1}', 'oops'))).toMatchObject({ code: 'INPUT_NOT_JSON' })
  })
})
