/**
 * Sends stdin through the disk. Sluice writes stdin to a file as fast as it comes, and loads that file while it
 * grows. If the process dies, the next one first loads the rest of the file.
 */
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { SluiceError } from '../failure/failure.js'
import type { Input, Lines, Source } from '../flow.js'
import { readStream } from '../source/read-file.js'
import { growingSource, leftSource } from './segment-source.js'
import { beginSegment, listSegments, removeSegments, type SpoolSegment, writing } from './segments.js'
import { SizeLimit } from './size-limit.js'
import { SpoolWriter } from './writer.js'

export interface SpoolingOptions {
  readonly folder: string
  readonly sources: readonly Source[]
  /** The one of `sources` that is stdin. */
  readonly input: Source
  readonly stdin: Readable
  /** Whether stdin repeats the data of earlier processes: then a whole stdin replaces one that was cut. */
  readonly isRepeated: boolean
  /** Most bytes of stdin on the disk. Default: no limit. */
  readonly limit?: number | undefined
  readonly signal: AbortSignal
}

/** Owns the file that it writes. Disposal waits for the end of stdin, unless the signal comes first. */
export interface SpooledStdin extends AsyncDisposable {
  readonly path: string
  /** The sources that were given, with spooled files in the place of stdin. */
  readonly sources: readonly Source[]
  readonly hasLeftovers: boolean
  /** Names of inputs so far that ended too early. */
  readonly cut: readonly string[]
  readonly isFilling: boolean
  /** Notes what the bytes of an input are: only lines can be resumed in their middle. */
  opened(input: Input, kind: Lines['kind']): void
  /** Call it once nothing more is loaded. Waits for the end of stdin. Resolves to why Sluice could not write it, except the signal. */
  untaken(): Promise<SluiceError | undefined>
  /** Deletes the spool after all of it is loaded. Throws SluiceError STATE_UNWRITABLE. */
  remove(): Promise<void>
}

/** Returns whether this is stdin, which cannot be read twice. */
export function isStdin({ name, file }: Source): boolean {
  return file === undefined && (name === '-' || name === '/dev/stdin')
}

/** Begins to write stdin to the disk. Throws SluiceError STATE_UNWRITABLE, INPUT_UNREADABLE, or the signal's reason. */
export async function openSpool(options: SpoolingOptions): Promise<SpooledStdin> {
  const { folder, sources, input: stdin, isRepeated } = options
  const left = await listSegments(folder)
  const sizes = await Promise.all(
    left.map(async ({ path }) => await writing(path, async () => (await stat(path)).size)),
  )
  const writer = await beginToWrite(options, left)
  const name = ({ number }: SpoolSegment) => (number === 1 ? stdin.name : `${stdin.name} (${number})`)
  // Other inputs keep their ids.
  const spooled = [
    ...left.map(segment => leftSource(name(segment), segment, stdin.name)),
    ...(writer === undefined ? [] : [growingSource(name(writer.segment), writer, stdin.name)]),
  ].map((source, at) => ({ ...source, id: sources.length + at }))
  return {
    path: folder,
    sources: sources.flatMap(source => (source === stdin ? spooled : [source])),
    hasLeftovers: left.length > 0,
    get cut() {
      const whole = isRepeated && writer?.isWhole === true ? writer.written : -1
      return left.filter(({ isEnded }, at) => !isEnded && (sizes[at] ?? 0) > whole).map(name)
    },
    get isFilling() {
      return writer?.isOver === false
    },
    opened: (input, kind) => {
      if (kind === 'elements' && writer !== undefined && input.name === name(writer.segment)) writer.loaded(undefined)
    },
    untaken: async () => await writer?.untaken(),
    remove: async () => await removeSegments(folder, [...left, ...(writer === undefined ? [] : [writer.segment])]),
    [Symbol.asyncDispose]: async () => await writer?.[Symbol.asyncDispose](),
  }
}

/** Returns undefined if earlier data is left and stdin is a terminal: a person need not type more. */
async function beginToWrite(
  { folder, input, stdin, limit, signal }: SpoolingOptions,
  left: readonly SpoolSegment[],
): Promise<SpoolWriter | undefined> {
  if (left.length > 0 && 'isTTY' in stdin && stdin.isTTY === true) return undefined
  const { segment, file } = await beginSegment(folder, (left.at(-1)?.number ?? 0) + 1)
  const writer = new SpoolWriter(folder, segment, file, limit === undefined ? undefined : new SizeLimit(limit))
  writer.fill(readStream(stdin, input.name, signal), signal)
  return writer
}
