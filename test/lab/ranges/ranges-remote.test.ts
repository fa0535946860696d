// @module-tag long
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { gzipSync } from 'node:zlib'
import { type FoundInput, ingestRanges, type RangeOptions } from '../../../src/ingest-ranges.js'
import { ObjectServer, serve } from '../../support/servers/object-server.js'
import { cutInto, failed, foundInputs, numbered, whole } from '../../support/load/ranges.js'
import { index, lab, shareLab, way } from '../../support/lab/shared-lab.js'

shareLab()
let server: ObjectServer
beforeAll(async () => {
  server = await ObjectServer.start()
})
afterAll(async () => await server[Symbol.asyncDispose]())
beforeEach(() => {
  server.objects.clear()
  server.asked = []
  server.fault = undefined
  server.hasRanges = true
})

const options = () => ({ ...way(), index, deadLetters: false as const, concurrency: 1 })

async function found(name: string, cutFrom = 1): Promise<FoundInput> {
  const [input] = await foundInputs({ ...options(), source: server.url(name) }, cutFrom)
  if (input === undefined) throw new Error('nothing found')
  return input
}

/** So long that it comes in several parts. */
const long = Array.from({ length: 360 }, (_, n) => `{"n":${n},"fill":"${'x'.repeat(50_000)}"}\n`).join('')

const load = async (ranges: Parameters<typeof ingestRanges>[1]['ranges'], more: Partial<RangeOptions> = {}) =>
  await ingestRanges({ ...options(), ...more }, { run: 'job', ranges })

