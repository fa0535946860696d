import { gunzip } from 'node:zlib'

const MAGIC = 0x1f8b
const FEWEST_BYTES = 18

/**
 * Decodes a whole file in gzip at once, which takes zlib's threads two turns and not a dozen. Resolves to undefined if it is not gzip,
 * if it has a fault, or if more than `most` bytes come out: `decompress` decodes as far as it can, and says why.
 */
export async function gunzipWhole(file: Buffer, most: number): Promise<Buffer | undefined> {
  if (file.length < FEWEST_BYTES || file.readUInt16BE(0) !== MAGIC) return undefined
  // If it has several members, this is the size of the last one.
  const size = file.readUInt32LE(file.length - 4)
  if (size > most) return undefined
  // With one byte more, zlib sees that nothing is missing.
  const options = { chunkSize: Math.max(LEAST_CHUNK_BYTES, size + 1), maxOutputLength: most, info: true }
  return await new Promise(resolve => {
    gunzip(file, options, (error, result) => {
      // The types know nothing of `info`.
      const { buffer, engine } = (result ?? {}) as unknown as Partial<Decoded>
      resolve(error === null && engine?.bytesWritten === file.length ? buffer : undefined)
    })
  })
}

const LEAST_CHUNK_BYTES = 1024

interface Decoded {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}
