import type { Compressors } from 'hyparquet'
import { compressors as plain } from 'hyparquet-compressors'
import * as zlib from 'node:zlib'

/** Node 22.15 and newer have it. */
const { zstdDecompressSync } = zlib as {
  zstdDecompressSync?: (input: Uint8Array, options: zlib.ZlibOptions) => Uint8Array
}

/** What Node decodes itself is decoded several times as fast. No page becomes longer than its header says. */
export const codecs: Compressors = {
  ...plain,
  // The package cannot decode a page of nulls, in which there is nothing.
  LZ4: (input, length) => (length === 0 ? input.subarray(0, 0) : decoded('LZ4', input, length)),
  LZ4_RAW: (input, length) => (length === 0 ? input.subarray(0, 0) : decoded('LZ4_RAW', input, length)),
  GZIP: (input, length) => zlib.gunzipSync(input, sized(length)),
  BROTLI: (input, length) => zlib.brotliDecompressSync(input, sized(length)),
  ...(zstdDecompressSync === undefined
    ? {}
    : { ZSTD: (input: Uint8Array, length: number) => zstdDecompressSync(input, sized(length)) }),
}

function decoded(codec: 'LZ4' | 'LZ4_RAW', input: Uint8Array, length: number): Uint8Array {
  const decode = plain[codec]
  if (decode === undefined) throw new Error(`no decoder of ${codec}`)
  return decode(input, length)
}

const LEAST_CHUNK_BYTES = 1024

function sized(length: number): { readonly maxOutputLength: number; readonly chunkSize: number } {
  const bytes = Math.max(1, length)
  return { maxOutputLength: bytes, chunkSize: Math.max(LEAST_CHUNK_BYTES, bytes) }
}
