import { markAsUntransferable } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { free } from '../../../src/compression/free.js'

test('memory is free at once', () => {
  const memory = new ArrayBuffer(Buffer.poolSize + 1)
  free(memory)
  expect(memory.byteLength).toBe(0)
})

// In Node 26, small buffers come from such a pool, and to give it away is an error. Node 20 ignores that.
test('memory that Node keeps for small buffers stays', () => {
  const pool = new ArrayBuffer(Buffer.poolSize + 64)
  markAsUntransferable(pool)
  free(pool)
  expect(pool.byteLength).toBe(Buffer.poolSize + 64)
})
