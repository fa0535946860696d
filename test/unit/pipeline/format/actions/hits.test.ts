import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { rounds } from '../../../../support/rounds.js'
import { seeded } from '../../../../support/random/seeded.js'
import { readDump } from '../../../../support/facts/read-dump.js'

const steps = [Infinity, 1, 7, 4096]

describe('an elasticdump file', () => {
  test.each(steps)('gives each document with its id and routing (in chunks of %d bytes)', async step => {
    const source = '{"a":1.0,"n":12345678901234567890,"t":"}{\\"\\u00e9"}'
    const dump = [
      `{"_index":"a","_type":"_doc","_id":"1","_score":1,"_source":${source}}\n`,
      '{"_routing":"r","_source":{},"_id":"é","fields":{"_id":"no"}}\r\n\n \n',
      '{"_id":9007199254740993,"_source":{"_source":1}}\n{"_id":null,"_source":{"own":1}}',
    ].join('')
    expect(await readDump(dump, 'auto', step)).toEqual({
      kind: 'actions',
      lines: [
        { address: { _id: '1' }, document: source },
        { address: { _id: 'é', routing: 'r' }, document: '{}' },
        { address: { _id: '9007199254740993' }, document: '{"_source":1}' },
        { address: {}, document: '{"own":1}' },
      ],
    })
  })

  test.each(steps)(
    'keeps what is no hit for the dead letters, and reads the rest (in chunks of %d bytes)',
    async step => {
      const long = 'x'.repeat(513)
      const dump = [
        '{"_id":"1"}',
        '{"_id":"2","_source":{"a":1',
        '[1]',
        'oops',
        '{"_id":"3","_source":[1]}',
        '{"_id":true,"_source":{}}',
        '{"_id":"","_source":{}}',
        `{"_id":"${long}","_source":{}}`,
        String.raw`{"_id":"cut \ud83d","_source":{}}`,
        String.raw`{"_id":"6","_routing":"\udc00","_source":{}}`,
        '{"_id":"4","_parent":"p","_source":{}}',
        '{"_id":"5","_source":{}}',
      ]
      const { lines } = await readDump(`${dump.join('\n')}\n`, 'elasticdump', step)
      expect(lines.map(({ refused, document }) => refused ?? document)).toEqual([
        'it has no _source',
        'line 2: broken JSON at byte 27 of the line',
        'line 3: it is not an object',
        'line 4: broken JSON',
        'its _source is not an object',
        'its _id is neither a string nor a number',
        'its _id is empty',
        'its _id has more than 512 bytes',
        'its _id contains half of a surrogate pair, which is not valid Unicode',
        'its _routing contains half of a surrogate pair, which is not valid Unicode',
        'it has _parent but no routing value',
        '{}',
      ])
      expect(lines.slice(0, -1).map(({ line }) => line)).toEqual(dump.slice(0, -1))
    },
  )

  test('that was cut off in its last line is read up to there', async () => {
    const whole = '{"_id":"1","_source":{"a":1}}\n'
    for (let to = 1; to < whole.length - 1; to += 1) {
      const read = await readDump(whole + whole.slice(0, to), 'elasticdump', 5)
      expect(read).toEqual({
        kind: 'actions',
        lines: [{ address: { _id: '1' }, document: '{"a":1}' }],
        code: 'INPUT_TRUNCATED',
      })
    }
  })

  test('may have documents that no cutter takes: very deep ones, and long ones', async () => {
    const deep = `{"a":${'['.repeat(200)}${']'.repeat(200)}}`
    const long = `{"a":"${'x'.repeat(3 << 20)}"}`
    const dump = [deep, long, '{}', long, deep].map((text, at) => `{"_id":"${at}","_source":${text}}\n`).join('')
    for (const step of [1 << 16, 1_000_003]) {
      const { lines, code } = await readDump(dump, 'elasticdump', step)
      expect(code).toBeUndefined()
      expect(lines.map(({ document }) => document)).toEqual([deep, long, '{}', long, deep])
    }
  })

  test('with bytes that are not UTF-8 loses only that line', async () => {
    const dump = Buffer.concat([
      Buffer.from('{"_id":"1","_source":{}}\n{"_id":"2","_source":{"a":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}}\n{"_id":"3","_source":{}}\n'),
    ])
    const { lines } = await readDump(dump)
    expect(lines).toMatchObject([{ document: '{}' }, { refused: 'line 2: it is not valid UTF-8' }, { document: '{}' }])
  })
})

