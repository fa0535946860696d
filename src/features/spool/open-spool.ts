/**
 * Sends stdin through the disk. Sluice writes stdin to a file as fast as it comes, and loads that file while it
 * grows. If the process dies, the next one first loads the rest of the file.
 */
import { stat, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type SluiceError, fail } from '../../base/failure/failure.js'
import type { Source, Copy } from '../../base/flow.js'
import { readStream, readFile } from '../../pipeline/source/read-file.js'
import { beginSegment, listSegments, removeSegments, type SpoolSegment, writing } from './segments.js'
import { SizeLimit } from './size-limit.js'
import { SpoolWriter } from './writer.js'
import { decodedFrom, look } from '../../pipeline/source/stored-file.js'
import { LINE_FEED } from '../../base/text/bytes.js'

interface SpoolingOptions {
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
  /** The sources that were given, with spooled files instead of stdin. */
  readonly sources: readonly Source[]
  readonly hasLeftovers: boolean
  /** Names of inputs so far that ended too early. */
  readonly cut: readonly string[]
  readonly isFilling: boolean
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

const LOOK_BYTES = 1 << 16

/** Makes an input of a segment that an earlier process left. */
function leftSource(name: string, segment: SpoolSegment, of: string): Source {
  const { id, path, isEnded, dropped } = segment
  const read = isEnded ? readFile : readCut
  const open: Source['open'] = (signal, from = 0, _place, into) => {
    refuseDropped(name, from, dropped)
    return decodedFrom(name, path, from, at => read(path, name, signal, { from: at, into }))
  }
  return { id: 0, name, copy: { id, of, grows: false }, open }
}

/** Makes an input of the segment that this process writes. */
function growingSource(name: string, writer: SpoolWriter, of: string): Source {
  const { id, path } = writer.segment
  const copy: Copy = {
    id,
    of,
    grows: true,
    begun: async () => await writer.begun(),
    sync: async () => await writer.sync(),
    loaded: to => writer.loaded(to),
  }
  const open: Source['open'] = (signal, from = 0) => {
    refuseDropped(name, from, writer.dropped)
    return decodedFrom(name, path, from, at => writer.read(name, at, signal), { grows: true })
  }
  return { id: 0, name, copy, open }
}

function refuseDropped(name: string, from: number, dropped: number): void {
  if (from >= dropped) return
  const problem = `Sluice loaded its first ${dropped.toLocaleString('en-US')} bytes and deleted them (--spool-limit), but their checkpoint is gone or the index is a different one`
  throw fail('INPUT_UNREADABLE', { input: name, problem })
}

/** Reads all of a segment that lacks its end, then throws SluiceError INPUT_UNENDED. */
async function* readCut(
  path: string,
  name: string,
  signal: AbortSignal,
  reading: Parameters<typeof readFile>[3],
): AsyncGenerator<Uint8Array> {
  yield* readFile(path, name, signal, reading)
  const { size } = await stat(path)
  const torn = (await look(path, name)).isCompressed ? 0 : await bytesOfLastLine(path, size)
  const inLine = torn === 0 ? '' : `, and the last ${torn} bytes are an incomplete line`
  throw fail('INPUT_UNENDED', { input: name, observed: `Sluice spooled ${size} bytes${inLine}`, bytes: size, torn })
}

async function bytesOfLastLine(path: string, size: number): Promise<number> {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(LOOK_BYTES)
    for (let end = size; end > 0;) {
      const start = Math.max(0, end - LOOK_BYTES)
      const { bytesRead } = await file.read(buffer, 0, end - start, start)
      const lineFeed = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
      if (lineFeed !== -1) return size - (start + lineFeed + 1)
      end = start
    }
    return size
  } finally {
    await file.close()
  }
}
