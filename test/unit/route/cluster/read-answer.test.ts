import { Readable } from 'node:stream'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { parseObject } from '../../../../src/base/json/parse-json.js'
import { readAnswer } from '../../../../src/route/cluster/read-answer.js'

const LIMIT = 1 << 20

async function read(bytes: Buffer, headers: Record<string, string> = {}, limit = LIMIT) {
  return await readAnswer({ statusCode: 200, headers, body: Readable.from([bytes]) }, limit, 'https://cluster.example')
}

const gzip = { 'content-encoding': 'gzip' }
const refused = (observed: string) => ({
  code: 'ANSWER_UNREADABLE',
  delivery: 'possible',
  failure: { code: 'CLUSTER_UNAVAILABLE', evidence: { observed: expect.stringContaining(observed) as string } },
})

describe('an answer', () => {
  test('is decompressed, and knows its bytes on the wire', async () => {
    const text = Buffer.from('{"items":[]}'.repeat(1000))
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(text)],
      ['GZIP', gzipSync(text)],
      ['x-gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['identity', text],
    ] as const) {
      const answer = await read(bytes, { 'content-encoding': encoding })
      expect(answer.body.equals(text)).toBe(true)
      expect(answer.wireBytes).toBe(bytes.length)
    }
    expect((await read(Buffer.alloc(0), gzip)).body).toHaveLength(0)
  })

  test('that is too long is refused by its name, before and after decompression', async () => {
    expect(await read(Buffer.alloc(LIMIT))).toMatchObject({ wireBytes: LIMIT })
    await expect(read(Buffer.alloc(LIMIT + 1))).rejects.toMatchObject(refused('a body of more than 1,048,576 bytes'))
    const long = gzipSync(Buffer.alloc(LIMIT + 1))
    await expect(read(long, gzip)).rejects.toMatchObject(refused('a body of more than 1,048,576 bytes'))
  })

  test('that inflates to gigabytes takes no more memory than its limit', async () => {
    const member = gzipSync(Buffer.alloc(32 << 20))
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member))
    const before = process.memoryUsage().rss
    await expect(read(bomb, gzip, 16 << 20)).rejects.toMatchObject(refused('more than 16,777,216 bytes'))
    expect(process.memoryUsage().rss - before).toBeLessThan(256 << 20)
  })

  test('that cannot be decompressed is refused by its name, with what is known of its sender', async () => {
    const whole = gzipSync(Buffer.alloc(1000, 'x'))
    for (const broken of [Buffer.from('<html>'), whole.subarray(0, -9)]) {
      const answer = read(broken, { ...gzip, server: 'nginx' })
      await expect(answer).rejects.toMatchObject(
        refused('status 200, server: nginx, a body that cannot be decompressed'),
      )
    }
  })

  describe('that quotes the request', () => {
    const quotedBytes = 32 << 20
    const readQuoting = async (pieces: readonly Buffer[], headers = {}, limit = LIMIT) =>
      await readAnswer(
        { statusCode: 200, headers, body: Readable.from(pieces) },
        limit,
        'https://cluster.example',
        quotedBytes,
      )
    const answerWith = (value: string) =>
      Buffer.from(
        JSON.stringify({ errors: true, items: [{ create: { error: { reason: `a ${value}` }, status: 400 } }] }),
      )

    test('is read to its end, its long texts are cut between characters, and it stays JSON wherever its pieces end', async () => {
      for (const value of ['x', 'é', '😀', '"', '\\', '\u0001']) {
        const answer = answerWith(value.repeat(6000))
        const text = JSON.stringify(`a ${value.repeat(6000)}`)
        const whole = `… (${(Buffer.byteLength(text) - 2).toLocaleString('en-US')} bytes)`
        for (const size of [7, 4096, answer.length]) {
          const pieces = Array.from({ length: Math.ceil(answer.length / size) }, (_, at) =>
            answer.subarray(at * size, (at + 1) * size),
          )
          const { body, wireBytes } = await readQuoting(pieces, {}, 4096)
          expect(wireBytes).toBe(answer.length)
          const kept = parseObject(body) as unknown as {
            items: [{ create: { error: { reason: string }; status: number } }]
          }
          const { status, error } = kept.items[0].create
          expect(status).toBe(400)
          expect(error.reason.endsWith(whole)).toBe(true)
          expect(error.reason.slice(0, -whole.length)).toBe(
            `a ${value.repeat(6000)}`.slice(0, error.reason.length - whole.length),
          )
        }
      }
    })

    test('is read to its end also if it is compressed, on the wire short or long', async () => {
      const flat = answerWith('x'.repeat(12 << 20))
      const mixed = answerWith(Array.from({ length: 1 << 18 }, (_, n) => (n * 2654435761).toString(36)).join())
      for (const [answer, limit] of [
        [flat, LIMIT],
        [mixed, 4096],
      ] as const) {
        const bytes = gzipSync(answer)
        const { body, wireBytes } = await readQuoting([bytes.subarray(0, 5000), bytes.subarray(5000)], gzip, limit)
        expect(wireBytes).toBe(bytes.length)
        expect(parseObject(body)).toMatchObject({ items: [{ create: { status: 400 } }] })
        expect(body.length).toBeLessThan(2000)
      }
    })

    test('within its limit stays as it is', async () => {
      const answer = answerWith('x'.repeat(100_000))
      expect((await readQuoting([answer])).body.equals(answer)).toBe(true)
    })

    test('has a failure of its own if it is longer than any quotation, or if its short texts are too long together', async () => {
      const tooLong = { code: 'ANSWER_UNREADABLE', delivery: 'possible', failure: { code: 'CLUSTER_ANSWER_TOO_LONG' } }
      const endless = Array.from({ length: 40 }, () => Buffer.alloc(1 << 20, 'x'))
      await expect(readQuoting([Buffer.from('{"a":"'), ...endless])).rejects.toMatchObject(tooLong)
      await expect(readQuoting([gzipSync(Buffer.concat(endless))], gzip)).rejects.toMatchObject(tooLong)
      await expect(readQuoting([Buffer.from('["x",'.repeat(300_000))])).rejects.toMatchObject(tooLong)
      await expect(
        readQuoting([gzipSync(answerWith('x'.repeat(2 << 20))).subarray(0, -9)], gzip),
      ).rejects.toMatchObject(refused('a body that cannot be decompressed'))
    })
  })
})
