/** Checks the pages of columns, and decodes them. */
import type { ColumnMetaData, Compressors } from 'hyparquet'
import { compressors as plain } from 'hyparquet-compressors'
import { parquetHeader } from 'hyparquet/src/column.js'
import * as zlib from 'node:zlib'

/** A page is decoded as a whole. Writers make pages of about 1 MiB. */
const MOST_PAGE_BYTES = 256 << 20
const MOST_PAGE_VALUES = 16 << 20

/**
 * Checks the pages of a column in a row group before they are decoded. A few bytes may stand for very many values, and the header of each
 * page says how much memory it takes. Throws Error if the pages are damaged, or too large.
 */
export function checkPages(chunk: Buffer, { num_values: stated }: ColumnMetaData): void {
  const reader = { view: new DataView(chunk.buffer, chunk.byteOffset, chunk.length), offset: 0 }
  let values = 0
  while (values < stated) {
    const header = parquetHeader(reader)
    const { type, compressed_page_size: stored, uncompressed_page_size: bytes, crc } = header
    const end = reader.offset + stored
    if (!(stored >= 0 && bytes >= 0) || end > chunk.length) throw new Error('a page ends behind its column')
    const page = header.data_page_header ?? header.data_page_header_v2 ?? header.dictionary_page_header
    const inPage = page?.num_values ?? 0
    if (inPage < 0) throw new Error('a page has no count of its values')
    if (bytes > MOST_PAGE_BYTES || inPage > MOST_PAGE_VALUES)
      throw new Error(`a page is too large: ${bytes} bytes, ${inPage} values. Write it with smaller pages`)
    if (crc !== undefined && zlib.crc32(chunk.subarray(reader.offset, end)) !== crc >>> 0)
      throw new Error('the checksum of a page is wrong')
    if (type !== 'DICTIONARY_PAGE') values += inPage
    reader.offset = end
  }
  if (BigInt(values) !== stated) throw new Error('its pages hold more values than its directory says')
}

/** Node 22.15 and newer have it. */
const { zstdDecompressSync } = zlib as {
  zstdDecompressSync?: (input: Uint8Array, options: zlib.ZlibOptions) => Uint8Array
}

/** Decoders of Node in place of those of the package: they are several times as fast. No page becomes longer than its header says. */
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
