/** A file as an input: how it is read, and what somebody saw of it, or of an object, before others load it. */
import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { sumsOf } from '../../base/checksum/checksum.js'
import type { FileLook, FileReading, FileStat, ReadMemory, Source, StoredFile } from '../../base/flow.js'
import { free } from '../../base/memory.js'
import { cannotRead, readFile, readPart } from './read-file.js'
import { decompress, isCompressed, mayBeCompressed } from '../../base/compression/decompress.js'
import type { FileTable } from './file-table.js'
import { fail } from '../../base/failure/failure.js'

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

export function seenText({ kind, size, modifiedMs, content }: SeenInput): string {
  return [kind, size, modifiedMs, content].join(' ')
}

/** Throws SluiceError OPTION_INVALID. */
export function readSeen(text: string): SeenInput {
  const [, kind, size, modifiedMs, content = ''] = FORM.exec(text) ?? []
  if (kind === 'file' || kind === 'object') return { kind, size: Number(size), modifiedMs: Number(modifiedMs), content }
  throw fail('OPTION_INVALID', { option: 'ranges', problem: 'hold an identity that Sluice did not make' })
}

const FORM = /^(file|object) (\d{1,16}) (\d{1,16}) ([\da-f]{1,64})$/

/** Returns the part that ids depend on. A file that was only touched is the same one, and gets the same ids. */
export function contentOf({ size, modifiedMs, content }: SeenInput): string {
  return content === '0' ? `${size} ${modifiedMs}` : `${size} ${content}`
}

/** Returns how a file differs from the one that was seen. */
export function changeOf({ size, modifiedMs }: SeenInput, now: Pick<FileStat, 'size' | 'mtimeMs'>): string | undefined {
  if (now.size !== size) return `it now has ${bytes(now.size)}, but had ${bytes(size)} before`
  if (wholeMs(now.mtimeMs) === modifiedMs) return undefined
  return `it was modified at ${time(now.mtimeMs)}, and before that at ${time(modifiedMs)}`
}

/** Systems that share a folder may keep other fractions of a time. */
export function wholeMs(ms: number): number {
  return Math.max(0, Math.floor(ms))
}

function bytes(count: number): string {
  return `${count.toLocaleString('en-US')} bytes`
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}
