/** A file as an input: how it is read, and the table that holds what is known of very many files in little memory. */
import { createHash } from 'node:crypto'
import { open, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { sumsOf } from '../../base/checksum/checksum.js'
import type { FileLook, FileReading, FileStat, ReadMemory, Source, StoredFile } from '../../base/flow.js'
import { free } from '../../base/memory.js'
import { cannotRead, readFile, readPart } from './read-file.js'
import { decompress, isCompressed, mayBeCompressed } from '../../base/compression/decompress.js'
import { ReadAhead } from './read-ahead.js'

const LOOK_BYTES = 64 << 10

/** A file on disk as an input. It is known by its checksum, which is taken while it is read. There may be very many of them. */
export class StoredInput implements CuttableInput, CuttableFile {
  readonly id: number
  readonly #table: FileTable

  /** `table`: holds the rest under the same id. */
  constructor(id: number, table: FileTable) {
    this.id = id
    this.#table = table
  }

  get name(): string {
    return this.#table.nameOf(this.id)
  }

  get file(): this {
    return this
  }

  get path(): string {
    return this.#table.pathOf(this.id)
  }

  get realPath(): string {
    return this.#table.real.of(this.id, this.path)
  }

  get folder(): string {
    return this.#table.folder
  }

  get device(): number {
    return this.#table.deviceOf(this.id)
  }

  get stat(): FileStat {
    return this.#table.statOf(this.id)
  }

  ahead(): void {
    this.#table.ahead.add(this.id, this.path, this.stat.size)
  }

  get reading(): FileReading | undefined {
    return this.#table.readings.get(this.id)
  }

  async *open(signal: AbortSignal, from = 0, _place?: unknown, into?: ReadMemory): AsyncGenerator<Uint8Array> {
    const { id, name, path } = this
    const { ahead, readings, packed, checks } = this.#table
    const opened = (reading: FileReading) => readings.set(id, reading)
    const taken = await ahead.take(id)
    const small = from === 0 ? taken : undefined
    const check = checks.get(id)
    const read = (at: number) => readFile(path, name, signal, { from: at, into, opened, small, check })
    try {
      if (small?.decoded !== undefined) {
        packed.add(id)
        yield* decodedBefore(small.decoded, read(0))
      }
      // There may be very many small files, and nothing is left to decide about their bytes.
      else if (small !== undefined && !mayBeCompressed(small.bytes, name)) yield* read(0)
      else yield* decodedFrom(name, path, from, read, { found: isCompressed => isCompressed && packed.add(id) })
    } finally {
      // The checksum itself takes more memory.
      const { reading } = this
      if (reading !== undefined) readings.set(id, ended(reading))
    }
  }

  get isPacked(): boolean {
    return this.#table.packed.has(this.id)
  }

  forget(): void {
    this.#table.packed.delete(this.id)
    this.#table.readings.delete(this.id)
  }

  async look(): Promise<FileLook> {
    return await look(this.path, this.name, this.stat.size)
  }

  async sums(ends: readonly number[]): Promise<readonly (string | undefined)[]> {
    return await sumsOf(this.path, ends)
  }

  get hasRanges(): boolean {
    return true
  }

  between(signal: AbortSignal, from: number, to: number, into?: ReadMemory): AsyncIterable<Uint8Array> {
    const { path, name, id } = this
    return readFile(path, name, signal, { from, to, into, check: this.#table.checks.get(id) })
  }

  async part(from: number, to: number): Promise<Buffer> {
    return await readPart(this.path, this.name, this.reading?.stat ?? this.stat, from, to)
  }
}

function ended({ stat, bytes, sum, head }: FileReading): FileReading {
  const digest = sum()
  return { stat, bytes, sum: () => digest, head }
}

/** Looks at the beginning of a file. `size`: its bytes, if they are known. Throws SluiceError INPUT_UNREADABLE, INPUT_NOT_FOUND. */
export async function look(path: string, name: string, size = LOOK_BYTES): Promise<FileLook> {
  try {
    const file = await open(path, 'r')
    try {
      // Files in /proc report size 0.
      const length = size === 0 ? LOOK_BYTES : Math.min(size, LOOK_BYTES)
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, 0)
      const head = buffer.subarray(0, bytesRead)
      const sha256 = createHash('sha256').update(head).digest('hex')
      return { isCompressed: isCompressed(head, name), head: { bytes: bytesRead, sha256 } }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw cannotRead(name, error)
  }
}

/**
 * Reads the decoded bytes of a file from an offset among them. `read` reads the stored bytes from an offset, and may wait for more if
 * the file grows. `found`: called when the first bytes show whether the file is compressed.
 */
export async function* decodedFrom(
  name: string,
  path: string,
  from: number,
  read: (from: number) => AsyncIterable<Uint8Array>,
  { grows = false, found }: { readonly grows?: boolean; readonly found?: (isCompressed: boolean) => void } = {},
): AsyncGenerator<Uint8Array> {
  const isPlain = from > 0 && !(await look(path, name)).isCompressed
  // Compressed bytes are decoded from their start.
  yield* isPlain ? read(from) : skipBytes(decompress(read(0), name, !grows, found), from)
}

/** Yields what was decoded before, and reads the stored bytes for their checksum. */
async function* decodedBefore(decoded: Buffer, stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const bytes of stored) free(bytes.buffer)
  if (decoded.length > 0) yield decoded
  free(decoded.buffer)
}

/** Skips the first `count` bytes. */
export async function* skipBytes(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  if (count === 0) return yield* chunks
  let left = count
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}

/**
 * What somebody saw of an input, as text: it means the same on every machine that reaches the input. So it holds no inode and no time of
 * change, which each machine may see in its own way.
 */
export interface SeenInput {
  readonly kind: 'file' | 'object'
  /** Stored bytes. */
  readonly size: number
  /** In milliseconds since the epoch, for an object in whole seconds. 0 if unknown. */
  readonly modifiedMs: number
  /** Stands for the content: the checksum of its beginning, or the number of its ETag (0 without one). */
  readonly content: string
}

/** An input that can be read between any two offsets. */
export interface CuttableInput extends Source {
  readonly file: CuttableFile
}

export interface CuttableFile extends StoredFile {
  /** Whether reading can begin at any byte. Otherwise all bytes before it are read as well. */
  readonly hasRanges: boolean
  /** Reads the stored bytes of [from, to), and keeps no account of them. Chunks and `into` are those of `Source.open`. */
  between(signal: AbortSignal, from: number, to: number, into?: ReadMemory): AsyncIterable<Uint8Array>
}

const COLUMNS = 7
/** Files of one piece of memory. A table that grew in one piece would be copied, and half empty. */
const FILES_AT_ONCE = 1024
const NAMES_BYTES = 64 << 10

/** Holds the name, size, inode and times of many files in little memory. */
export class FileTable {
  /** The folder that their names are relative to. */
  readonly folder: string
  /** The readings of the files that are open, or will soon be. */
  readonly readings = new Map<number, FileReading>()
  /** Those among them that are compressed. */
  readonly packed = new Set<number>()
  /** By id: throw if a file is not the one that somebody else has seen. */
  readonly checks = new Map<number, (stat: FileStat) => void>()
  readonly ahead = new ReadAhead()
  readonly real = new RealPaths()
  readonly #numbers: Float64Array[] = []
  /** Files that follow each other are mostly of one folder. */
  readonly #folders: { readonly prefix: string; readonly device: number; readonly path: string }[] = []
  readonly #names: Buffer[] = []
  /** Bytes of the last names that are in use. */
  #filled = NAMES_BYTES

  constructor(folder: string) {
    this.folder = folder
  }

  /** Forgets all files. */
  clear(): void {
    for (const part of [this.#numbers, this.#folders, this.#names]) part.length = 0
    this.#filled = NAMES_BYTES
  }

  set(id: number, name: string, device: number, { size, inode, mtimeMs, ctimeMs }: FileStat): void {
    const piece = Math.floor(id / FILES_AT_ONCE)
    const numbers = (this.#numbers[piece] ??= new Float64Array(COLUMNS * FILES_AT_ONCE))
    const at = (id % FILES_AT_ONCE) * COLUMNS
    const prefix = name.slice(0, name.lastIndexOf('/') + 1)
    const base = name.slice(prefix.length)
    const bytes = Buffer.byteLength(base)
    numbers.set([this.#folderOf(prefix, device), size, inode, mtimeMs, ctimeMs, this.#keep(base, bytes), bytes], at)
  }

  nameOf(id: number): string {
    const start = this.#number(id, 5)
    const names = this.#names[Math.floor(start / NAMES_BYTES)]
    const from = start % NAMES_BYTES
    const base = names?.toString('utf8', from, from + this.#number(id, 6)) ?? ''
    // In one piece: V8 would keep both parts, too.
    return [this.#folders[this.#number(id, 0)]?.prefix, base].join('')
  }

  /** Returns the absolute path. */
  pathOf(id: number): string {
    const name = this.nameOf(id)
    const { path, prefix } = this.#folders[this.#number(id, 0)] ?? {}
    // Windows has other separators, too.
    if (path === undefined || prefix === undefined || sep !== '/') return resolve(this.folder, name)
    return path + name.slice(prefix.length)
  }

  deviceOf(id: number): number {
    return this.#folders[this.#number(id, 0)]?.device ?? 0
  }

  statOf(id: number): FileStat {
    const column = (number: number) => this.#number(id, number)
    return { size: column(1), inode: column(2), mtimeMs: column(3), ctimeMs: column(4) }
  }

  #number(id: number, column: number): number {
    return this.#numbers[Math.floor(id / FILES_AT_ONCE)]?.[(id % FILES_AT_ONCE) * COLUMNS + column] ?? 0
  }

  #folderOf(prefix: string, device: number): number {
    const last = this.#folders.at(-1)
    if (last?.prefix !== prefix || last.device !== device)
      this.#folders.push({ prefix, device, path: join(resolve(this.folder, prefix), sep) })
    return this.#folders.length - 1
  }

  /** Returns where the name begins. */
  #keep(name: string, bytes: number): number {
    if (this.#filled + bytes > NAMES_BYTES) {
      this.#names.push(Buffer.allocUnsafeSlow(Math.max(NAMES_BYTES, bytes)))
      this.#filled = 0
    }
    const at = this.#names.length - 1
    const start = this.#filled
    this.#names[at]?.write(name, start)
    this.#filled += bytes
    return at * NAMES_BYTES + start
  }
}

/** Keeps where files really are, if symbolic links lead there. There may be very many files, and few folders. */
class RealPaths {
  /** By path. */
  readonly #folders = new Map<string, string>()
  /** Links to files, by the id of the file. */
  readonly #links = new Map<number, string>()

  async find(id: number, path: string, isLink: boolean): Promise<void> {
    if (isLink) this.#links.set(id, await realpath(path).catch(() => path))
    const folder = dirname(path)
    if (!this.#folders.has(folder)) this.#folders.set(folder, await realpath(folder).catch(() => folder))
  }

  of(id: number, path: string): string {
    const folder = dirname(path)
    const real = this.#folders.get(folder) ?? folder
    return this.#links.get(id) ?? (real === folder ? path : join(real, basename(path)))
  }
}
