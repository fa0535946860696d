/** Finds out how requests of this worker reach its cluster: through which proxy, and from which addresses. */
import { openTarget, resolveTarget } from '../../../route/connect/open-target.js'
import { isSluiceError } from '../../../base/failure/failure.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import { readConnecting } from '../../../options/read-options.js'
import type { OwnWay } from '../queue/worker-sign.js'

/** Asks the address check only if one is set. Throws what is no SluiceError. */
export async function seeOwnWay(options: Omit<IngestOptions, 'source'>, signal: AbortSignal): Promise<OwnWay> {
  let way: OwnWay = {}
  try {
    const connecting = readConnecting({ ...options, concurrency: 1, signal })
    const { proxy } = resolveTarget(connecting)
    if (proxy !== undefined) way = { proxy: proxy.display }
    if (connecting.ipCheckUrl === undefined) return way
    const { cluster } = await openTarget(connecting, signal, { isAwaited: false })
    await cluster.route.destroy()
    return { ...way, egress: Object.keys(cluster.egress).toSorted() }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { ...way, problem: `${error.code}: ${error.message}` }
  }
}
