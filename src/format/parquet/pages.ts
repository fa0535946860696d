import type { ColumnMetaData } from 'hyparquet'
import { parquetHeader } from 'hyparquet/src/column.js'
import { crc32 } from 'node:zlib'

/** A page is decoded as a whole. Writers make pages of about 1 MiB. */
const MOST_PAGE_BYTES = 256 << 20
const MOST_PAGE_VALUES = 16 << 20

/**
 * Goes through the pages of a column in a row group. A few bytes may stand for very many values, so each page says first how much memory it
 * takes. Throws Error if the pages are damaged, or too large.
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
    if (crc !== undefined && crc32(chunk.subarray(reader.offset, end)) !== crc >>> 0)
      throw new Error('the checksum of a page is wrong')
    if (type !== 'DICTIONARY_PAGE') values += inPage
    reader.offset = end
  }
  if (BigInt(values) !== stated) throw new Error('its pages hold more values than its directory says')
}
