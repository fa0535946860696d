import { openServiceNow } from '../connect/open-instance.js'
import { tableSource } from '../servicenow/table/table-source.js'
import type { OpenPlatform } from '../run/find-inputs.js'
import { listenerOf } from '../run/listener.js'

/** The platform of the options, reached through the same proxy as the cluster. */
export const openPlatform: OpenPlatform = async (tables, options) => {
  const { servicenow, table: selection = {}, preflightConnections } = options
  if (servicenow === undefined) throw new Error('options of tables were not checked')
  const tell = listenerOf(options)
  const note = (message: string) => tell({ type: 'warning', message })
  const instance = await openServiceNow({ ...options, servicenow, onWarning: note })
  const { route, display } = instance
  return {
    display,
    instance,
    sources: tables.map((table, id) => tableSource(instance, { ...selection, id, table, note })),
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
