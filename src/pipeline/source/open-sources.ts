import { resolve } from 'node:path'
import { isErrored, isReadable as mayGoOn, Readable } from 'node:stream'
import { types } from 'node:util'
import type { Source } from '../../base/flow.js'
import { closedSoon, closeUnread } from './close-source.js'
import { FileTable, StoredInput } from './stored-file.js'
import { decompress } from '../../base/compression/decompress.js'
import { type Elsewhere, findFiles, type FoundFile, listedFiles } from './find-files.js'
import { readFifo, readFile, readStream } from './read-file.js'
import { openRanges, RangeList } from './ranges.js'
import { readItems } from './read-items.js'
import { bodyOf, isRequest } from './request-body.js'
import { isWebStream, WebChunks, type WebStream } from './web-stream.js'
import { fail } from '../../base/failure/failure.js'

/**
 * The inputs of a load.
 * - A string, or an array of strings: a path, a glob (quoted, so that the shell does not expand it), or `-` for stdin.
 * - `{ files }`: paths that mean exactly themselves, also with `*` in them.
 * - A byte stream (Node's or the web's), a Buffer or Uint8Array: the bytes of a file, gzip or not. A web stream of strings is its text.
 * - An object stream (Node's or the web's) or any other (async) iterable: each item is one document. Objects are turned into JSON;
 *   strings, Buffers and Uint8Arrays are one document's JSON text each.
 *
 * A stream or iterable is closed when the run ends, however it ends. A request to a server of the caller is read to its end instead.
 */
export type IngestSource =
  | string
  | readonly string[]
  | FileList
  | Readable
  | WebStream
  | Iterable<unknown>
  | AsyncIterable<unknown>

export interface FileList {
  /** Paths of files. At least one. */
  readonly files: readonly string[]
}

export interface SourceContext {
  /** The stream behind `-`. */
  readonly stdin?: Readable
  /** Finds inputs that are no files. */
  readonly elsewhere?: Elsewhere | undefined
  /** The folder of relative paths and globs. Default: the working folder. */
  readonly cwd?: string
  /** Ends the wait for the first chunk of a web stream. */
  readonly signal?: AbortSignal
  /** Hears what a glob leaves out, although it matches. */
  readonly warn?: ((message: string) => void) | undefined
}

/** Inputs that are found one by one, and are forgotten together. */
const KNOWN_AT_ONCE = 1024

/**
 * Finds every input and checks that it can be opened, before any is opened. Sorts globs. An input named twice is read once.
 * Throws SluiceError: INPUT_NOT_FOUND, INPUT_UNREADABLE, OPTION_INVALID if `source` is none of the kinds above.
 */
export async function findSources(source: IngestSource | RangeList, context: SourceContext): Promise<Source[]> {
  const { stdin, elsewhere, cwd = '.', signal, warn } = context
  const folder = resolve(cwd)
  if (source instanceof RangeList) return await openRanges(source, { folder, elsewhere })
  if (isFileList(source)) return sourcesOf(listedFiles(source.files, { folder, elsewhere }), folder)
  const names = typeof source === 'string' ? [source] : source
  if (!isListOfNames(names)) return [await sourceOf(source, signal)]
  return sourcesOf(findFiles(names, { folder, elsewhere, stdin: stdin !== undefined, warn }), folder, stdin)
}

/**
 * Finds the same inputs, for a caller that needs each only until it takes the next one: very many take no memory. Objects come as their server
 * lists them. Throws SluiceError as above.
 */
export async function* eachSource(source: IngestSource | RangeList, context: SourceContext): AsyncGenerator<Source> {
  const { stdin, elsewhere, cwd = '.', warn } = context
  const folder = resolve(cwd)
  const names = typeof source === 'string' ? [source] : source
  if (!isListOfNames(names)) return yield* await findSources(source, context)
  const files = findFiles(names, { folder, elsewhere, stdin: stdin !== undefined, order: 'listed', warn })
  const place = { folder, table: new FileTable(folder), stdin }
  let id = 0
  for await (const file of files) {
    yield await sourceAt(id, file, place)
    id = (id + 1) % KNOWN_AT_ONCE
    if (id > 0) continue
    place.table.clear()
    elsewhere?.forget()
  }
}

