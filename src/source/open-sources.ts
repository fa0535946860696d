import { Readable } from 'node:stream'
import type { ReadMemory, Source } from '../flow.js'
import { decodedFrom, storedFile } from './stored-file.js'
import { decompress } from './decompress.js'
import { findFiles, type FoundFile } from './find-files.js'
import { readFifo, readFile } from './read-file.js'
import { readItems } from './read-items.js'
import { readStream } from './read-stream.js'
import { fail } from '../failure/fail.js'

/**
 * The inputs of a load.
 * - A string, or an array of strings: a path, a glob (quoted, so that the shell leaves it alone), or `-` for stdin.
 * - A byte stream (Node's or the web's), a Buffer or Uint8Array: the bytes of a file, gzip or not.
 * - An object stream or any other (async) iterable: each item is one document. Objects are turned into JSON; strings,
 *   Buffers and Uint8Arrays are one document's JSON text each.
 */
export type IngestSource = string | readonly string[] | Readable | Iterable<unknown> | AsyncIterable<unknown>

export interface SourceContext {
  /** The stream behind `-`. */
  readonly stdin?: Readable
  /** The folder of relative paths and globs. Default: the working folder. */
  readonly cwd?: string
}

/**
 * Finds every input and checks that it can be opened, before any is opened. Sorts globs. An input named twice is read once.
 * Throws SluiceError: INPUT_NOT_FOUND, INPUT_UNREADABLE, OPTION_INVALID if `source` is none of the kinds above.
 */
export async function findSources(source: IngestSource, context: SourceContext): Promise<Source[]> {
  if (typeof source === 'string') return sourcesByName([source], context)
  if (isListOfNames(source)) return sourcesByName(source, context)
  return [sourceOf(source)]
}

async function sourcesByName(names: readonly string[], { stdin, cwd }: SourceContext): Promise<Source[]> {
  const files = await findFiles(names, { cwd, stdin: stdin !== undefined })
  return files.map(file => {
    const { id, name, path } = file
    const stored = file.kind === 'file' ? { file: storedFile(path, name) } : {}
    return {
      id,
      name,
      ...stored,
      open: (signal, from = 0, _place, into) =>
        decodedFrom({ name, ...stored, from, read: at => bytesOf(file, stdin, signal, at, into) }),
    }
  })
}

function bytesOf(
  file: FoundFile,
  stdin: Readable | undefined,
  signal: AbortSignal,
  from: number,
  into: ReadMemory | undefined,
): AsyncIterable<Uint8Array> {
  if (file.kind === 'stdin' && stdin !== undefined) return readStream(stdin, file.name, signal)
  if (file.kind === 'fifo') return readFifo(file.path, file.name, signal)
  return readFile(file.path, file.name, signal, from, into)
}

function sourceOf(source: unknown): Source {
  const stream = asByteStream(source)
  if (stream !== undefined) {
    const name = '(stream)'
    return { id: 0, name, open: signal => decompress(readStream(stream, name, signal), name) }
  }
  if (!isIterable(source)) {
    const problem = 'expected paths, a stream, or an iterable of documents'
    throw fail('OPTION_INVALID', { option: 'source', problem })
  }
  const name = '(iterable)'
  return { id: 0, name, open: signal => readItems(source, name, signal) }
}

/** Returns any kind of bytes as a Node stream, or undefined for everything else. */
function asByteStream(source: unknown): Readable | undefined {
  // In object mode the chunks stay as they are. `readStream` checks them.
  if (source instanceof ReadableStream) return Readable.fromWeb(source, { objectMode: true })
  if (source instanceof ArrayBuffer) return Readable.from([Buffer.from(source)])
  if (ArrayBuffer.isView(source))
    return Readable.from([Buffer.from(source.buffer, source.byteOffset, source.byteLength)])
  return isReadable(source) && !source.readableObjectMode ? source : undefined
}

/** Tells whether it is a stream. Those of the readable-stream package are not instances of Node's class. */
function isReadable(source: unknown): source is Readable {
  if (source instanceof Readable) return true
  return isIterable(source) && 'readableObjectMode' in source && 'destroy' in source && 'pipe' in source
}

function isListOfNames(source: unknown): source is readonly string[] {
  return Array.isArray(source) && source.length > 0 && source.every(name => typeof name === 'string')
}

function isIterable(source: unknown): source is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
}
