import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Source } from '../flow.js'
import { readStream } from './read-stream.js'
import { type Segment, type SegmentFolder, beginSegment, unmarkEnded, writing } from './spool-segments.js'
import { type Start, compareStart } from './spool-start.js'
import { SpoolWriter } from './spool-writer.js'

export interface Taking {
  readonly folder: SegmentFolder
  /** The source that is stdin. */
  readonly input: Source
  readonly stdin: Readable
  /** Take stdin for another input than what was spooled, whatever it begins with. */
  readonly isOther: boolean
  readonly signal: AbortSignal
  /** Told what became of stdin, where that may not be what one expects. */
  warn(message: string): void
}

/**
 * Begins to write stdin down: behind what was spooled last where it is the same again, else in a segment of its own. Undefined
 * when there is something to finish, and nothing comes. Throws SluiceError: STATE_UNWRITABLE, INPUT_UNREADABLE; the signal's reason.
 */
export async function takeStdin(options: Taking, before: readonly Segment[]): Promise<SpoolWriter | undefined> {
  const { folder, input, stdin, isOther, signal } = options
  const last = before.at(-1)
  // Nobody types what is to be loaded while something else is.
  if (last !== undefined && 'isTTY' in stdin && stdin.isTTY === true) return undefined
  const chunks: AsyncIterator<Uint8Array> = readStream(stdin, input.name, signal)[Symbol.asyncIterator]()
  try {
    const writer =
      last === undefined || isOther
        ? await newWriter(folder, (last?.number ?? 0) + 1)
        : await beginBehind(options, last, chunks)
    writer?.fill(chunks, signal)
    return writer
  } catch (error) {
    await chunks.return?.(undefined)
    throw error
  }
}

async function beginBehind(
  { folder, warn }: Taking,
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
