/** Writes each row of a Parquet file as a line of NDJSON. */
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetSchema } from 'hyparquet'
import { fail, isSluiceError } from '../../../base/failure/failure.js'
import type { Lines, Source, StoredFile } from '../../../base/flow.js'
import { refusedLineStart } from '../../../base/text/bytes.js'
import { visible } from '../../../base/text/shown.js'
import { ByteReader } from '../byte-reader.js'
import { type MissingValues, type ParquetField, parquetFields, type RowRefusal, UnreadableColumn } from './fields.js'
import { type Group, groupsOf, readGroup } from './row-groups.js'

/** A footer of more is one of very many columns and row groups. */
const MOST_FOOTER_BYTES = 256 << 20
const FOOTER_END_BYTES = 8
const MAGIC = 'PAR1'

/**
 * Reads the rows of one row group after the other. A row with a value that JSON cannot hold is a refused line. `bytes`: those of the file,
 * which are read for its checksum: up to the end of a group before its rows.
 * Throws SluiceError INPUT_UNREADABLE, for what the directory at the end of the file shows at once.
 */
export async function parquetLines(
  source: Source,
  bytes: AsyncIterable<Uint8Array>,
  missing: MissingValues,
): Promise<Pick<Lines, 'bytes' | 'found'>> {
  const reader = new ByteReader(bytes)
  const input = source.name
  try {
    const file = await storedParquet(source)
    const size = file.reading?.stat.size ?? file.stat.size
    const parts: AsyncBuffer = {
      byteLength: size,
      slice: async (from, to = size) => await partOf(file, from, to, size),
    }
    const opened = await open(parts, input, missing)
    return {
      found: described(opened),
      bytes: linesOf(input, reader, parts, opened),
    }
  } catch (error) {
    await reader.close()
    throw explained(input, error)
  }
}

/** Returns the file, which has its directory at the end. */
async function storedParquet({ name: input, file, copy }: Source): Promise<StoredFile> {
  const why = 'it is a Parquet file, which has its directory at the end'
  if (file === undefined || copy !== undefined)
    throw fail('INPUT_UNREADABLE', { input, problem: `${why}. Save it as a file, and pass that file` })
  const size = file.reading?.stat.size ?? file.stat.size
  const [start, end] = [await file.part(0, MAGIC.length), await file.part(Math.max(0, size - FOOTER_END_BYTES), size)]
  if (!start.toString('latin1').startsWith('PAR'))
    throw fail('INPUT_UNREADABLE', {
      input,
      problem: `${why}, and it is compressed once more. Decompress the file first`,
    })
  if (start.toString('latin1') === 'PARE') throw new Error('it is encrypted')
  if (end.toString('latin1', 4) !== MAGIC)
    throw new Error('its directory is missing: it was cut off, or is still being written')
  if (end.readUInt32LE(0) > MOST_FOOTER_BYTES) throw new Error('its directory has more than 256 MiB')
  return file
}

async function partOf(file: StoredFile, from: number, to: number, size: number): Promise<ArrayBuffer> {
  if (!(from >= 0 && from <= to && to <= size)) throw new Error('its directory points behind the file')
  const { buffer, byteOffset: at, byteLength: bytes } = await file.part(from, to)
  // A small one may lie in memory that it shares with others.
  return (bytes === buffer.byteLength ? buffer : buffer.slice(at, at + bytes)) as ArrayBuffer
}

interface Opened {
  readonly metadata: FileMetaData
  readonly fields: readonly ParquetField[]
  readonly groups: readonly Group[]
  readonly isFlat: boolean
  readonly writesNull: boolean
}

async function open(parts: AsyncBuffer, input: string, missing: MissingValues): Promise<Opened> {
  const metadata = await parquetMetadataAsync(parts, { geoparquet: false })
  const { children } = parquetSchema(metadata)
  try {
    const fields = parquetFields(children, { hasBinary: tellsBinary(metadata), ...missing })
    const isFlat = children.every(
      ({ children: nested, element }) => nested.length === 0 && element.repetition_type !== 'REPEATED',
    )
    return { metadata, fields, groups: groupsOf(metadata, parts.byteLength), isFlat, ...missing }
  } catch (error) {
    if (!(error instanceof UnreadableColumn)) throw error
    throw fail('INPUT_UNREADABLE', { input, problem: `it ${visible(error.message)}` })
  }
}

/** Returns whether the writer gives text a type. Impala, Hive and old Spark do not, so bytes without a type are text there. */
function tellsBinary({ created_by: writer = 'impala', key_value_metadata: more = [] }: FileMetaData): boolean {
  return (
    !/^(?:impala|parquet-mr)/i.test(writer) ||
    more.some(({ key }) => /^(?:ARROW:schema|org\.apache\.spark\.)/.test(key))
  )
}

const LINES_BYTES = 256 << 10

async function* linesOf(
  input: string,
  reader: ByteReader,
  parts: AsyncBuffer,
  { metadata, fields, groups, isFlat, writesNull }: Opened,
): AsyncGenerator<Uint8Array> {
  const names = fields.map(({ name }) => name)
  const refusal: RowRefusal = { reason: undefined }
  let row = 0
  try {
    for (const group of groups) {
      await reader.skip(group.end - reader.at)
      let text = ''
      for await (const { rows, columns } of readGroup(parts, metadata, names, group, isFlat)) {
        for (let left = rows; left > 0; left -= 1) {
          row += 1
          let line = ''
          for (let at = 0; at < fields.length; at += 1) {
            const { key, write } = fields[at] as ParquetField
            const value = columns[at]?.next()
            const isNull = value === null || value === undefined
            const json = isNull ? (writesNull ? 'null' : undefined) : write(value, refusal)
            if (json !== undefined) line += `${line === '' ? '' : ','}${key}${json}`
          }
          if (refusal.reason !== undefined) {
            text += refusedLineStart('DOCUMENT_ROW_INVALID', `row ${row}: ${visible(refusal.reason)}`).toString()
            refusal.reason = undefined
          }
          text += `{${line}}\n`
          if (text.length < LINES_BYTES) continue
          yield Buffer.from(text)
          text = ''
        }
      }
      if (text !== '') yield Buffer.from(text)
    }
    await reader.skip(Infinity)
  } catch (error) {
    throw explained(input, error)
  } finally {
    await reader.close()
  }
}

function explained(input: string, error: unknown): unknown {
  if (isSluiceError(error) || !(error instanceof Error) || error.name === 'AbortError') return error
  const problem = `its Parquet data cannot be read (${visible(error.message)})`
  return fail('INPUT_UNREADABLE', { input, problem }, { cause: error })
}

/** Most columns that a note names. */
const NAMED = 20

function described({ fields, groups }: Opened): string {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0)
  const named = fields.slice(0, NAMED).map(({ name }) => visible(name))
  const list = named.length === 0 ? '' : `: ${named.join(', ')}${fields.length > NAMED ? ', …' : ''}`
  return `Parquet, ${counted(rows, 'row')} in ${counted(groups.length, 'row group')}, ${counted(fields.length, 'column')}${list}`
}

function counted(count: number, what: string): string {
  return `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`
}
