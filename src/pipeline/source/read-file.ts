/** Reads the stored bytes of files, pipes and streams, and says why one cannot be read. */
import { closeSync, constants, fstatSync, open as openWithCallback, read as readWithCallback } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Socket } from 'node:net'
import { inspect, promisify } from 'node:util'
import { addAbortSignal, type Readable } from 'node:stream'
import { fail, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import { addUpTo, Checksum, fileStat, FIRST_BYTES } from '../../base/checksum/checksum.js'
import type { FileReading, FileStat, ReadMemory } from '../../base/flow.js'

// The code that opens a descriptor owns it. A FileHandle would close it when it is collected.
const openDescriptor = promisify(openWithCallback)
const readInto = promisify(readWithCallback)

const READ_BYTES = 1 << 20
const SMALLEST_READ_BYTES = 64 << 10

interface ReadingOptions {
  /** Default: the start. */
  readonly from?: number
  /** Default: the end. */
  readonly to?: number
  /** Default: memory of its own. */
  readonly into?: ReadMemory | undefined
  /** Gets the account of all bytes from the start of the file: the bytes before `from` are read for their checksum. */
  readonly opened?: (reading: FileReading) => void
  /** The whole file, if it was read before. */
  readonly small?: SmallFile | undefined
  /** Gets the file as it is when it is opened, and after its last byte was read. Throws if it is not the one to read. */
  readonly check?: ((stat: FileStat) => void) | undefined
}

/** A whole file, as it was when it was read. */
export interface SmallFile {
  readonly stat: FileStat
  readonly bytes: Buffer
  /** The same bytes decoded, if Sluice has decoded them too. */
  readonly decoded?: Buffer | undefined
}

/**
 * Resolves to undefined if the file is larger than `most` bytes, or cannot be read: the one who opens it learns why. Uses descriptors:
 * file handles take three times the CPU. Once a file is open, nothing has to wait for its size and its closing.
 */
export async function readSmallFile(path: string, most: number): Promise<SmallFile | undefined> {
  try {
    const descriptor = await openDescriptor(path, 'r')
    try {
      const status = fstatSync(descriptor)
      if (status.size > most) return undefined
      // With one byte more than the file, a file that grows shows it.
      const { bytesRead, buffer } = await readInto(
        descriptor,
        Buffer.allocUnsafe(status.size + 1),
        0,
        status.size + 1,
        0,
      )
      return bytesRead === status.size ? { stat: fileStat(status), bytes: buffer.subarray(0, bytesRead) } : undefined
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}

/**
 * Reads the bytes of [from, to). `stat`: the file as it was when it was opened.
 * Throws SluiceError INPUT_UNREADABLE if it is another one now.
 */
export async function readPart(path: string, input: string, stat: FileStat, from: number, to: number): Promise<Buffer> {
  try {
    const handle = await open(path, 'r')
    try {
      const now = fileStat(await handle.stat())
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafeSlow(to - from), 0, to - from, from)
      const isSame = now.size === stat.size && now.inode === stat.inode && now.mtimeMs === stat.mtimeMs
      if (isSame && bytesRead === to - from) return buffer
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw cannotRead(input, error)
  }
  throw fail('INPUT_UNREADABLE', { input, problem: 'it changed while Sluice read it' })
}

/**
 * Reads a file. A chunk is valid until the next one is asked for.
 * Throws SluiceError INPUT_TRUNCATED if the file shrinks meanwhile, after all that was there.
 */
export async function* readFile(
  path: string,
  name: string,
  signal: AbortSignal,
  { from = 0, to = Infinity, into, opened, small, check }: ReadingOptions = {},
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  const sum = opened === undefined ? undefined : new Checksum()
  if (small !== undefined) {
    check?.(small.stat)
    if (sum !== undefined) opened?.(readingOf(small.stat, sum, headOf(small.bytes)))
    sum?.add(small.bytes)
    if (small.bytes.length > 0) yield small.bytes
    return
  }
  if (into !== undefined) into.readers += 1
  let reading: Reading | undefined
  try {
    const handle = await open(path, 'r')
    try {
      const status = await handle.stat()
      check?.(fileStat(status))
      if (sum !== undefined) {
        reading = readingOf(fileStat(status), sum)
        opened?.(reading)
        // The file may have been shorter when it was read before.
        if (from > 0) reading.head = await headAt(handle)
        await addUpTo(from, sum, handle, into?.buffers[0], signal)
      }
      for await (const chunk of readAhead(handle, name, signal, { from, to, size: status.size, into })) {
        if (sum?.bytes === 0 && reading !== undefined) reading.head = headOf(chunk)
        sum?.add(chunk)
        yield chunk
      }
      if (check !== undefined) check(fileStat(await handle.stat()))
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw cannotRead(name, error)
  } finally {
    if (into !== undefined) into.readers -= 1
  }
}

type Reading = { -readonly [K in keyof FileReading]: FileReading[K] }

function readingOf(stat: FileStat, sum: Checksum, head?: string): Reading {
  return {
    stat,
    head,
    get bytes() {
      return sum.bytes
    },
    sum: () => sum.digest(),
  }
}

function headOf(chunk: Uint8Array): string | undefined {
  return chunk.length < FIRST_BYTES ? undefined : Checksum.of(chunk.subarray(0, FIRST_BYTES))
}

async function headAt(handle: FileHandle): Promise<string | undefined> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(FIRST_BYTES), 0, FIRST_BYTES, 0)
  return headOf(buffer.subarray(0, bytesRead))
}

/** The bytes of [from, to), as far as there are so many. */
interface Span {
  readonly from: number
  readonly to: number
  /** Of the file when it was opened. */
  readonly size: number
  readonly into: ReadMemory | undefined
}

/** Fills one buffer while the consumer has the other one. */
async function* readAhead(
  handle: FileHandle,
  name: string,
  signal: AbortSignal,
  { from, to, size, into }: Span,
): AsyncGenerator<Uint8Array> {
  // With one byte more than the file, the read that finds its end needs no second buffer. Files in /proc report size 0.
  const length = Math.min(into?.buffers[0].length ?? READ_BYTES, Math.max(SMALLEST_READ_BYTES, size - from + 1))
  let bytes = from
  // Devices and pipes have no offsets: they are read from their start.
  const read = (buffer: Buffer) => handle.read(buffer, 0, Math.min(length, to - bytes), from === 0 ? null : bytes)
  let filling = read(into?.buffers[0] ?? Buffer.allocUnsafeSlow(length))
  let idle = into?.buffers[1]
  try {
    for (;;) {
      const { bytesRead, buffer } = await filling
      if (bytesRead === 0) {
        // Files in /sys report more than can be read. Only a size that has become smaller is a fault.
        if (bytes < Math.min(size, to) && (await handle.stat()).size < size) throw shrunk(name, bytes)
        return
      }
      bytes += bytesRead
      signal.throwIfAborted()
      filling = read(idle ?? Buffer.allocUnsafeSlow(length))
      filling.catch(() => undefined) // seen above, when its turn comes
      yield buffer.subarray(0, bytesRead)
      idle = buffer
    }
  } finally {
    // A read under way still needs the handle and the buffer.
    await filling.catch(() => undefined)
  }
}

function shrunk(input: string, bytes: number): SluiceError {
  return fail('INPUT_TRUNCATED', { input, encoding: 'stored', bytes })
}

/**
 * Reads a named pipe without blocking. A thread that blocks in open or read cannot be stopped: the process would live until
 * somebody writes.
 */
export async function* readFifo(path: string, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  let fd: number
  try {
    fd = await openDescriptor(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw cannotRead(name, error)
  }
  yield* readStream(new Socket({ fd, readable: true, writable: false }), name, signal)
}

/** Reads a byte stream. A consumer that stops early destroys the stream, and so does the signal. */
export async function* readStream(stream: Readable, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  addAbortSignal(signal, stream)
  try {
    for await (const chunk of stream) yield bytesOf(chunk, stream)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw cannotRead(name, error)
  }
}

/** A stream with an encoding set yields strings; a web stream may yield anything. */
function bytesOf(chunk: unknown, stream: Readable): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return Buffer.from(chunk, stream.readableEncoding ?? 'utf8')
  throw new TypeError(`its chunks are of type ${typeof chunk}, not bytes. Pass objects as an async iterable`)
}

const problems: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a directory. Pass its files with a glob',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its path is too long',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
  EIO: 'the disk or device failed (EIO)',
  ERR_STREAM_PREMATURE_CLOSE: 'the stream was closed before its end',
}

/** Turns an error of the system, a stream or a caller's iterable into Sluice's own. A SluiceError stays as it is. */
export function cannotRead(input: string, cause: unknown): SluiceError {
  if (isSluiceError(cause)) return cause
  const code = codeOf(cause)
  if (code === 'ENOENT') return fail('INPUT_NOT_FOUND', { input }, { cause })
  const problem = problems[code] ?? described(cause instanceof Error ? cause.message : cause)
  return fail('INPUT_UNREADABLE', { input, problem: onOneLine(problem) }, { cause })
}

/** Returns the code of a system or Node error, or an empty text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function described(thrown: unknown): string {
  return typeof thrown === 'string' ? thrown : inspect(thrown)
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
