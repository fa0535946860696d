/** Reads the options of a load of ranges: those of any load, without what only a whole load can do. */
import { isTable, listedIn } from '../../options/names.js'
import type { IngestOptions } from '../../options/ingest-options.js'
import type { Load } from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import { readOptions } from '../../options/read-options.js'
import { type InputRange, RangeList } from '../../pipeline/source/ranges.js'
import type { Feature } from '../../run/loop/hooks.js'

/** Options that prepare or finish a whole load, or that read inputs without a plan. */
const ofWhole = [
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
  const load = readOptions({ ...given, source: { files: ranges.map(({ name }) => name) } })
  const { ids } = load.documents
  // Names without the secrets of URLs, in the same order.
  const names = listedIn(load.inputs.source) ?? []
  const named = ranges.map((range, at) => ({ ...range, name: names[at] ?? range.name }))
  return {
    ...load,
    inputs: { ...load.inputs, source: new RangeList(run, named) },
    documents: ids.from === 'run' ? { ...load.documents, ids: { from: 'run', by: 'offset' } } : load.documents,
    state: { ...load.state, runId: run, stateDir: undefined },
  }
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
