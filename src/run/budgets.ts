/** What a run may take: its time, and its bytes over the wire. */
import type { Cluster } from '../cluster/open-cluster.js'
import { Ending } from './ending.js'
import { fail } from '../failure/fail.js'
import { failure } from '../failure/failure.js'
import type { Clock } from '../flow.js'
import type { IngestOptions, WireUse } from '../options/ingest-options.js'
import { ByteBudget } from '../sender/layers/budget.js'

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
