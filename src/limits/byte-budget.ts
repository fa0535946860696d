import type { Cluster } from '../cluster/open-cluster.js'
import { fail } from '../failure/fail.js'
import { failure } from '../failure/failure.js'
import type { StopSignals } from '../run/stop-signals.js'
import type { StopSection } from '../options/load.js'
import type { Feature, Run, RunHook } from '../run/hooks.js'
import { ByteBudget } from '../sender/layers/budget.js'

/**
 * One request for the index, one for documents, and a reserve for the end of the run. Each counts like a request of
 * the preflight.
 */
const FIRST_REQUESTS = 3

/** Ends a run before it sends more bytes than it may. */
export function limitBytes({ byteBudget }: StopSection): Feature {
  return run => (byteBudget === undefined ? undefined : limitTo(byteBudget, run))
}

function limitTo(limit: number, { stop }: Run): RunHook {
  let used = () => 0
  let budget: ByteBudget | undefined
  return {
    connected: async ({ route }) => {
      used = () => route.traffic.bytesSent + route.traffic.bytesReceived
      budget = openBudget(limit, used, route, stop)
      return await Promise.resolve([])
    },
    get sending() {
      return budget === undefined ? {} : { budget }
    },
    progress: () => ({ wire: { bytes: used(), budget: limit } }),
  }
}

/**
 * Opens the budget after the preflight: what its connections took is the measure for those to come.
 * Throws SluiceError OPTION_INVALID for a limit that no request fits into.
 */
function openBudget(limit: number, used: () => number, { traffic }: Cluster['route'], stop: StopSignals): ByteBudget {
  const connectionBytes = Math.ceil(used() / Math.max(1, traffic.connections))
  refuseTooLittle(limit, used(), connectionBytes)
  return new ByteBudget({
    limit,
    used,
    overhead: connectionBytes,
    onSpent: spent => stop.end(settled => failure('BYTE_BUDGET_SPENT', { budget: limit, ...spent, settled })),
  })
}

/** No other process of the run would come further either. */
function refuseTooLittle(limit: number, used: number, connectionBytes: number): void {
  const least = used + FIRST_REQUESTS * connectionBytes
  if (limit >= least) return
  // The next preflight may take a little more.
  const enough = Math.ceil((least * 1.1) / 1000) * 1000
  const [given, taken, needed] = [limit, used, enough].map(bytes => bytes.toLocaleString('en-US'))
  const problem = `${given} bytes is too small: preflight used ${taken}. Set at least ${needed}`
  throw fail('OPTION_INVALID', { option: 'byteBudget', problem })
}
