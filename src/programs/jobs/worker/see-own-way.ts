/** Finds out how requests of this worker reach its cluster: through which proxy, and from which addresses. */
import { openTarget, resolveTarget } from '../../../route/connect/open-target.js'
import { isSluiceError } from '../../../base/failure/failure.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import { readConnecting } from '../../../options/read-options.js'
import { BudgetShare } from '../budget/budget-share.js'
import type { SharedBytes } from '../budget/shared-bytes.js'
import type { OwnWay } from '../queue/worker-sign.js'

/** Asks the address check only if one is set. `plans`: what it costs counts for them. Throws what is no SluiceError. */
export async function seeOwnWay(
  options: Omit<IngestOptions, 'source'>,
  plans: SharedBytes | undefined,
  signal: AbortSignal,
): Promise<OwnWay> {
  let way: OwnWay = {}
  let share: BudgetShare | undefined
  try {
    const connecting = readConnecting({ ...options, concurrency: 1, signal })
    const { proxy } = resolveTarget(connecting)
    if (proxy !== undefined) way = { proxy: proxy.display }
    if (connecting.ipCheckUrl === undefined) return way
    // The address check is asked over as many connections.
    share = plans && (await BudgetShare.open(plans, 2 * connecting.preflightConnections))
    const opening = (route: Parameters<BudgetShare['watch']>[0]) => share?.watch(route)
    const { cluster } = await openTarget(connecting, signal, { isAwaited: false, opening })
    await cluster.route.destroy()
    return { ...way, egress: Object.keys(cluster.egress).toSorted() }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { ...way, problem: `${error.code}: ${error.message}` }
  } finally {
    share?.close()
    await plans?.leave()
  }
}
