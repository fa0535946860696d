import { openServiceNow } from '../../route/connect/open-servicenow.js'
import { tableSource } from './reading/table-source.js'
import type { Source } from '../../base/flow.js'
import type { ConnectSection, RetrySection, TableSection } from '../../options/load.js'
import type { Instance } from '../../route/servicenow/instance.js'

/** The ServiceNow instance of a load. Connects only for a probe or the first read of a table. */
export interface Platform {
  readonly sources: readonly Source[]
  readonly instance: Instance
  /** Over the wire, with TLS. */
  readonly traffic: { readonly connections: number; readonly bytesSent: number; readonly bytesReceived: number }
  /** Checks that the platform accepts each address. Resolves to notes. */
  probe(signal: AbortSignal): Promise<readonly string[]>
}

/** Throws SluiceError OPTION_INVALID, PROXY_URL_INVALID, PROXY_NOT_USED. */
export type OpenPlatform = (
  tables: TableSection,
  route: { readonly connecting: ConnectSection; readonly retrying: RetrySection },
  warn: (message: string) => void,
) => Promise<Platform>

/** Uses the proxy of the cluster. */
export const openPlatform: OpenPlatform = async ({ names, servicenow, selection }, { connecting, retrying }, warn) => {
  const { proxy, concurrency, preflightConnections, staticIps } = connecting
  const { maxElapsedMs } = retrying
  // Absent unless somebody set it: then it holds for connecting as well.
  const timeoutMs = connecting.connectTimeoutMs === undefined ? undefined : connecting.timeoutMs
  const way = { servicenow, proxy, staticIps, concurrency, timeoutMs, maxElapsedMs }
  const instance = await openServiceNow({ ...way, onWarning: warn })
  const { route, display } = instance
  return {
    instance,
    sources: names.map((table, id) => tableSource(instance, { ...selection, id, table, note: warn })),
    get traffic() {
      return route.traffic
    },
    probe: async signal => {
      const { probes } = await instance.probe({ connections: preflightConnections, signal })
      const way = route.proxy === undefined ? 'direct' : `${route.form} through ${route.proxy}`
      return [`reached ${display}: ${way}, ${probes === 1 ? '1 connection' : `${probes} connections`} accepted`]
    },
  }
}

export interface DeletionsReceipt {
  readonly mode: 'reconcile'
  /** Documents of the index. */
  readonly compared: number
  readonly deleted: number
  /**
   * Documents that Sluice kept. `there`: their rows exist, or are hidden. `changed`: written in the meantime. `other`:
   * not of these tables, by their id or class.
   */
  readonly kept: { readonly there: number; readonly changed: number; readonly other: number }
  /** Why nothing was compared. */
  readonly skipped?: string
}

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only if this process read tables. `bytes` does not include these bytes, which count TLS. */
    readonly platform?: {
      readonly url: string
      readonly connections: number
      readonly sent: number
      readonly received: number
    }
    /** Documents of deleted rows. Other counts do not include them. */
    readonly deletions?: DeletionsReceipt
  }
}
