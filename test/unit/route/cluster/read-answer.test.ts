import { Readable } from 'node:stream'
import { deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
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
})
