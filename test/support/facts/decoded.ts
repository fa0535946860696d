import { decompress } from '../../../src/base/compression/decompress.js'
import { isSluiceError } from '../../../src/base/failure/failure.js'

/** Chunks that are overwritten when the next one is asked for, as a source may do. */
export async function* chunks(bytes: Uint8Array, size = 1 << 20): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    const chunk = Buffer.from(bytes.subarray(from, from + size))
    yield chunk
    chunk.fill('!')
  }
}

/** Returns all that could be decoded, and the failure that came after it. */
export async function decoded(bytes: AsyncIterable<Uint8Array>, name = 'x') {
  const parts: Buffer[] = []
  let error: unknown
  try {
    for await (const part of decompress(bytes, name)) parts.push(Buffer.from(part))
  } catch (thrown) {
    error = thrown
  }
  if (error !== undefined && !isSluiceError(error)) throw new Error('not one of ours', { cause: error })
  return {
    bytes: Buffer.concat(parts),
    code: error?.code,
    message: error?.message ?? '',
    evidence: error?.failure.evidence,
    parts,
  }
}
