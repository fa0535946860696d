import { gunzip, gunzipSync, type ZlibOptions } from 'node:zlib'

const MAGIC = 0x1f8b
const FEWEST_BYTES = 18
/** Up to this many decoded bytes, a turn of zlib's threads costs more than the decoding. */
const NOW_BYTES = 64 << 10
const LEAST_CHUNK_BYTES = 1024

/**
 * Decodes a whole file in gzip at once: by pieces, a small one costs several times as much. Resolves to undefined if it is not gzip, if it
 * has a fault, or if more comes out than expected, or than `most` bytes: `decompress` decodes as far as it can, and says why.
 */
export async function gunzipWhole(file: Buffer, most: number): Promise<Buffer | undefined> {
  if (file.length < FEWEST_BYTES || file.readUInt16BE(0) !== MAGIC) return undefined
  // If it has several members, this is the size of the last one.
  const size = file.readUInt32LE(file.length - 4)
  if (size > most) return undefined
  const isNow = size <= NOW_BYTES
  const maxOutputLength = isNow ? Math.min(most, NOW_BYTES) : most
  // With one byte more, zlib sees that nothing is missing.
  const options = { chunkSize: Math.max(LEAST_CHUNK_BYTES, size + 1), maxOutputLength, info: true }
  try {
    const { buffer, engine } = isNow ? decodedNow(file, options) : await decodedInThread(file, options)
    return engine.bytesWritten === file.length ? buffer : undefined
  } catch {
    return undefined
  }
}

/** The result of zlib with `info`. Its types do not know it. */
interface Decoded {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function decodedNow(file: Buffer, options: ZlibOptions): Decoded {
  return gunzipSync(file, options) as unknown as Decoded
}

async function decodedInThread(file: Buffer, options: ZlibOptions): Promise<Decoded> {
  return await new Promise((resolve, reject) => {
    gunzip(file, options, (error, decoded) => {
      if (error === null) resolve(decoded as unknown as Decoded)
      else reject(error)
    })
  })
}
