/** Reads the directory at the end of a ZIP archive. */
import { fromRandomAccessReaderPromise, getFileNameLowLevel, RandomAccessReader, type Entry } from 'yauzl'
import { fail, isSluiceError } from '../../../base/failure/failure.js'
import type { StoredFile } from '../../../base/flow.js'
import { shownName } from './member.js'

/** A file as the directory describes it. */
export interface ZipEntry {
  /** As messages show it. It is made each time: some names are longer so than in the archive. */
  readonly name: string
  readonly rawName: Buffer
  readonly kind: 'file' | 'folder' | 'link'
  readonly isEncrypted: boolean
  readonly method: number
  /** Where its header begins. */
  readonly offset: number
  readonly storedBytes: number
  readonly bytes: number
  readonly crc32: number
}

/** Each takes some hundred bytes of memory. */
const MOST_ENTRIES = 1_000_000
/** All names stay in memory. */
const MOST_NAME_BYTES = 128 << 20

/** Returns the files in the order in which they are stored. Throws SluiceError INPUT_UNREADABLE. */
export async function readZipDirectory(input: string, file: StoredFile): Promise<ZipEntry[]> {
  const size = file.reading?.stat.size ?? file.stat.size
  try {
    const options = { decodeStrings: false, validateEntrySizes: false }
    const zip = await fromRandomAccessReaderPromise(new Parts(file, size), size, options)
    if (zip.entryCount > MOST_ENTRIES) throw new RangeError(`it has more than ${MOST_ENTRIES} files`)
    const entries: ZipEntry[] = []
    let nameBytes = 0
    for await (const entry of zip.eachEntry()) {
      nameBytes += entry.fileNameRaw.length
      if (nameBytes > MOST_NAME_BYTES) throw new RangeError('the names of its files take more than 128 MiB')
      entries.push(entryOf(entry))
    }
    return entries.toSorted((a, b) => a.offset - b.offset)
  } catch (error) {
    if (isSluiceError(error)) throw error
    throw corruptZip(input, explained(error instanceof Error ? error.message : String(error)), error)
  }
}

export function corruptZip(input: string, why: string, cause?: unknown): Error {
  return fail('INPUT_UNREADABLE', { input, problem: `its ZIP data is corrupt (${why})` }, { cause })
}

function explained(message: string): string {
  if (message.startsWith('End of central directory'))
    return 'its directory is missing: it was cut off, or is still being written'
  if (message.startsWith('Invalid comment length')) return 'other data after its end'
  return message.startsWith('multi-disk') ? 'it is one part of several' : message
}

const UNIX = 3
const KIND_OF_FILE = 0xf000
const LINK = 0xa000
const SLASH = 0x2f

/** Extra field with the name in UTF-8. Source: PKWARE, APPNOTE.TXT, section 4.6.9. */
const UNICODE_NAME = 0x7075

function entryOf(entry: Entry): ZipEntry {
  // Copies: its buffer also holds a comment and extra fields, which may be much longer.
  const rawName = Buffer.from(entry.fileNameRaw)
  const flags = entry.generalPurposeBitFlag
  const extra = entry.extraFields
    .filter(({ id }) => id === UNICODE_NAME)
    .map(({ id, data }) => ({ id, data: Buffer.from(data) }))
  const mode = entry.versionMadeBy >> 8 === UNIX ? entry.externalFileAttributes >>> 16 : 0
  const isFolder = rawName.at(-1) === SLASH
  return {
    get name() {
      return shownName(getFileNameLowLevel(flags, rawName, extra, false))
    },
    rawName,
    kind: isFolder ? 'folder' : (mode & KIND_OF_FILE) === LINK ? 'link' : 'file',
    isEncrypted: entry.isEncrypted(),
    method: entry.compressionMethod,
    offset: entry.relativeOffsetOfLocalHeader,
    storedBytes: entry.compressedSize,
    bytes: entry.uncompressedSize,
    crc32: entry.crc32,
  }
}

const BLOCK_BYTES = 1 << 20

/** Gives the reader of the directory parts of the file: it asks for a few bytes at a time. */
class Parts extends RandomAccessReader {
  readonly #file: StoredFile
  readonly #size: number
  #start = 0
  #block: Buffer = Buffer.alloc(0)

  constructor(file: StoredFile, size: number) {
    super()
    this.#file = file
    this.#size = size
  }

  override read(into: Buffer, at: number, length: number, from: number, done: (error: Error | null) => void): void {
    this.#copy(into, at, length, from).then(
      () => done(null),
      (error: unknown) => done(error as Error),
    )
  }

  async #copy(into: Buffer, at: number, length: number, from: number): Promise<void> {
    const end = from + length
    if (!Number.isSafeInteger(end) || end > this.#size) throw new RangeError('it points past the end of the file')
    if (from < this.#start || end > this.#start + this.#block.length) {
      this.#block = await this.#file.part(from, Math.max(end, Math.min(this.#size, from + BLOCK_BYTES)))
      this.#start = from
    }
    this.#block.copy(into, at, from - this.#start, end - this.#start)
  }
}