describe('answers of a search', () => {
  const answer = (hits: readonly object[], more: object = {}) => ({
    ...more,
    took: 1,
    timed_out: false,
    _shards: { total: 1, successful: 1, skipped: 0, failed: 0 },
    hits: { total: { value: hits.length, relation: 'eq' }, max_score: 1, hits },
  })
  const hit = (id: number, more: object = {}) => ({ _index: 'i', _id: String(id), _score: 1, ...more, _source: { id } })

  test.each(['auto', 'search'] as const)(
    'are read whether pretty or not, one or several (--format %s)',
    async format => {
      const [one, other] = [
        answer([hit(1), hit(2)], { _scroll_id: 'x' }),
        answer([hit(3, { _routing: 'r' }), { _id: '4' }]),
      ]
      const texts = [
        `${JSON.stringify(one)}\n${JSON.stringify(other)}\n${JSON.stringify(answer([]))}`,
        `${JSON.stringify(one, null, 2)}\n${JSON.stringify(other, null, 2)}`,
        JSON.stringify(one) + JSON.stringify(other),
      ]
      for (const text of texts)
        expect(await readDump(text, format, 11)).toEqual({
          kind: 'actions',
          lines: [
            { address: { _id: '1' }, document: '{"id":1}' },
            { address: { _id: '2' }, document: '{"id":2}' },
            { address: { _id: '3', routing: 'r' }, document: '{"id":3}' },
            { refused: 'it has no _source', address: { _id: '4' }, line: '{"_id":"4"}' },
          ],
        })
    },
  )

  test('that were cut off give all whole hits', async () => {
    const text = JSON.stringify(answer([hit(1), hit(2), hit(3)]))
    const { lines, code } = await readDump(text.slice(0, -30), 'auto', 9)
    expect({ code, documents: lines.length }).toEqual({ code: 'INPUT_TRUNCATED', documents: 2 })
  })

  test('without hits.hits are no dump', async () => {
    expect(await readDump('{"took":1,"hits":{"total":3}}', 'search')).toMatchObject({ code: 'INPUT_MALFORMED' })
    expect(await readDump('{"took":1,"text":"hits"}\n', 'auto')).toMatchObject({ kind: 'lines' })
  })
})

test.each(Array.from({ length: rounds(20, 1000) }, (_, seed) => seed))(
  'random hits come out with the bytes that they went in with, however they are cut into chunks (seed %d)',
  async seed => {
    const random = seeded(seed)
    const value = (depth: number): string => {
      switch (depth > 3 ? 0 : random.below(3)) {
        case 0:
          return random.pick(['1.0', '-0', '12345678901234567890', '1e400', 'null', '"\\"}{"', '"é\\u00e9\\\\"', '""'])
        case 1:
          return `[${Array.from({ length: random.below(4) }, () => value(depth + 1)).join(',')}]`
        default:
          return object(depth + 1)
      }
    }
    const object = (depth: number): string => {
      const field = () => `${random.pick(['"a"', '"_id"', '"_source"', '"é"'])}:${value(depth)}`
      return `{${Array.from({ length: random.below(4) }, field).join(',')}}`
    }
    const sources = Array.from({ length: 1 + random.below(20) }, () => object(0))
    const lines = sources.map((source, at) => {
      const fields = [`"_id":"${at}"`, `"_source":${source}`, `"sort":${value(0)}`, '"_score":null']
      return `{${fields.toSorted(() => random.real() - 0.5).join(',')}}`
    })
    const expected = sources.map((source, at) => ({ address: { _id: String(at) }, document: source }))
    const step = 1 + random.below(200)
    expect((await readDump(`${lines.join('\n')}\n`, 'elasticdump', step)).lines).toEqual(expected)
    const answers = `{"took":1,"timed_out":false,"hits":{"hits":[${lines.join(',')}]}}`
    expect((await readDump(answers, 'search', step)).lines).toEqual(expected)
  },
)

// Written by elasticdump 6 and by Elasticsearch 9.4.3, from the same index.
test.each(['elasticdump.json', 'search.json', 'scroll.json'])('%s is recognised and read', async name => {
  const { kind, lines } = await readDump(
    await readFile(new URL(`../../../../../fixtures/${name}`, import.meta.url)),
    'auto',
    100,
  )
  expect({ kind, addresses: lines.map(({ address }) => address) }).toEqual({
    kind: 'actions',
    addresses: [{ _id: '3', routing: 'north' }, { _id: '1' }, { _id: '4' }],
  })
  expect(lines.map(({ document }) => JSON.parse(String(document)) as unknown)).toMatchObject([
    { name: 'Lamp' },
    { name: 'Chair', price: 12.5 },
    {},
  ])
})