async function sourcesOf(files: AsyncIterable<FoundFile>, folder: string, stdin?: Readable): Promise<Source[]> {
  const sources: Source[] = []
  const table = new FileTable(folder)
  for await (const file of files) sources.push(await sourceAt(sources.length, file, { folder, table, stdin }))
  return sources
}

interface Place {
  readonly folder: string
  readonly table: FileTable
  readonly stdin?: Readable | undefined
}

async function sourceAt(id: number, file: FoundFile, { folder, table, stdin }: Place): Promise<Source> {
  const { name, device, stat, open, isLink = false } = file
  if (open !== undefined) return open(id)
  const path = resolve(folder, name)
  if (stat === undefined) return { id, name, open: signal => decompress(bytesOf(file, path, stdin, signal), name) }
  table.set(id, name, device, stat)
  await table.real.find(id, path, isLink)
  return new StoredInput(id, table)
}

function bytesOf(
  { kind, name }: FoundFile,
  path: string,
  stdin: Readable | undefined,
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  if (kind === 'stdin' && stdin !== undefined) return readStream(stdin, name, signal)
  return kind === 'fifo' ? readFifo(path, name, signal) : readFile(path, name, signal)
}

async function sourceOf(given: unknown, signal: AbortSignal | undefined): Promise<Source> {
  refuse(problemOf(given))
  const source = isWebStream(given) ? new WebChunks(given) : given
  const isText = source instanceof WebChunks && !(await source.areItems(signal))
  const stream = isText ? Readable.from(source, { highWaterMark: 1 }) : asByteStream(source)
  if (stream !== undefined) {
    const name = '(stream)'
    const open = (signal: AbortSignal) => decompress(readStream(stream, name, signal), name)
    return { id: 0, name, open, close: async () => await closedSoon(() => closeUnread(stream)) }
  }
  if (!isIterable(source)) {
    const problem = 'expected paths, a stream, or an iterable of documents'
    throw fail('OPTION_INVALID', { option: 'source', problem })
  }
  const name = '(iterable)'
  let isOpen = false
  return {
    id: 0,
    name,
    open: signal => {
      isOpen = true
      return readItems(source, name, signal)
    },
    close: async () => {
      if ('next' in source) over.add(source)
      await closedSoon(() => (isOpen ? undefined : closeUnread(source)))
    },
  }
}

/** Generators and cursors that a load has closed. They give nothing any more, and do not say so. */
const over = new WeakSet<object>()

/** Returns any kind of bytes as a Node stream, or undefined for everything else. */
function asByteStream(source: unknown): Readable | undefined {
  if (types.isAnyArrayBuffer(source)) return Readable.from([Buffer.from(source)])
  if (ArrayBuffer.isView(source))
    return Readable.from([Buffer.from(source.buffer, source.byteOffset, source.byteLength)])
  if (!isReadable(source) || source.readableObjectMode) return undefined
  return isRequest(source) ? bodyOf(source) : source
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: 'source', problem })
}

/** Returns why nothing can be read from a stream. */
function problemOf(source: unknown): string | undefined {
  if (isWebStream(source) && source.locked) return 'another reader has locked the stream'
  if (typeof source === 'object' && source !== null && over.has(source))
    return 'an earlier load has closed this iterator. Make a new one for each load'
  return wasRead(source) ? 'the stream was read to its end before' : undefined
}

function wasRead(source: unknown): boolean {
  if (!isWebStream(source)) return isReadable(source) && source.readableEnded
  // Node's functions know streams of the web, and their types do not.
  const stream = source as unknown as Readable
  return Readable.isDisturbed(stream) && !mayGoOn(stream) && !isErrored(stream)
}

/** Returns whether it is a stream. Those of the readable-stream package are not instances of Node's class. */
function isReadable(source: unknown): source is Readable {
  if (source instanceof Readable) return true
  return isIterable(source) && 'readableObjectMode' in source && 'destroy' in source && 'pipe' in source
}

function isFileList(source: IngestSource): source is FileList {
  return typeof source === 'object' && source !== null && !isIterable(source) && 'files' in source
}

function isListOfNames(source: unknown): source is readonly string[] {
  return Array.isArray(source) && source.length > 0 && source.every(name => typeof name === 'string')
}

function isIterable(source: unknown): source is Iterable<unknown> | AsyncIterable<unknown> {
  return typeof source === 'object' && source !== null && (Symbol.asyncIterator in source || Symbol.iterator in source)
}
