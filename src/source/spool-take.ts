import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Source } from '../flow.js'
import { readStream } from './read-stream.js'
import { pieces } from './spool-drop.js'
import { KNOWN_BYTES, SpoolRoom } from './spool-room.js'
import { type Segment, type SegmentFolder, beginSegment, removeSegments, unmark, writing } from './spool-segments.js'
import { type Spooled, type Start, compareStart } from './spool-start.js'
import { SpoolWriter } from './spool-writer.js'
import { fail } from '../failure/fail.js'

/** Written of a chunk before there has to be room for it. */
const FIRST_BYTES = 4 << 10

export interface Taking {
  readonly folder: SegmentFolder
  /** The source that is stdin. */
  readonly input: Source
  readonly stdin: Readable
  /** Take stdin for another input than what was spooled, whatever it begins with. */
  readonly isOther: boolean
  /** Most bytes on the disk that are kept of it. Default: any number. */
  readonly limit?: number | undefined
  readonly signal: AbortSignal
  /** Told what became of stdin, where that may not be what one expects. */
  warn(message: string): void
}

interface Taken {
  /** Absent when there is something to finish, and nothing comes. */
  readonly writer?: SpoolWriter
  /** What else there is to be read of what was spooled before. */
  readonly old: readonly Segment[]
  /** What was taken of stdin and is not written yet. */
  readonly rest?: Uint8Array
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
  const { input, stdin, isOther, signal } = options
  // Nobody types what is to be loaded while something else is.
  if (before.length > 0 && 'isTTY' in stdin && stdin.isTTY === true) return { old: before }
  const chunks: AsyncIterator<Uint8Array> = readStream(stdin, input.name, signal)[Symbol.asyncIterator]()
  try {
    const taken =
      before.length === 0 || isOther
        ? { writer: await newWriter(options, before), old: await forgetLoaded(options, before) }
        : await compareWith(options, before, chunks)
    taken.writer?.fill(chunks, signal, taken.rest)
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
      opened.push({ segment, file, size: (await file.stat()).size, dropped: segment.dropped })
    }
    // An empty one is the beginning of anything.
    const start = await compareStart(
      chunks,
      opened.filter(({ size }) => size > 0),
    )
    if (start.kind === 'nothing') return { old: before }
    if (isBeginning(start)) {
      options.warn(
        `stdin ended after ${start.same} bytes, which are the first of what was spooled before: it is taken for a repetition that broke off, and none of it is loaded a second time (--again loads it as something new)`,
      )
      return { old: before }
    }
    refuseDropped(options, start)
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
    const writer = await writerBehind(options, start.whole)
    if (start.like !== undefined) await copy(start.like.file, size, start.same, writer)
    const rest = await begin(writer, start.rest.subarray(Math.max(0, size - start.same)))
    kept = file
    return { writer, old: before.filter(({ id }) => id !== segment.id), rest }
  } finally {
    for (const { file } of opened) if (file !== kept) await file.close()
  }
}

/** Whether all of stdin is known, and there is more that is. What was dropped could not be compared. */
function isBeginning({ whole, like, same, isOver }: Exclude<Start<Before>, { kind: 'nothing' }>): boolean {
  if (!isOver || whole !== undefined || like === undefined) return false
  return like.dropped <= KNOWN_BYTES || same <= KNOWN_BYTES
}

/** What was compared is to be written again, and is not there any more. Throws SluiceError INPUT_UNREADABLE. */
function refuseDropped({ input }: Taking, { whole, like, same }: Exclude<Start<Before>, { kind: 'nothing' }>): void {
  const from = Math.max(whole?.size ?? 0, KNOWN_BYTES)
  if (like === undefined || from >= Math.min(same, like.dropped)) return
  const problem =
    'it begins like what was spooled before and goes on otherwise, and what they have in common is not kept (--spool-limit): with --again it is loaded from its start; without any stdin (< /dev/null) what is spooled is loaded to its end'
  throw fail('INPUT_UNREADABLE', { input: input.name, problem })
}

/** Stdin that is none of what was spooled before. `empty`: one that holds nothing yet. */
async function beginOther(
  options: Taking,
  opened: readonly Before[],
  empty: Before | undefined,
  { like, same, rest }: Exclude<Start<Before>, { kind: 'nothing' }>,
): Promise<Taken> {
  const { warn } = options
  const before = opened.map(({ segment }) => segment)
  if (opened.some(({ segment, size }) => size > 0 && !segment.isLoaded))
    warn(
      'an unfinished run has spooled stdin: that is loaded first, and what comes from stdin now is loaded behind it, as something new',
    )
  const writer = empty === undefined ? await newWriter(options, before) : await writerBehind(options, empty)
  if (like !== undefined) await copy(like.file, 0, same, writer)
  const left = await begin(writer, rest)
  const loaded = opened.filter(({ segment }) => segment.isLoaded)
  const bytes = loaded.reduce((sum, { size }) => sum + size, 0)
  if (bytes > 0)
    warn(
      `stdin is not what an interrupted run has loaded without seeing its end: the ${bytes} bytes by which that would be known again are deleted, and should it still come, it is loaded a second time`,
    )
  const old = await forgetLoaded(options, before)
  return { writer, old: old.filter(({ id }) => id !== writer.segment.id), rest: left }
}

/** What is left without those that are loaded, which are removed. */
async function forgetLoaded({ folder }: Taking, before: readonly Segment[]): Promise<readonly Segment[]> {
  const loaded = before.filter(({ isLoaded }) => isLoaded)
  if (loaded.length > 0) await removeSegments(folder, loaded)
  return before.filter(({ isLoaded }) => !isLoaded)
}

async function newWriter(options: Taking, before: readonly Segment[]): Promise<SpoolWriter> {
  const { folder } = options
  const { segment, file } = await beginSegment(folder, (before.at(-1)?.number ?? 0) + 1)
  return new SpoolWriter(folder, segment, file, 0, roomOf(options))
}

/** Owns the file from then on. */
async function writerBehind(options: Taking, { segment, file, size }: Before): Promise<SpoolWriter> {
  const { folder } = options
  if (segment.isEnded || segment.isLoaded) await unmark(folder, segment)
  return new SpoolWriter(folder, { ...segment, isEnded: false, isLoaded: false }, file, size, roomOf(options))
}

function roomOf({ limit }: Taking): SpoolRoom | undefined {
  return limit === undefined ? undefined : new SpoolRoom(limit)
}

/** Whoever looks at the file now sees that it is not what it was. Resolves to what is not written yet. */
async function begin(writer: SpoolWriter, rest: Uint8Array): Promise<Uint8Array> {
  await writer.append(rest.subarray(0, FIRST_BYTES))
  return rest.subarray(FIRST_BYTES)
}

/** The bytes `[from, to)`, if there are any. */
async function copy(file: FileHandle, from: number, to: number, writer: SpoolWriter): Promise<void> {
  for await (const piece of pieces(file, from, to)) await writer.append(piece)
}
