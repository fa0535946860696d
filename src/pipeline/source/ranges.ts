/** Opens inputs, or ranges of them, that somebody else has found: exactly what that one saw, or a failure. */
import { isCompressed } from '../../base/compression/decompress.js'
import { fail } from '../../base/failure/failure.js'
import type { FileStat, ReadMemory, Source } from '../../base/flow.js'
import { type CuttableInput, FileTable, type SeenInput, StoredInput } from './stored-file.js'
import type { Elsewhere } from './find-files.js'
import { linesInRange } from './lines-in-range.js'

/** An input, or a range of it. */
export interface InputRange {
  /** A path or URL, as exactly one input is named. */
  readonly name: string
  /**
   * Offsets in the stored bytes of plain NDJSON, or sequence numbers of a shard of another cluster's index. Absent: the input is loaded
   * whole, whatever its format.
   */
  readonly from?: number | undefined
  readonly to?: number | undefined
  /** The facts that Sluice saw of the file: see `seenText`. */
  readonly identity: string
}

/** Inputs in the order in which they are read. A class, so that nothing else that a program passes is taken for one. */
export class RangeList {
  readonly ranges: readonly InputRange[]
  /** The run that the ranges belong to. */
  readonly run: string

  constructor(run: string, ranges: readonly InputRange[]) {
    this.run = run
    this.ranges = ranges
  }
}

interface Where {
  /** The folder of relative paths. */
  readonly folder: string
  readonly elsewhere?: Elsewhere | undefined
}

/** Asks for nothing yet: an input that is missing, or another one by now, fails when its turn comes. Throws SluiceError OPTION_INVALID. */
export async function openRanges({ run, ranges }: RangeList, { folder, elsewhere }: Where): Promise<Source[]> {
  const sources: Source[] = []
  const table = new FileTable(folder)
  for (const [id, range] of ranges.entries()) {
    const seen = readSeen(range.identity)
    const isElsewhere = elsewhere?.has(range.name) === true
    if (isElsewhere !== (seen.kind === 'object')) throw misfit(range)
    const input = isElsewhere
      ? await elsewhere.known(id, range.name, seen)
      : storedInput(id, range.name, seen, { table, run })
    sources.push(rangeOf(input, range, seen))
  }
  return sources
}

/** The parts that all files of a list share. */
interface Shared {
  readonly table: FileTable
  readonly run: string
}

function storedInput(id: number, name: string, seen: SeenInput, { table, run }: Shared): StoredInput {
  const check = (stat: FileStat) => {
    const observed = changeOf(seen, stat)
    if (observed !== undefined) throw fail('INPUT_CHANGED', { input: name, run, did: 'planned to load it', observed })
  }
  table.set(id, name, 0, { size: seen.size, inode: 0, mtimeMs: seen.modifiedMs, ctimeMs: 0 })
  table.checks.set(id, check)
  return new StoredInput(id, table)
}

function rangeOf(input: CuttableInput, { name, from, to }: InputRange, seen: SeenInput): Source {
  const { id, file } = input
  const known = { id, name, seen: contentOf(seen) }
  if (from === undefined || to === undefined)
    return {
      ...known,
      file,
      open: (signal, at, place, into) => input.open(signal, at, place, into),
      ahead: () => input.ahead?.(),
    }
  const begin = async (signal: AbortSignal, into?: ReadMemory) => {
    const read = (start: number, end: number) => file.between(signal, start, end, into)
    return await linesInRange({ size: seen.size, read }, from, to)
  }
  const open = async function* (signal: AbortSignal, _from?: unknown, _place?: unknown, into?: ReadMemory) {
    const { bytes } = await begin(signal, into)
    yield* from === 0 ? plain(name, bytes) : bytes
  }
  return { ...known, range: { from, begin }, open }
}

/** Refuses an object that is compressed: reading cannot begin in its middle. */
async function* plain(input: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const chunk of chunks) {
    if (isFirst && isCompressed(chunk, input)) throw cannotCut(input, 'it is compressed')
    isFirst = false
    yield chunk
  }
}

/** The failure of an input that is not plain NDJSON, and was cut all the same. */
export function cannotCut(input: string, why: string) {
  const problem = `cannot be loaded in ranges, because ${why}. Load it whole`
  return fail('INPUT_MALFORMED', { input, format: 'ndjson', problem })
}

function misfit({ name }: InputRange) {
  return fail('OPTION_INVALID', { option: 'ranges', problem: `give ${name} an identity of another kind of input` })
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
