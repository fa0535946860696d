import { openServiceNow } from '../connect/open-instance.js'
import { tableSource } from '../servicenow/table/table-source.js'
import type { OpenPlatform } from './platform.js'

/** Opens the platform, reached through the same proxy as the cluster. */
export const openPlatform: OpenPlatform = async ({ names, servicenow, selection }, { connecting, retrying }, warn) => {
  const { proxy, concurrency, timeoutMs, preflightConnections } = connecting
  const { maxElapsedMs } = retrying
  const instance = await openServiceNow({ servicenow, proxy, concurrency, timeoutMs, maxElapsedMs, onWarning: warn })
  const { route, display } = instance
  return {
    display,
    instance,
    sources: names.map((table, id) => tableSource(instance, { ...selection, id, table, note: warn })),
    get traffic() {
      return route.traffic
    },
    probe: async signal => {
      const { probes } = await instance.probe({ connections: preflightConnections, signal })
      const way = route.proxy === undefined ? 'direct' : `${route.form} through ${route.proxy}`
      return [`reached ${display}: ${way}, ${probes === 1 ? '1 connection' : `${probes} connections`} let through`]
    },
    [Symbol.asyncDispose]: async () => await instance[Symbol.asyncDispose](),
  }
}
