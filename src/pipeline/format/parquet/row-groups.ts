/** Decodes rows of a Parquet file, as many at a time as fit into memory. */
import { type AsyncBuffer, type DecodedArray, type FileMetaData, parquetRead, type RowGroup } from 'hyparquet'
import { getHeapStatistics } from 'node:v8'
import { parsers } from './leaf-writer.js'
import { checkPages, codecs } from './pages.js'

/** Memory that decoded values take beside their bytes, at most. */
const VALUE_BYTES = 40
/** Decoded at a time, if rows can be read in parts. */
const SLICE_BYTES = 128 << 20
const FEWEST_ROWS = 1024
const MOST_CHUNK_BYTES = 1 << 30

/** The values of a column, in their order. */
interface Column {
  next(): unknown
}

interface Slice {
  readonly rows: number
  readonly columns: readonly Column[]
}

export interface Group {
  /** Where its rows begin among those of the file. */
  readonly start: number
  readonly rows: number
  /** Where its bytes end. */
  readonly end: number
  readonly group: RowGroup
}

/** Returns the row groups. Throws Error if their directory makes no sense. */
export function groupsOf({ row_groups: all }: FileMetaData, size: number): Group[] {
  let start = 0
  return all.map(group => {
    const rows = countOf(group.num_rows)
    let end = 0
    for (const { meta_data: meta, file_path: path, crypto_metadata: crypto } of group.columns) {
      if (crypto !== undefined || meta === undefined) throw new Error('it is encrypted')
      if (path !== undefined) throw new Error('its values are in other files')
      const from = countOf(meta.dictionary_page_offset ?? meta.data_page_offset)
      const to = from + countOf(meta.total_compressed_size)
      if (to > size) throw new Error('a column ends behind the file')
      if (to - from > MOST_CHUNK_BYTES) throw new Error('a column of a row group has more than 1 GiB')
      countOf(meta.num_values)
      end = Math.max(end, to)
    }
    const found = { start, rows, end, group }
    start += rows
    return found
  })
}

function countOf(value: bigint): number {
  const count = Number(value)
  if (!Number.isSafeInteger(count) || count < 0) throw new Error('its directory has a wrong count')
  return count
}

/**
 * Yields the rows of a group, in one or more parts. `isFlat`: no column is nested. Others are decoded from the start of their group, so
 * these groups are not cut. Throws Error if the data is damaged, or the group is too large.
 */
export async function* readGroup(
  file: AsyncBuffer,
  metadata: FileMetaData,
  names: readonly string[],
  { start, rows, group }: Group,
  isFlat: boolean,
): AsyncGenerator<Slice> {
  const needed = await checkColumns(file, group)
  const most = getHeapStatistics().heap_size_limit / 2
  const step = isFlat && needed > SLICE_BYTES ? Math.max(FEWEST_ROWS, Math.floor((rows * SLICE_BYTES) / needed)) : rows
  const atOnce = needed * (step / Math.max(1, rows))
  if (atOnce > most)
    throw new Error(
      `its ${rows} rows take about ${Math.ceil(atOnce / 2 ** 20)} MiB of memory, and Sluice uses at most ${Math.floor(most / 2 ** 20)} MiB. Write the file with smaller row groups`,
    )
  for (let from = 0; from < rows; from += step) {
    const to = Math.min(rows, from + step)
    const pieces = new Map<string, Piece[]>(names.map(name => [name, []]))
    await parquetRead({
      file,
      metadata,
      rowStart: start + from,
      rowEnd: start + to,
      compressors: codecs,
      parsers,
      utf8: false,
      geoparquet: false,
      onChunk: ({ columnName, columnData, rowStart }) =>
        void pieces.get(columnName)?.push({ data: columnData, start: rowStart }),
    })
    const columns = names.map(name => columnOf(pieces.get(name) ?? [], name, start + from, start + to))
    yield { rows: to - from, columns }
  }
}

/** Checks the pages of all columns. Returns about how much memory their values take. */
async function checkColumns(file: AsyncBuffer, { columns }: RowGroup): Promise<number> {
  let needed = 0
  for (const { meta_data: meta } of columns) {
    if (meta === undefined) continue
    const from = Number(meta.dictionary_page_offset ?? meta.data_page_offset)
    const chunk = await file.slice(from, from + Number(meta.total_compressed_size))
    checkPages(Buffer.from(chunk), meta)
    needed += Number(meta.num_values) * VALUE_BYTES + Number(meta.total_uncompressed_size)
  }
  return needed
}

interface Piece {
  readonly data: DecodedArray
  readonly start: number
}

/** Throws Error if the pieces are not the rows of [from, to). */
function columnOf(pieces: readonly Piece[], name: string, from: number, to: number): Column {
  let reached = pieces[0]?.start ?? to
  let isWhole = reached <= from
  for (const { data, start } of pieces) {
    isWhole &&= start === reached
    reached = start + data.length
  }
  if (from < to && (!isWhole || reached < to)) throw new Error(`column ${name} does not have a value for each row`)
  let at = 0
  while (at < pieces.length - 1 && (pieces[at] as Piece).start + (pieces[at] as Piece).data.length <= from) at += 1
  let { data, start } = pieces[at] ?? { data: [], start: 0 }
  let index = from - start
  return {
    next() {
      while (index >= data.length && at < pieces.length - 1) {
        at += 1
        ;({ data, start } = pieces[at] as Piece)
        index = 0
      }
      const value: unknown = data[index]
      index += 1
      return value
    },
  }
}
