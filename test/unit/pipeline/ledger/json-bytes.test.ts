import { isUtf8 } from 'node:buffer'
import { describe, expect, it } from 'vitest'
import { JsonBytes } from '../../../../src/pipeline/ledger/json-bytes.js'
import { Records } from '../../../../src/pipeline/ledger/dead-letter-record.js'
import type { Refused } from '../../../../src/base/flow.js'

const texts = [
  '',
  'plain words',
  'a "quoted" \\ word',
  Array.from({ length: 0x80 }, (_, code) => String.fromCharCode(code)).join(''),
  'Grüße, 東京, 🚚, \u2028 and \ufeff',
]

describe('JSON that is written byte by byte', () => {
  it.each(texts)('writes the string %j as JSON.stringify does, from a string and from bytes', text => {
    const bytes = new JsonBytes()
    bytes.string(text)
    bytes.stringOf(Buffer.from(text))
    const json = JSON.stringify(text)
    expect(bytes.take().toString()).toBe(json + json)
  })

  it('writes half of a surrogate pair as JSON.stringify does', () => {
    const bytes = new JsonBytes()
    bytes.string('a\ud800')
    expect(bytes.take().toString()).toBe(JSON.stringify('a\ud800'))
  })

  it.each([0, 9, 10, 99, 100, 2 ** 31, 2 ** 32 - 1, 10 ** 15, Number.MAX_SAFE_INTEGER])(
    'writes the number %d',
    value => {
      const bytes = new JsonBytes()
      bytes.number(value)
      expect(bytes.take().toString()).toBe(String(value))
    },
  )

  it('gives room to texts that are larger than its memory', { tags: 'long' }, () => {
    const bytes = new JsonBytes()
    const long = '"'.repeat(3 << 20)
    bytes.string(long)
    bytes.stringOf(Buffer.from(long))
    expect(bytes.length).toBe(2 * (6 << 20) + 4)
    expect(bytes.take().toString()).toBe(JSON.stringify(long).repeat(2))
  })
})

describe('records of dead letters', () => {
  const stamp = { run: 'r', writer: 'w', destination: { index: 'i', idField: 'k' } }
  const own = {
    operation: 'create',
    status: 0,
    type: 'DOCUMENT_NOT_JSON',
    reason: 'the line is "no" object',
    attempts: 0,
  } as const
  const written = (refused: Refused) => {
    const records = new Records(stamp)
    records.add(refused)
    return records.take().toString()
  }
  const origins: object[] = [
    { input: 'a.ndjson', document: 1, line: 2, offset: 3 },
    { input: 'ä "b".json', document: 7 },
    // A person has edited these.
    { document: 1, input: 'a' },
    { input: 'a', document: 1, line: 2, offset: 3, note: 'mine' },
    { input: 'a', document: 1, line: 2 },
    { input: 'a', document: 1.5, line: -2, offset: 1e300 },
    { input: 'a', document: 1, line: 'two', offset: null },
    { input: 'a', document: 1, note: 5, offset: 3 },
  ]

  it.each(origins)('keep the origin %j as it is', origin => {
    const refused = { ...own, id: 'x-1', origin: origin as Refused['origin'], document: Buffer.from('no\tJSON') }
    const { operation, status, type, reason, attempts } = own
    const { destination, ...author } = stamp
    const record = { operation, ...author, origin, ...destination, id: 'x-1', status, type, attempts, reason }
    expect(written(refused)).toBe(`${JSON.stringify({ ...record, line: 'no\tJSON' })}\n`)
  })

  it('keep text that is not UTF-8 as base64, and documents byte for byte', () => {
    const origin = { input: 'a', document: 1 }
    const broken = Buffer.from([0x61, 0xff, 0x62])
    expect(isUtf8(broken)).toBe(false)
    expect(written({ ...own, origin, document: broken })).toContain(`,"base64":"${broken.toString('base64')}"}\n`)
    const document = Buffer.from('{"a" : 1.0}')
    const refused = { ...own, type: 'mapper_exception', status: 400, attempts: 2, routing: 'ü"', origin, document }
    const record = written(refused)
    expect(record).toContain(',"routing":"ü\\"","status":400,"type":"mapper_exception","attempts":2,"reason":')
    expect(record.endsWith(',"document":{"a" : 1.0}}\n')).toBe(true)
  })
})
