/** Opens inputs, or ranges of them, that somebody else has found: exactly what that one saw, or a failure. */
import { isCompressed } from '../../base/compression/decompress.js'
import { fail } from '../../base/failure/failure.js'
import type { FileStat, ReadMemory, Source } from '../../base/flow.js'
import { FileTable } from './file-table.js'
import type { Elsewhere } from './find-files.js'
import { linesInRange } from './lines-in-range.js'
import { changeOf, contentOf, type CuttableInput, readSeen, type SeenInput, StoredInput } from './stored-file.js'

/** An input, or a range of it. */
export interface InputRange {
  /** A path or URL, as exactly one input is named. */
  readonly name: string
  /** Offsets in the stored bytes of plain NDJSON. Absent: the input is loaded whole, whatever its format. */
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
