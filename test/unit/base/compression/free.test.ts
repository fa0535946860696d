import { markAsUntransferable } from 'node:worker_threads'
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { free } from '../../../../src/base/memory.js'
import { gunzip, inflateRaw, unbrotli } from '../../../../src/base/compression/inflate.js'

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

interface Codec {
  readonly name: string
  readonly compress: (bytes: Buffer) => Buffer
  readonly decode: typeof gunzip
}

const codecs: readonly Codec[] = [
  { name: 'gzip', compress: bytes => gzipSync(bytes), decode: gunzip },
  { name: 'brotli', compress: bytes => brotliCompressSync(bytes), decode: unbrotli },
  { name: 'deflate', compress: bytes => deflateRawSync(bytes), decode: inflateRaw },
]

/** The memory of a whole input, and its decoder. */
function decoding({ compress, decode }: Codec) {
  const memory = new ArrayBuffer(1 << 17)
  const compressed = compress(Buffer.alloc(20 << 20))
  const input = new Uint8Array(memory, 0, compressed.length)
  input.set(compressed)
  const chunks = (async function* () {
    yield await Promise.resolve(input)
  })()
  return { memory, output: decode(chunks, 'the test') }
}

test.each(codecs)('a decoder of $name that was closed may still read its input: it is not freed', async codec => {
  const { memory, output } = decoding(codec)
  // The later slices make several pieces of output each.
  for (let piece = 0; piece < 4; piece += 1) await output.next()
  await output.return(undefined)
  free(memory)
  expect(memory.byteLength).toBe(1 << 17)
})

test.each(codecs)('the input of a decoder of $name that has read all is free at once', async codec => {
  const { memory, output } = decoding(codec)
  for await (const _ of output);
  free(memory)
  expect(memory.byteLength).toBe(0)
})
