/**
 * A load of ranges: its options, which are those of any load without what only a whole load can do, and the inputs that it may cut. Looks
 * at these before others load them: what stands for their content on any machine.
 */
import { isForeignIndex, isTable, listedIn } from '../../options/names.js'
import type { IngestOptions } from '../../options/ingest-options.js'
import type { Load } from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import { readOptions } from '../../options/read-options.js'
import { type InputRange, RangeList, seenText, wholeMs } from '../../pipeline/source/ranges.js'
import type { Feature } from '../../run/loop/hooks.js'
import { fail, isSluiceError } from '../../base/failure/failure.js'
import type { Source } from '../../base/flow.js'
import { decode } from '../../pipeline/format/decode.js'
import { isCompressed } from '../../base/compression/decompress.js'
import type { CuttableFile } from '../../pipeline/source/stored-file.js'
import { isPath } from '../../base/text/source-url.js'

/** Options that prepare or finish a whole load, or that read inputs without a plan. */
export const ofWhole = [
  'source',
  'stdin',
  'runId',
  'again',
  'dryRun',
  'follow',
  'spool',
  'swapAlias',
  'indexBody',
  'checkQuery',
  'checkHits',
  'mapping',
  'template',
  'againstIndex',
  'tune',
  'deletions',
] as const satisfies readonly (keyof IngestOptions)[]

/** Rewrites lines, so that the offsets of the input are lost. Such an input is loaded whole. */
const rewriting = ['edits', 'transform', 'pick', 'csv'] as const satisfies readonly (keyof IngestOptions)[]

/** Options of a load of ranges. `stateDir` only counts for the traffic plan: no state of the load is kept. */
export type RangeOptions = Omit<IngestOptions, (typeof ofWhole)[number]>

/** The range that one call loads. */
export interface RangeJob {
  /** Name of the run that the ranges belong to. Other runs make other ids. */
  readonly run: string
  readonly ranges: readonly InputRange[]
  /**
   * True if no worker has sent a document of these ranges in this run. Default false: a worker may have been killed, so
   * Sluice looks for second copies. With ids of Sluice's own a conflict is a duplicate in either case.
   */
  readonly isFirstDelivery?: boolean | undefined
}

/** Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function readRangeOptions(given: RangeOptions, { run, ranges }: RangeJob): Load {
  const values: Readonly<Record<string, unknown>> = { ...given }
  const other = ofWhole.find(name => values[name] !== undefined)
  if (other !== undefined) throw invalid(other, 'belongs to a whole load, and not to ranges of its inputs')
  checkRanges(given, ranges)
  const named = ranges.map(({ name }) => name)
  const load = readOptions({ ...given, source: areShards(ranges) ? named : { files: named } })
  const { ids } = load.documents
  // Names without the secrets of URLs, in the same order.
  const names = listedIn(load.inputs.source) ?? []
  const shown = ranges.map((range, at) => ({ ...range, name: names[at] ?? range.name }))
  return {
    ...load,
    inputs: { ...load.inputs, source: new RangeList(run, shown) },
    documents: ids.from === 'run' ? { ...load.documents, ids: { from: 'run', by: 'offset' } } : load.documents,
    state: { ...load.state, runId: run, stateDir: undefined },
  }
}

/** Each document of an index comes with all that its edits need. */
function areShards(ranges: readonly InputRange[]): boolean {
  return ranges.length > 0 && ranges.every(({ name, from }) => isForeignIndex(name) && from !== undefined)
}

/** Returns the options of a whole load that its ranges have too. */
export function ofRanges(options: Omit<IngestOptions, 'source'>): RangeOptions {
  const isOfWhole = (name: string) => (ofWhole as readonly string[]).includes(name)
  return Object.fromEntries(Object.entries(options).filter(([name]) => !isOfWhole(name))) as unknown as RangeOptions
}

function checkRanges(given: RangeOptions, ranges: readonly InputRange[]): void {
  const table = ranges.find(({ name }) => isTable(name))
  if (table !== undefined) throw invalid('ranges', `hold ${table.name}, which is a table and no file`)
  const isCut = ranges.some(({ from, to }) => from !== undefined || to !== undefined)
  if (!ranges.every(isRange)) throw invalid('ranges', 'hold one that does not end behind its start')
  if (areShards(ranges)) return
  if (!isCut) return
  const { format = 'auto' } = given
  if (format !== 'auto' && format !== 'ndjson') throw invalid('format', `is '${format}', which ${LOST}`)
  const name = rewriting.find(one => given[one] !== undefined)
  if (name !== undefined) throw invalid(name, LOST)
}

const LOST = 'needs the whole input: a range knows neither its lines before nor their numbers'

function isRange({ from, to }: InputRange): boolean {
  if (from === undefined && to === undefined) return true
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) && 0 <= Number(from) && Number(from) < Number(to)
}

