/**
 * Stdin by way of the disk. What comes is written down as fast as it comes, and loaded from there: so a process that comes
 * after this one can go on, although nobody can say it a second time.
 *
 * What a process before has left is loaded first. Stdin that begins with all that was spooled last is the same again, and goes
 * on behind it; any other is an input of its own.
 */
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Input, Source } from '../flow.js'
import { decodedFrom } from './decoded-from.js'
import { readStream } from './read-stream.js'
import { readCut } from './spool-cut.js'
import {
  type Segment,
  type SegmentFolder,
  beginSegment,
  listSegments,
  removeSegments,
  unmarkEnded,
  writing,
} from './spool-segments.js'
import { type Start, compareStart } from './spool-start.js'
import { SpoolWriter } from './spool-writer.js'
import { readFile } from './read-file.js'
import { storedFile } from './stored-file.js'

export interface SpoolOptions {
  readonly folder: SegmentFolder
  readonly sources: readonly Source[]
  /** The one among them that is stdin. */
  readonly input: Source
  readonly stdin: Readable
  /** Take stdin for another input than what was spooled, whatever it begins with. */
  readonly isOther: boolean
  readonly signal: AbortSignal
  /** Told what became of stdin, where that may not be what one expects. */
  warn(message: string): void
}

/** Owns what is written; disposing waits for the end of stdin, unless the signal comes first. */
export interface Spool extends AsyncDisposable {
  readonly path: string
  /** As they were found, with what was spooled in the place of stdin. */
  readonly sources: readonly Source[]
  /** What was spooled without its end, and gets none any more. */
  readonly cut: readonly string[]
  /** Whether more may come from stdin. */
  readonly isFilling: boolean
  /** Resolves when an input can be looked at, and read. */
  begun(input: Input): Promise<void>
  /** All that was read so far will be there after a power cut, too. Throws SluiceError STATE_UNWRITABLE. */
  sync(): Promise<void>
  /** Once all of it is loaded. Throws SluiceError STATE_UNWRITABLE. */
  remove(): Promise<void>
}

/** Whether this is stdin, which cannot be read a second time. */
export function isStdin({ name, file }: Source): boolean {
  return file === undefined && (name === '-' || name === '/dev/stdin')
}

/** Throws SluiceError: STATE_UNWRITABLE, INPUT_UNREADABLE; the signal's reason. */
export async function openSpool(options: SpoolOptions): Promise<Spool> {
  const { folder, sources, input: stdin } = options
  const before = await listSegments(folder)
  const writer = await begin(options, before)
  const old = before.filter(({ id }) => id !== writer?.segment.id)
  const name = ({ number }: Segment) => (number === 1 ? stdin.name : `${stdin.name} (${number})`)
  const spooled = [
    ...old.map(segment => oldSource(name(segment), segment)),
    ...(writer === undefined ? [] : [growingSource(name(writer.segment), writer)]),
  ]
  const all = sources
    .flatMap(source => (source === stdin ? spooled : [source]))
    .map((source, id) => ({ ...source, id }))
  return {
    path: folder.path,
    sources: all,
    cut: old.filter(({ isEnded }) => !isEnded).map(name),
    get isFilling() {
      return writer?.isOver === false
    },
    begun: async input => {
      if (writer !== undefined && input.name === name(writer.segment)) await writer.begun()
    },
    sync: async () => await writer?.sync(),
    remove: async () => await removeSegments(folder, [...old, ...(writer === undefined ? [] : [writer.segment])]),
    [Symbol.asyncDispose]: async () => await writer?.[Symbol.asyncDispose](),
  }
}

/** Where stdin goes; nowhere when there is something to finish, and nothing comes. */
async function begin(options: SpoolOptions, before: readonly Segment[]): Promise<SpoolWriter | undefined> {
  const { folder, input, stdin, isOther, signal } = options
  const last = before.at(-1)
  // Nobody types what is to be loaded while something else is.
  if (last !== undefined && 'isTTY' in stdin && stdin.isTTY === true) return undefined
  const chunks = readStream(stdin, input.name, signal)[Symbol.asyncIterator]()
  const writer =
    last === undefined || isOther
      ? await newWriter(folder, (last?.number ?? 0) + 1)
      : await beginBehind(options, last, chunks)
  writer?.fill(chunks, signal)
  return writer
}

async function beginBehind(
  { folder, warn }: SpoolOptions,
  last: Segment,
  chunks: AsyncIterator<Uint8Array>,
): Promise<SpoolWriter | undefined> {
  const file = await writing(last.path, async () => await open(last.path, 'r+'))
  let isKept = false
  try {
    const { size } = await file.stat()
    const start = await compareStart(chunks, file, size)
    if (size > 0 && start.kind !== 'nothing') warn(whatItIs(start, size))
    if (start.kind === 'nothing' || (start.kind === 'same' && start.rest === undefined && last.isEnded))
      return undefined
    if (start.kind === 'other') {
      const writer = await newWriter(folder, last.number + 1)
      await copy(file, start.same, writer)
      await writer.append(start.rest)
      return writer
    }
    if (last.isEnded) await unmarkEnded(folder, last)
    isKept = true
    const writer = new SpoolWriter(folder, { ...last, isEnded: false }, file, size)
    // Whoever looks at the file now sees that it is not what it was.
    if (start.rest !== undefined) await writer.append(start.rest)
    return writer
  } finally {
    if (!isKept) await file.close()
  }
}

function whatItIs(start: Start, size: number): string {
  if (start.kind === 'same')
    return `stdin begins with the ${size} bytes that an unfinished run has spooled: it is taken for the same data, and not loaded a second time (--again loads it as something new)`
  return 'an unfinished run has spooled stdin: that is loaded first, and what comes from stdin now is loaded behind it, as something new'
}

async function newWriter(folder: SegmentFolder, number: number): Promise<SpoolWriter> {
  const { segment, file } = await beginSegment(folder, number)
  return new SpoolWriter(folder, segment, file, 0)
}

async function copy(from: FileHandle, bytes: number, writer: SpoolWriter): Promise<void> {
  const buffer = Buffer.alloc(1 << 16)
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await from.read(buffer, 0, Math.min(buffer.length, bytes - at), at)
    await writer.append(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
}

function oldSource(name: string, { id, path, isEnded }: Segment): Source {
  const file = storedFile(path, name)
  const read = isEnded ? readFile : readCut
  const open: Source['open'] = (signal, from = 0) =>
    decodedFrom({ name, file, from, read: at => read(path, name, signal, at) })
  return { id: 0, name, file, spool: { id, grows: false }, open }
}

function growingSource(name: string, writer: SpoolWriter): Source {
  const { id, path } = writer.segment
  const file = storedFile(path, name)
  const open: Source['open'] = (signal, from = 0) =>
    decodedFrom({ name, file, from, read: at => writer.read(name, at, signal) })
  return { id: 0, name, file, spool: { id, grows: true }, open }
}
