/** What a run may take: its time, and its bytes over the wire. */
import type { Cluster } from '../cluster/open-cluster.js'
import { Ending } from './ending.js'
import { type Estimating, estimateTraffic } from './estimate-traffic.js'
import { fail } from '../failure/fail.js'
import { failure } from '../failure/failure.js'
import type { Clock } from '../flow.js'
import type { IngestOptions, WireUse } from '../options/ingest-options.js'
import { ByteBudget } from '../sender/byte-budget.js'

/** One for the index, one for documents, and what is kept for the end of the run, each as large as one of the preflight's. */
const FIRST_REQUESTS = 3

/** When the run ends, as its options say. Their time counts from now, or from when the caller began. */
export function endingOf({ signal, graceMs, timeBudgetMs, startedAt }: IngestOptions, clock: Clock): Ending {
  const now = performance.timeOrigin + performance.now()
  return new Ending({
    signal,
    graceMs,
    timeBudget:
      timeBudgetMs === undefined
        ? undefined
        : { ms: timeBudgetMs, elapsedMs: startedAt === undefined ? 0 : Math.max(0, now - startedAt) },
    clock,
  })
}

/** The way to the cluster, with a limit to what may go over it. */
export interface MeteredWire {
  readonly budget: ByteBudget
  use(): WireUse
  /** What the load will take, and what there is to say of that. */
  foresee(estimating: Omit<Estimating, 'connectionBytes' | 'used'>): Promise<Outlook>
}

interface Outlook {
  readonly notes: readonly string[]
  readonly warnings: readonly string[]
}

/**
 * Once the preflight is over: what its connections took is the measure for those to come.
 * Throws SluiceError OPTION_INVALID for a limit that no request fits into.
 */
export function meterWire(limit: number, { route }: Cluster, ending: Ending): MeteredWire {
  const used = () => route.traffic.bytesSent + route.traffic.bytesReceived
  const connectionBytes = Math.ceil(used() / Math.max(1, route.traffic.connections))
  refuseTooLittle(limit, used(), connectionBytes)
  return {
    budget: new ByteBudget({
      limit,
      used,
      overhead: connectionBytes,
      onSpent: spent => ending.end(settled => failure('BYTE_BUDGET_SPENT', { budget: limit, ...spent, settled })),
    }),
    use: () => ({ bytes: used(), budget: limit }),
    foresee: async estimating => await foresee(limit, { ...estimating, connectionBytes, used: used() }),
  }
}

/** No other process of the run would come further either. */
function refuseTooLittle(limit: number, used: number, connectionBytes: number): void {
  const least = used + FIRST_REQUESTS * connectionBytes
  if (limit >= least) return
  // The next preflight may take a little more.
  const enough = Math.ceil((least * 1.1) / 1000) * 1000
  const problem = `${limit} bytes are too few: the preflight took ${used}, and with one request it has to be ${enough} at least`
  throw fail('OPTION_INVALID', { option: 'byteBudget', problem })
}

async function foresee(limit: number, estimating: Estimating): Promise<Outlook> {
  if (estimating.inputs.every(({ isLoaded }) => isLoaded)) return { notes: [], warnings: [] }
  const { bytes, documents, sampledBytes, unknown } = await estimateTraffic(estimating)
  const [first, ...more] = unknown
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  const besides = first === undefined ? '' : `; of ${first}${others} nothing is known before it is read`
  const estimate = `an estimated ${megabytes(bytes)} will go over the wire for ${documents} documents, judged by ${megabytes(sampledBytes)} of them`
  const budget = `the byte budget is ${megabytes(limit)}`
  if (bytes <= limit) return { notes: [`${estimate}; ${budget}${besides}`], warnings: [] }
  const warning = `${estimate}, and ${budget}: the run will stop before its inputs are loaded, the same command goes on${besides}`
  return { notes: [], warnings: [warning] }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e6 ? 3 : 1)} MB`
}
