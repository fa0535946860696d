import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Gzip } from '../../../../src/route/gzip/gzip.js'
import { GzipThread } from '../../../../src/route/gzip/gzip-thread.js'
import { openGzipKernel } from '../../../../src/route/gzip/kernel/kernel.js'

const kernel = openGzipKernel() ?? expect.unreachable('this machine has no kernel')
const bodies = Array.from({ length: 12 }, (_, at) => Buffer.alloc(at * 400_000 + 5, `{"body":${at}}\n`))

async function expectAll(gzip: Gzip): Promise<void> {
  const files = await Promise.all(bodies.map(async body => await gzip.gzip(body)))
  for (const [at, { bytes }] of files.entries())
    expect(gunzipSync(bytes).equals(bodies[at] ?? Buffer.alloc(0))).toBe(true)
  for (const { release } of files) release()
}

test.each([0, 1, 3])('with %i threads, each body gets its own file', async mostThreads => {
  const threads: GzipThread[] = []
  const openThread = () => threads[threads.push(new GzipThread()) - 1] as GzipThread
  await expectAll(new Gzip(kernel, { mostThreads, bytesBeforeThreads: 0, openThread }))
  expect(threads).toHaveLength(mostThreads)
  for (const thread of threads) thread.close()
})

test('memory is used again only after it was given back', async () => {
  const gzip = new Gzip(kernel, { mostThreads: 0 })
  const [body, other] = [Buffer.from('one'), Buffer.from('two')]
  const kept = await gzip.gzip(body)
  const second = await gzip.gzip(other)
  second.release()
  const third = await gzip.gzip(other)
  expect(third.bytes.buffer).toBe(second.bytes.buffer)
  expect([gunzipSync(kept.bytes), gunzipSync(third.bytes)]).toEqual([body, other])
})

test('a short load starts no thread', async () => {
  const openThread = () => expect.unreachable('it started a thread')
  await expectAll(new Gzip(kernel, { mostThreads: 1, bytesBeforeThreads: 100_000_000, openThread }))
})

test('if no thread can be started, the bodies are compressed here', async () => {
  const openThread = () => {
    throw new Error('not allowed')
  }
  await expectAll(new Gzip(kernel, { mostThreads: 1, bytesBeforeThreads: 0, openThread }))
})

test('if a thread ends, its body is compressed elsewhere, and another thread starts', async () => {
  let started = 0
  const openThread = () => {
    const thread = new GzipThread()
    started += 1
    // It ends while it has a body.
    if (started < 3) setImmediate(() => thread.close())
    return thread
  }
  await expectAll(new Gzip(kernel, { mostThreads: 1, bytesBeforeThreads: 0, openThread }))
  expect(started).toBeGreaterThan(1)
})
