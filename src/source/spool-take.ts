import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Source } from '../flow.js'
import { readStream } from './read-stream.js'
import { type Segment, type SegmentFolder, beginSegment, removeSegments, unmark, writing } from './spool-segments.js'
import { type Spooled, type Start, compareStart } from './spool-start.js'
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

interface Taken {
  /** Absent when there is something to finish, and nothing comes. */
  readonly writer?: SpoolWriter
  /** What else there is to be read of what was spooled before. */
  readonly old: readonly Segment[]
}

/** What was spooled before, opened. */
interface Before extends Spooled {
  readonly segment: Segment
}

/**
 * Begins to write stdin down: behind what was spooled before where it is the same again, else in a segment of its own. Other
 * stdin ends the wait for a repetition of what is loaded: that is removed.
 * Throws SluiceError: STATE_UNWRITABLE, INPUT_UNREADABLE; the signal's reason.
 */
export async function takeStdin(options: Taking, before: readonly Segment[]): Promise<Taken> {
  const { folder, input, stdin, isOther, signal } = options
  // Nobody types what is to be loaded while something else is.
  if (before.length > 0 && 'isTTY' in stdin && stdin.isTTY === true) return { old: before }
  const chunks: AsyncIterator<Uint8Array> = readStream(stdin, input.name, signal)[Symbol.asyncIterator]()
  try {
    const taken =
      before.length === 0 || isOther
        ? { writer: await newWriter(folder, before), old: await forgetLoaded(folder, before) }
        : await compareWith(options, before, chunks)
    taken.writer?.fill(chunks, signal)
    return taken
  } catch (error) {
    await chunks.return?.(undefined)
    throw error
  }
}

async function compareWith(
  options: Taking,
  before: readonly Segment[],
  chunks: AsyncIterator<Uint8Array>,
): Promise<Taken> {
  const opened: Before[] = []
  let kept: FileHandle | undefined
  try {
    for (const segment of before) {
      const file = await writing(segment.path, async () => await open(segment.path, 'r+'))
      opened.push({ segment, file, size: (await file.stat()).size })
    }
    // An empty one is the beginning of anything.
    const start = await compareStart(
      chunks,
      opened.filter(({ size }) => size > 0),
    )
    if (start.kind === 'nothing') return { old: before }
    if (start.whole === undefined) {
      const empty = opened.findLast(({ segment, size }) => size === 0 && !segment.isLoaded)
      const taken = await beginOther(options, opened, empty, start)
      kept = empty?.file
      return taken
    }
    const { segment, file, size } = start.whole
    options.warn(
      `stdin begins with the ${size} bytes that an unfinished run has spooled: it is taken for the same data, and not loaded a second time (--again loads it as something new)`,
    )
    if (start.isOver && start.same === size && segment.isEnded) return { old: before }
    const writer = await writerBehind(options.folder, start.whole)
    // Whoever looks at the file now sees that it is not what it was.
    if (start.like !== undefined) await copy(start.like.file, size, start.same, writer)
    await writer.append(start.rest.subarray(Math.max(0, size - start.same)))
    kept = file
    return { writer, old: before.filter(({ id }) => id !== segment.id) }
  } finally {
    for (const { file } of opened) if (file !== kept) await file.close()
  }
}

/** Stdin that is none of what was spooled before. `empty`: one that holds nothing yet. */
async function beginOther(
  { folder, warn }: Taking,
  opened: readonly Before[],
  empty: Before | undefined,
  { like, same, rest }: Exclude<Start<Before>, { kind: 'nothing' }>,
): Promise<Taken> {
  const before = opened.map(({ segment }) => segment)
  if (opened.some(({ segment, size }) => size > 0 && !segment.isLoaded))
    warn(
      'an unfinished run has spooled stdin: that is loaded first, and what comes from stdin now is loaded behind it, as something new',
    )
  const writer = empty === undefined ? await newWriter(folder, before) : await writerBehind(folder, empty)
  if (like !== undefined) await copy(like.file, 0, same, writer)
  await writer.append(rest)
  const loaded = opened.filter(({ segment }) => segment.isLoaded)
  const bytes = loaded.reduce((sum, { size }) => sum + size, 0)
  if (bytes > 0)
    warn(
      `stdin is not what an interrupted run has loaded without seeing its end: the ${bytes} bytes by which that would be known again are deleted, and should it still come, it is loaded a second time`,
    )
  const old = await forgetLoaded(folder, before)
  return { writer, old: old.filter(({ id }) => id !== writer.segment.id) }
}

/** What is left without those that are loaded, which are removed. */
async function forgetLoaded(folder: SegmentFolder, before: readonly Segment[]): Promise<readonly Segment[]> {
  const loaded = before.filter(({ isLoaded }) => isLoaded)
  if (loaded.length > 0) await removeSegments(folder, loaded)
  return before.filter(({ isLoaded }) => !isLoaded)
}

async function newWriter(folder: SegmentFolder, before: readonly Segment[]): Promise<SpoolWriter> {
  const { segment, file } = await beginSegment(folder, (before.at(-1)?.number ?? 0) + 1)
  return new SpoolWriter(folder, segment, file, 0)
}

/** Owns the file from then on. */
async function writerBehind(folder: SegmentFolder, { segment, file, size }: Before): Promise<SpoolWriter> {
  if (segment.isEnded || segment.isLoaded) await unmark(folder, segment)
  return new SpoolWriter(folder, { ...segment, isEnded: false, isLoaded: false }, file, size)
}

/** The bytes `[from, to)`, if there are any. */
async function copy(file: FileHandle, from: number, to: number, writer: SpoolWriter): Promise<void> {
  const buffer = Buffer.alloc(1 << 16)
  for (let at = from; at < to;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at)
    await writer.append(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
}
