import { describe, expect, test } from 'vitest'
import type { Batch } from '../../../../../src/base/flow.js'
import { spread } from '../../../../../src/route/sender/layers/within-limits.js'
import { TokenBucket } from '../../../../../src/route/sender/layers/limits.js'
import type { BulkRequest, Send } from '../../../../../src/route/sender/send.js'
import { HeldClock } from '../../../../support/load/held-clock.js'
import { batchOf } from '../../../../support/load/sender-batch.js'

const done = { kind: 'done', settled: {} } as never
const going = new AbortController().signal

async function settle(): Promise<void> {
  await new Promise(resolve => setImmediate(resolve))
}

interface World {
  readonly clock: HeldClock
  readonly bucket: TokenBucket
  /** Bytes on the wire. */
  wire: number
  /** When each request passed, in milliseconds. */
  readonly passed: number[]
  send(bytes: number, batch: Batch, halted?: AbortSignal): Promise<unknown>
  until(ms: number): Promise<void>
}

/** Requests cost what they weigh, unless `heavy` says more. */
function world(counts: 'bytes' | 'documents', perSecond: () => number, heavy = (bytes: number) => bytes): World {
  const clock = new HeldClock()
  const bucket = new TokenBucket({ counts, perSecond, clock })
  const passed: number[] = []
  const one: World = {
    clock,
    bucket,
    wire: 0,
    passed,
    send: async (bytes, batch, halted = going) => {
      const inner: Send = async () => {
        passed.push(clock.now())
        one.wire += heavy(bytes)
        return await Promise.resolve(done)
      }
      const request = { body: { bytes: Buffer.alloc(bytes), items: 1, first: 0 }, batch } as unknown as BulkRequest
      return await spread([bucket], halted, inner)(request)
    },
    until: async ms => {
      for (; clock.now() < ms; clock.advance(1)) await settle()
      await settle()
    },
  }
  bucket.meter(() => one.wire)
  return one
}

const batch = await batchOf(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])

describe('bytes per second', () => {
  test('let one request pass at once, and each later one when those before it are paid for', async () => {
    const one = world('bytes', () => 1000)
    const sending = [100, 200, 300, 400].map(async bytes => await one.send(bytes, batch))
    await settle()
    expect(one.passed).toEqual([0])
    await one.until(700)
    await Promise.all(sending)
    expect(one.passed).toEqual([0, 100, 300, 600])
  })

  test('count answers, headers and retries of the same batch', async () => {
    const one = world(
      'bytes',
      () => 1000,
      bytes => bytes * 3,
    )
    void one.send(100, batch)
    await settle()
    void one.send(100, batch)
    await one.until(400)
    expect(one.passed).toEqual([0, 300])
  })

  test('never count bytes that are under way twice', async () => {
    const one = world(
      'bytes',
      () => 1000,
      () => 0,
    )
    void one.send(500, batch)
    await settle()
    // The first half of the request is on the wire when the next one asks.
    one.wire = 250
    void one.send(500, batch)
    await one.until(300)
    one.wire = 500
    await one.until(600)
    expect(one.passed).toEqual([0, 500])
  })

  test('keep no credit for a pause, but for as long as a timer may be late', async () => {
    const one = world('bytes', () => 1000)
    await one.send(100, batch)
    await one.until(60_000)
    void one.send(100, batch)
    void one.send(100, batch)
    void one.send(100, batch)
    await one.until(60_300)
    expect(one.passed.slice(1)).toEqual([60_000, 60_000, 60_100])
  })

  test('do not count what a connection carried before the load', async () => {
    const one = world('bytes', () => 1000)
    one.wire = 5000
    one.bucket.meter(() => one.wire)
    await one.send(100, batch)
    expect(one.passed).toEqual([0])
  })

  test('keep bodies at a second of the limit', () => {
    expect(world('bytes', () => 20_000).bucket.bodyBytes).toBe(20_000)
    expect(world('bytes', () => 10).bucket.bodyBytes).toBe(1000)
    expect(world('documents', () => 10).bucket.bodyBytes).toBe(Infinity)
  })

  test('follow a limit that changes, and none is none', async () => {
    let rate = Infinity
    const one = world('bytes', () => rate)
    for (const _ of [1, 2, 3]) await one.send(1000, batch)
    expect(one.passed).toEqual([0, 0, 0])
    rate = 1000
    void one.send(1000, batch)
    void one.send(1000, batch)
    await one.until(2100)
    expect(one.passed.slice(3)).toEqual([1000, 2000])
  })
})

describe('documents per second', () => {
  test('count each document once, however often it is sent', async () => {
    const one = world('documents', () => 4)
    const other = await batchOf(['{"n":5}'])
    await one.send(100, batch)
    void one.send(100, other)
    await one.until(900)
    expect(one.passed).toEqual([0])
    await one.until(1100)
    expect(one.passed).toEqual([0, 1000])
    // A retry waits until the documents before it are paid for, and costs nothing.
    await one.until(2000)
    for (const _ of [1, 2, 3]) await one.send(100, batch)
    expect(one.passed).toEqual([0, 1000, 2000, 2000, 2000])
  })
})

test('a load that ends waits for nothing', async () => {
  const one = world('bytes', () => 1)
  const ending = new AbortController()
  await one.send(1000, batch)
  const sending = [1, 2, 3].map(async () => await one.send(1000, batch, ending.signal))
  await settle()
  ending.abort()
  await Promise.all(sending)
  // The layer below sends nothing then.
  expect(one.passed).toEqual([0, 0, 0, 0])
})

test('without a limit nothing is added to a request', () => {
  const inner: Send = async () => await Promise.resolve(done)
  expect(spread([], going, inner)).toBe(inner)
})