/**
 * Loads ranges of inputs as a part of a run that many processes share. It keeps no state: a range is loaded again from its start.
 * `isFirstDelivery`: see `RangeJob`.
 */
export function loadRanges(isFirstDelivery: boolean): Feature {
  return () => ({
    identify: plain => ({
      ...plain,
      plan: async planning => ({ ...(await plain.plan(planning)), isDoubtful: !isFirstDelivery }),
    }),
    // Every worker gives a line of this run the same id.
    sending: { sentBefore: !isFirstDelivery, repeatsIds: true },
  })
}

/** An input as one process found it. */
export interface FoundInput {
  /** Without the secrets of a URL. */
  readonly name: string
  /** Stored bytes. */
  readonly size: number
  /** Goes into each range of it: see `InputRange`. */
  readonly identity: string
  /** True if it is plain NDJSON that can be loaded in ranges. False for inputs of less than `cutFrom` bytes, which Sluice does not read. */
  readonly canBeCut: boolean
  /** Set for a shard of another cluster's index: how many sequence numbers it is cut by. Otherwise it is cut by its bytes. */
  readonly numbers?: number
}

/**
 * Refuses URLs that others cannot use by their shown names, which hold neither login nor query. Secrets of inputs go into no plan.
 * Throws SluiceError OPTION_INVALID.
 */
export function refuseSecrets({ remote }: Pick<Load, 'remote'>): void {
  for (const { name, url, username } of remote?.addresses.values() ?? []) {
    const has = username !== undefined ? 'a login' : url !== undefined && url.search !== '' ? 'a query' : undefined
    if (has === undefined) continue
    const problem = `holds ${name} with ${has}, which would be a part of the plan that others read. Use s3:// or a URL without ${has}`
    throw fail('OPTION_INVALID', { option: 'source', problem })
  }
}

/** Yields one input after the other. Throws SluiceError INPUT_UNREADABLE for an input that no other process can read, SOURCE_*. */
export async function* planInputs(
  sources: AsyncIterable<Source>,
  load: Pick<Load, 'inputs' | 'edits' | 'transform'>,
  cutFrom: number,
  signal: AbortSignal,
): AsyncGenerator<FoundInput> {
  for await (const source of sources) {
    const { name } = source
    const file = cuttable(source)
    const { size } = file.stat
    const identity = await identityOf(name, file)
    const mayCut = size >= cutFrom && file.hasRanges && !isRewritten(load)
    yield { name, size, identity, canBeCut: mayCut && (await isPlain(source, file, load, signal)) }
  }
}

function cuttable({ name: input, file }: Source): CuttableFile {
  if (file !== undefined && 'between' in file) return file as CuttableFile
  const problem =
    'it can be read only once, or its length is unknown, so no other process can load it. Save it as a file first'
  throw fail('INPUT_UNREADABLE', { input, problem })
}

async function identityOf(input: string, file: CuttableFile): Promise<string> {
  const { size, mtimeMs, ctimeMs: etagNumber } = file.stat
  const modifiedMs = wholeMs(mtimeMs)
  if (isPath(input)) {
    const { head } = await file.look()
    return seenText({ kind: 'file', size, modifiedMs, content: head.sha256.slice(0, 32) })
  }
  const problem =
    'its server names neither its version (ETag) nor the time of its change, so Sluice cannot notice if it is replaced'
  if (etagNumber === 0 && modifiedMs === 0) throw fail('INPUT_UNREADABLE', { input, problem })
  return seenText({ kind: 'object', size, modifiedMs, content: String(etagNumber) })
}

function isRewritten({
  inputs: { format, pick, csv },
  edits,
  transform,
}: Pick<Load, 'inputs' | 'edits' | 'transform'>) {
  const isOther = format !== 'auto' && format !== 'ndjson'
  return isOther || pick !== undefined || csv !== undefined || edits !== undefined || transform !== undefined
}

/** Bytes that show what an input is. */
const HEAD_BYTES = (1 << 20) + 1

async function isPlain(
  { id, name }: Source,
  file: CuttableFile,
  { inputs: { format } }: Pick<Load, 'inputs'>,
  signal: AbortSignal,
): Promise<boolean> {
  const head = await headOf(file, signal)
  if (head === undefined || isCompressed(head, name)) return false
  const bytes = (async function* () {
    yield await Promise.resolve(head)
  })()
  const decoding = decode({ id, name, open: () => bytes }, bytes, { format })
  // The load of the whole input reports what is wrong with it.
  return await decoding.then(
    ({ kind }) => kind === 'lines',
    () => false,
  )
}

/** Returns undefined if offsets do not count in what the server sends. */
async function headOf(file: CuttableFile, signal: AbortSignal): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  try {
    for await (const chunk of file.between(signal, 0, HEAD_BYTES)) parts.push(Uint8Array.from(chunk))
    return Buffer.concat(parts)
  } catch (error) {
    if (isSluiceError(error) && error.code === 'INPUT_MALFORMED') return undefined
    throw error
  }
}
