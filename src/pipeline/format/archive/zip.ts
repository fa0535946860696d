/** Reads the files of a ZIP archive in the order in which they are stored, in one pass over its bytes. */
import { crc32 } from 'node:zlib'
import { decoders } from '../../../base/compression/decompress.js'
import { free } from '../../../base/memory.js'
import type { ByteReader } from '../byte-reader.js'
import { type ArchiveFile, isOfMacOs } from './member.js'
import { corruptZip, type ZipEntry } from './zip-directory.js'

const HEADER_BYTES = 30
const HEADER_MARK = 0x04034b50

const STORED = 0

type Decode = (stored: AsyncIterable<Uint8Array>, name: string) => AsyncIterable<Uint8Array>

/** By the number of the method. Source: PKWARE, APPNOTE.TXT, section 4.4.5. */
const methods: Readonly<Record<number, Decode>> = {
  [STORED]: stored => stored,
  8: decoders.deflate,
  12: decoders.bzip2,
  93: decoders.zstd,
  95: decoders.xz,
}
const names: Readonly<Record<number, string>> = { 1: 'Shrink', 6: 'Implode', 9: 'Deflate64', 14: 'LZMA', 98: 'PPMd' }

/** Throws SluiceError INPUT_UNREADABLE if the bytes are not what the directory says. */
export async function* readZip(
  input: string,
  reader: ByteReader,
  entries: readonly ZipEntry[],
): AsyncGenerator<ArchiveFile> {
  for (const entry of entries) {
    const { name, offset, storedBytes } = entry
    await passGap(input, reader, offset)
    await passHeader(input, reader, entry)
    const end = reader.at + storedBytes
    const kind = kindOf(entry)
    if (kind !== 'folder')
      yield {
        name,
        ...kind,
        ...(kind.decode === undefined ? {} : { bytes: content(input, reader, entry, kind.decode) }),
      }
    if (!(await reader.skip(end - reader.at))) throw corruptZip(input, `it ends inside ${name}`)
  }
  await passGap(input, reader, Infinity)
}

/** Reads one file. `reader`: stands where the file begins. Throws SluiceError INPUT_UNREADABLE as `readZip` does, or if no one can read it. */
export async function* zipContent(input: string, reader: ByteReader, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  await passHeader(input, reader, entry)
  const kind = kindOf(entry)
  if (kind === 'folder' || kind.refused !== undefined)
    throw corruptZip(input, `${entry.name}: ${kind === 'folder' ? 'it is a folder' : kind.refused}`)
  if (kind.decode !== undefined) yield* content(input, reader, entry, kind.decode)
}

/** Passes over what stands in front of a file, and compares it with the directory. */
async function passHeader(input: string, reader: ByteReader, { name, rawName, offset }: ZipEntry): Promise<void> {
  const header = await reader.take(HEADER_BYTES)
  if (header.length < HEADER_BYTES || header.readUInt32LE(0) !== HEADER_MARK)
    throw corruptZip(input, `no file begins where its directory says, at byte ${offset}`)
  const ownName = await reader.take(header.readUInt16LE(26))
  if (!ownName.equals(rawName)) throw corruptZip(input, `it has two different names for ${name}`)
  await reader.skip(header.readUInt16LE(28))
}

/** Passes over what may stand between two files: lengths behind the data, or bytes of a file that was deleted. */
async function passGap(input: string, reader: ByteReader, offset: number): Promise<void> {
  const { at } = reader
  if (offset < at) throw corruptZip(input, `two of its files share bytes, at byte ${offset}`)
  const start = await reader.take(Math.min(4, offset - at))
  // A file that the directory leaves out, but that another reader may find.
  if (start.length === 4 && start.readUInt32LE(0) === HEADER_MARK)
    throw corruptZip(input, `its directory leaves out a file, at byte ${at}`)
  await reader.skip(offset - reader.at)
}

type Kind = Omit<ArchiveFile, 'name' | 'bytes'> & { readonly decode?: Decode }

function kindOf({ name, kind, bytes, isEncrypted, method }: ZipEntry): 'folder' | Kind {
  if (kind === 'folder') return 'folder'
  if (isOfMacOs(name)) return { passedOver: 'files of macOS' }
  if (kind === 'link') return { passedOver: 'links' }
  if (bytes === 0) return { passedOver: 'empty files' }
  if (isEncrypted) return { refused: 'it is encrypted' }
  const decode = methods[method]
  if (decode === undefined) return { refused: `it is compressed with ${names[method] ?? `method ${method}`}` }
  return { decode }
}

/** Decodes the content, and checks it against the directory. */
async function* content(
  input: string,
  reader: ByteReader,
  { name, method, storedBytes, bytes, crc32: stated }: ZipEntry,
  decode: Decode,
): AsyncGenerator<Uint8Array> {
  let sum = 0
  let length = 0
  for await (const part of decode(reader.pass(storedBytes), `${input}/${name}`)) {
    sum = crc32(part, sum)
    length += part.length
    if (length > bytes) throw corruptZip(input, `${name} is longer than its directory says`)
    yield part
    // The decoder made it, and fills no memory for a second time.
    if (method !== STORED && part.byteOffset + part.byteLength === part.buffer.byteLength) free(part.buffer)
  }
  if (length < bytes) throw corruptZip(input, `${name} is shorter than its directory says`)
  if (sum !== stated) throw corruptZip(input, `the checksum of ${name} is wrong`)
}
