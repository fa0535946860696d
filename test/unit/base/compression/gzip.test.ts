import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { decompress } from '../../../../src/base/compression/decompress.js'
import { findSources } from '../../../../src/pipeline/source/open-sources.js'
import { decodedFrom } from '../../../../src/pipeline/source/stored-file.js'
import { chunks, decoded } from '../../../support/facts/decoded.js'
import { until } from '../../../support/eventually.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../../../fixtures/${name}`, import.meta.url))
const never = new AbortController().signal

/** All that can be decoded of a gzip stream, wherever it ends. */
const decodable = (cut: Uint8Array) => gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH })

const rows = Array.from({ length: 60_000 }, (_, id) => `{"id":${id},"name":"row ${id * 7919}"}\n`).join('')

describe('gzip', () => {
  test.each(['plain.ndjson.gz', 'two-members.ndjson.gz'])('is known by its first bytes: %s', async name => {
    const expected = await readFile(fixture('plain.ndjson'))
    const [source] = await findSources(fixture(name), {})
    const parts: Uint8Array[] = []
    for await (const part of source?.open(never) ?? []) parts.push(Buffer.from(part))
    expect(Buffer.concat(parts)).toEqual(expected)
    for (const size of [1, 2, 3, 7, 9, 100]) {
      const result = await decoded(chunks(await readFile(fixture(name)), size))
      expect(result).toMatchObject({ bytes: expected, code: undefined })
    }
  })

  test('is not assumed by name; what is plain stays as it is', async () => {
    for (const text of ['', '{', '(', '(\u00b5', '{"a":1}\n', '\u001f', '\u001f{']) {
      for (const size of [1, 100]) expect((await decoded(chunks(Buffer.from(text), size))).bytes.toString()).toBe(text)
    }
    expect((await decoded(chunks(Buffer.from('{"a":1}\n')), 'x.gz')).bytes.toString()).toBe('{"a":1}\n')
  })

  test('takes many members, empty ones, and zeros behind the last one', async () => {
    const members = Buffer.concat(['{"a":1}\n', '', '{"b":2}\n', rows, '{"c":3}\n'].map(text => gzipSync(text)))
    const expected = `{"a":1}\n{"b":2}\n${rows}{"c":3}\n`
    for (const padding of [0, 1, 512, 100_000]) {
      const padded = Buffer.concat([members, Buffer.alloc(padding)])
      for (const size of [1000, 1 << 20]) {
        const result = await decoded(chunks(padded, size))
        expect(result.code).toBe(undefined)
        expect(result.bytes.toString() === expected).toBe(true)
      }
    }
  })

  test('data behind zeros is told, wherever it stands', { tags: 'long' }, async () => {
    const first = gzipSync('{"a":1}\n')
    const more = gzipSync('{"b":2}\n')
    for (const zeros of [1, 2, 7, 512, 70_000]) {
      for (const behind of [more, Buffer.from('x'), Buffer.concat([Buffer.alloc(9), Buffer.from([1])])]) {
        for (const size of [1, 8, first.length, first.length + 1, 1000, 1 << 20]) {
          const { bytes, code, message } = await decoded(
            chunks(Buffer.concat([first, Buffer.alloc(zeros), behind]), size),
          )
          expect([bytes.toString(), code]).toEqual(['{"a":1}\n', 'INPUT_UNREADABLE'])
          expect(message).toContain('after 8 decoded bytes')
        }
      }
    }
  })

  test('yields chunks of up to 1 MiB', async () => {
    const { bytes, parts } = await decoded(chunks(gzipSync(Buffer.alloc(20 << 20))))
    expect(bytes.length).toBe(20 << 20)
    expect(Math.max(...parts.map(part => part.length))).toBe(1 << 20)
  })

  test('cut anywhere, yields all that can be decoded and then says so', { tags: 'long' }, async () => {
    const whole = Buffer.concat([gzipSync('{"a":1}\n{"b":2}\n'), gzipSync('{"c":3}\n')])
    const end = gzipSync('{"a":1}\n{"b":2}\n').length
    for (let cut = 2; cut < whole.length; cut++) {
      const part = whole.subarray(0, cut)
      for (const size of [1, 1000]) {
        const { bytes, code, evidence } = await decoded(chunks(part, size))
        const expected = decodable(part)
        expect({ cut, text: bytes.toString() }).toEqual({ cut, text: expected.toString() })
        expect({ cut, code }).toEqual({ cut, code: cut === end ? undefined : 'INPUT_TRUNCATED' })
        if (cut !== end) expect(evidence).toEqual({ input: 'x', encoding: 'gzip', bytes: expected.length })
      }
    }
  })

  test('cut anywhere in a large file, too', { tags: 'long' }, async () => {
    for (const data of [Buffer.from(rows), Buffer.alloc(8 << 20, 'a'), randomBytes(300_000)]) {
      const whole = gzipSync(data)
      for (const cut of [
        10,
        11,
        1000,
        1033,
        whole.length >> 2,
        whole.length >> 1,
        whole.length - 9,
        whole.length - 8,
        whole.length - 1,
      ]) {
        if (cut >= whole.length) continue
        const { bytes, code } = await decoded(chunks(whole.subarray(0, cut), 64 << 10))
        expect(bytes.equals(decodable(whole.subarray(0, cut)))).toBe(true)
        expect(code).toBe('INPUT_TRUNCATED')
      }
    }
  })

  test('a slow consumer gets all of a truncated file', async () => {
    const cut = gzipSync(rows).subarray(0, -30)
    let length = 0
    const reading = async () => {
      for await (const part of decompress(chunks(cut, 1000), 'x')) {
        length += part.length
        for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
      }
    }
    await expect(reading()).rejects.toMatchObject({ code: 'INPUT_TRUNCATED' })
    expect(length).toBe(decodable(cut).length)
  })

  test('a name in .gz promises gzip: one byte of it is a truncated file, and no byte is an empty file', async () => {
    const { code, evidence } = await decoded(chunks(Uint8Array.of(0x1f)), 'x.ndjson.gz')
    expect({ code, evidence }).toEqual({
      code: 'INPUT_TRUNCATED',
      evidence: { input: 'x.ndjson.gz', encoding: 'gzip', bytes: 0 },
    })
    for (const name of ['x.ndjson.gz', 'x.ndjson.br'])
      expect(await decoded(chunks(new Uint8Array(0)), name)).toMatchObject({ code: undefined })
  })

  test('a wrong checksum is told after all of the data', async () => {
    for (const from of [8, 4]) {
      const bad = gzipSync(rows)
      bad[bad.length - from] = (bad[bad.length - from] ?? 0) ^ 1
      for (const size of [1001, 1 << 20]) {
        const { bytes, code, message } = await decoded(chunks(bad, size))
        expect(bytes.toString() === rows).toBe(true)
        expect(code).toBe('INPUT_UNREADABLE')
        expect(message).toMatch(
          /^cannot read x: its gzip data is corrupt \(incorrect (data|length) check\) after \d+ decoded bytes$/,
        )
      }
    }
  })

  test('data that is damaged in the middle is told after most of what came before', async () => {
    const good = gzipSync(Buffer.concat([Buffer.from(rows), randomBytes(4 << 20)]))
    const bad = Buffer.from(good)
    bad.fill(0xff, good.length >> 1, (good.length >> 1) + 100)
    const { bytes, code } = await decoded(chunks(bad))
    expect(bytes.subarray(0, rows.length).toString() === rows).toBe(true)
    expect(code).toBe('INPUT_UNREADABLE')
  })

  test('rubbish behind the last member is told', async () => {
    const { bytes, code } = await decoded(chunks(Buffer.concat([gzipSync(rows), Buffer.from('this is no gzip')])))
    expect(code).toBe('INPUT_UNREADABLE')
    expect(bytes.length).toBeGreaterThan(0)
  })

  test("passes the source's own error on after what came before", async () => {
    const gone = new Error('the disk is gone')
    async function* broken() {
      yield gzipSync('{"a":1}\n'.repeat(1000)).subarray(0, -4)
      throw gone
    }
    const parts: string[] = []
    const reading = async () => {
      for await (const part of decompress(broken(), 'x')) parts.push(Buffer.from(part).toString())
    }
    await expect(reading()).rejects.toBe(gone)
    expect(parts.join('') === '{"a":1}\n'.repeat(1000)).toBe(true)
  })

  test('closes the source when the consumer stops early, and reads no further than it has to', async () => {
    let read = 0
    let closed = false
    const compressed = gzipSync(randomBytes(8 << 20))
    async function* counted() {
      try {
        for await (const chunk of chunks(compressed, 64 << 10)) {
          read += chunk.length
          yield chunk
        }
      } finally {
        closed = true
      }
    }
    for await (const part of decompress(counted(), 'x')) if (part.length > 0) break
    await until(() => closed)
    expect(read).toBeLessThanOrEqual(128 << 10)
  })

  test('does not wait for bytes that a consumer no longer wants', async () => {
    let bytesCome = () => {}
    let closed = false
    async function* live() {
      try {
        yield gzipSync('{"a":1}\n').subarray(0, -3)
        await new Promise<void>(resolve => (bytesCome = resolve))
      } finally {
        closed = true
      }
    }
    for await (const part of decompress(live(), 'x')) if (part.length > 0) break
    expect(closed).toBe(false)
    bytesCome()
    await until(() => closed)
  })

  test.each(['the consumer stops early', 'the data is corrupt'])('closes a stored file to the end if %s', async why => {
    const compressed = gzipSync(randomBytes(64 << 10))
    if (why === 'the data is corrupt') compressed.fill(0xff, 8 << 10)
    let closed = false
    async function* stored() {
      try {
        yield* chunks(compressed, 4 << 10)
      } finally {
        // A read under way fills memory that the next input gets.
        await new Promise<void>(resolve => setImmediate(resolve))
        closed = true
      }
    }
    const reading = async () => {
      for await (const part of decodedFrom('x', 'x', 0, stored))
        if (why === 'the consumer stops early' && part.length > 0) break
    }
    await reading().catch(() => undefined)
    expect(closed).toBe(true)
  })

  test('decodes the next part while the consumer has one', async () => {
    const compressed = gzipSync(randomBytes(64 << 10))
    let read = 0
    async function* counted() {
      for await (const chunk of chunks(compressed, 512)) {
        read += chunk.length
        yield chunk
      }
    }
    let length = 0
    for await (const part of decompress(counted(), 'x')) {
      // The first chunk was enough for this part.
      if (length === 0) await until(() => read > 512)
      length += part.length
    }
    expect(length).toBe(64 << 10)
  })

  test('frees the memory of a chunk when the consumer is done with it, and not before', async () => {
    const text = Buffer.alloc(5 << 20, 'abcdefg\n')
    const parts: Uint8Array[] = []
    for await (const part of decompress(chunks(gzipSync(text)), 'x')) {
      expect(part.length).toBeGreaterThan(0)
      parts.push(part)
    }
    expect(parts.length).toBeGreaterThan(4)
    expect(parts.map(({ buffer }) => buffer.byteLength)).toEqual(parts.map(() => 0))
  })
})