describe('ranges of an object on a server', () => {
  test('hold each line once, and ask for little beside their bytes', async () => {
    const text = numbered(300)
    server.put('a.ndjson', text)
    const input = await found('a.ndjson')
    expect(input).toMatchObject({ name: server.url('a.ndjson'), size: text.length, canBeCut: true })
    server.asked = []
    const ranges = cutInto(input, 3000)
    expect(await load(ranges)).toMatchObject({ status: 'finished', created: 300, read: 300 })
    // No request finds the object again, and each range is one or two.
    expect(server.ranges('a.ndjson').length).toBeLessThanOrEqual(2 * ranges.length)
    expect(server.ranges('a.ndjson')[0]).toBe('bytes=0-2999')
    expect(await load(cutInto(input, 701))).toMatchObject({ created: 0, duplicate: 300 })
    expect(await load([whole(input)])).toMatchObject({ created: 0, duplicate: 300 })
    expect(lab.control.count(index)).toBe(300)
    expect(lab.control.ids(index).map(id => Number(id.split('-')[1]))).toEqual(
      [...text.matchAll(/^(?=.)/gm)].map(({ index: at }) => at),
    )
  })

  test('fetch large parts ahead, all of the same object', async () => {
    server.put('a.ndjson', long)
    const input = await found('a.ndjson')
    server.asked = []
    const { read } = await load([{ ...whole(input), from: 1000, to: 13_000_000 }])
    const starts = [...long.matchAll(/^(?=.)/gm)].map(({ index: at }) => at)
    expect(read).toBe(starts.filter(at => at >= 1000 && at < 13_000_000).length)
    const [first, ...others] = server.asked
    expect(first?.headers['if-match']).toBeUndefined()
    expect(others.length).toBeGreaterThan(2)
    // The end of the last line is one more answer, and its ETag is compared.
    for (const { headers } of others.slice(0, -1)) expect(headers['if-match']).toBeDefined()
  })

  test('of an object that was replaced fail and are named, and others are loaded', async () => {
    server.put('a.ndjson', numbered(50))
    server.put('b.ndjson', numbered(50))
    server.put('c.ndjson.gz', gzipSync(numbered(50)))
    const inputs = await Promise.all(['a.ndjson', 'b.ndjson', 'c.ndjson.gz'].map(async name => await found(name)))
    // Of the same length.
    server.put('b.ndjson', numbered(50).replaceAll('x', 'y'))
    server.put('c.ndjson.gz', gzipSync(numbered(60)))
    const ranges = inputs.flatMap(input => [...(input.canBeCut ? cutInto(input, 1000) : []), whole(input)])
    const { code, message, receipt } = await failed(load(ranges))
    expect(code).toBe('INPUT_REPLACED')
    expect(message).toContain(server.url('b.ndjson'))
    // Ranges of the first one, and then all of it.
    expect(receipt).toMatchObject({ created: 50, duplicate: 50, read: 100 })
    expect(receipt.inputs.map(({ status, failure }) => failure?.code ?? status)).toEqual(
      ranges.map(({ name }) => (name === server.url('a.ndjson') ? 'finished' : 'INPUT_REPLACED')),
    )
  })

  test('of an object that is replaced while it is read fail by If-Match', async () => {
    server.put('a.ndjson', long)
    const input = await found('a.ndjson')
    server.fault = ({ headers }, response, object) => {
      if (headers['if-match'] === undefined || object === undefined) return false
      serve({ ...object, etag: '"another"' }, headers, response)
      return true
    }
    const { code, receipt } = await failed(load([{ ...whole(input), from: 0, to: long.length }]))
    expect(code).toBe('INPUT_REPLACED')
    expect(receipt).toMatchObject({ unsent: 0, inputs: [{ status: 'failed' }] })
    expect(receipt.created).toBeGreaterThan(0)
    expect(lab.control.count(index)).toBe(receipt.created)
  })

  test('of an object that was removed fail alone', async () => {
    server.put('a.ndjson', numbered(50))
    server.put('b.ndjson', numbered(50))
    const [a, b] = [await found('a.ndjson'), await found('b.ndjson')]
    server.objects.delete('/a.ndjson')
    const { code, receipt } = await failed(load([...cutInto(a, 5000), ...cutInto(b, 5000)]))
    expect(code).toBe('INPUT_NOT_FOUND')
    expect(receipt.created).toBe(50)
  })

  test('are not made of an object without a version or without ranges, which is known by its time', async () => {
    server.put('a.ndjson', numbered(50), { etag: '' })
    const weak = await found('a.ndjson')
    expect(weak.canBeCut).toBe(false)
    expect(await load([whole(weak)])).toMatchObject({ created: 50 })
    expect(await load([whole(weak)])).toMatchObject({ duplicate: 50 })
    server.put('a.ndjson', numbered(50), { etag: '', modified: new Date(1_800_000_000_000) })
    expect(await failed(load([whole(weak)]))).toMatchObject({ code: 'INPUT_REPLACED', receipt: { read: 0 } })
    server.put('b.ndjson', numbered(50))
    server.hasRanges = false
    const single = await found('b.ndjson')
    expect(single.canBeCut).toBe(false)
    expect(await load([whole(single)])).toMatchObject({ created: 50 })
    server.objects.set('/c.ndjson', { bytes: Buffer.from(numbered(5)), etag: '' })
    expect(await failed(found('c.ndjson'))).toMatchObject({ code: 'INPUT_UNREADABLE' })
  })

  test('are not made of an object that the server sends with an encoding', async () => {
    server.put('a.ndjson', gzipSync(numbered(500)), { headers: { 'content-encoding': 'gzip' } })
    const input = await found('a.ndjson')
    expect(input.canBeCut).toBe(false)
    expect(await load([whole(input)])).toMatchObject({ created: 500 })
    const { code, message } = await failed(load(cutInto(input, 500).slice(1, 2)))
    expect(code).toBe('INPUT_MALFORMED')
    expect(message).toContain('Content-Encoding')
  })

  test('are not planned by a URL with a secret, which every worker would need', async () => {
    server.put('a.ndjson', numbered(5))
    const url = new URL(server.url('a.ndjson'))
    url.username = 'me'
    url.password = 'hunter2'
    for (const source of [url.href, `${server.url('a.ndjson')}?X-Amz-Signature=hunter2`]) {
      const { code, message } = await failed(foundInputs({ ...options(), source }))
      expect(code).toBe('OPTION_INVALID')
      expect(message).toContain(server.url('a.ndjson'))
      expect(message).not.toContain('hunter2')
    }
  })
})
